// Values as a run record has them.
//
// number() lets no infinity and no NaN through, and a missing value becomes null, so that the text is
// valid JSON whatever was measured. Latencies are microseconds, to the nanosecond. Nothing fails.
#pragma once

#include <chrono>
#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

#include "stats/ranking.hpp"

namespace postal::stats {

// Keeps the order of the members.
using json = nlohmann::ordered_json;

// Four decimals are enough for every share, rate and second, and keep the record readable.
inline json number(double value) {
    return std::isfinite(value) ? json(std::round(value * 1e4) / 1e4) : json(nullptr);
}

inline json number(const std::optional<double>& value) {
    return value ? number(*value) : json(nullptr);
}

inline json seconds(std::chrono::nanoseconds value) {
    return number(static_cast<double>(value.count()) / 1e9);
}

inline json microseconds(std::chrono::nanoseconds value) {
    return number(static_cast<double>(value.count()) / 1e3);
}

inline json microseconds(const std::optional<std::chrono::nanoseconds>& value) {
    return value ? microseconds(*value) : json(nullptr);
}

// A phase's or a verb's times: its percentiles and buckets.
json latency_of(const ranking& values);

}  // namespace postal::stats
