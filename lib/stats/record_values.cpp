#include "stats/record_values.hpp"

#include <array>
#include <utility>

namespace postal::stats {

// Null: too few values for that percentile, or it is not reached; then "at_least" has it.
json latency_of(const ranking& values) {
    json object{{"count", values.count()}};
    json at_least = json::object();
    const auto put = [&](const char* key, const percentile& got, bool known) {
        object[key] = known && got.reached ? microseconds(got.value) : json(nullptr);
        if (known && !got.reached) at_least[key] = microseconds(got.value);
    };
    put("mean", values.mean(), values.count() > 0);
    constexpr std::array<std::pair<const char*, double>, 4> percentiles{
        {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}}};
    for (const auto& [key, q] : percentiles)
        put(key, values.quantile(q), support_of(q, values.count()) != support::none);
    put("min", values.quantile(0), values.count() > 0);
    put("max", values.quantile(1), values.count() > 0);
    object["buckets"] = values.accepted().encode();
    if (values.whole()) return object;
    object["not_accepted"] = values.count() - values.accepted().count();
    object["at_least"] = std::move(at_least);
    return object;
}

}  // namespace postal::stats
