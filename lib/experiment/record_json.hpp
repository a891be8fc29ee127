// What the records of an experiment and of an audit have in common as JSON.
#pragma once

#include "base/host.hpp"
#include "stats/json_fields.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::experiment {

// As an object, in this order.
using text_pairs = std::vector<std::pair<std::string, std::string>>;

inline stats::json json_of(const text_pairs& pairs) {
    stats::json all = stats::json::object();
    for (const auto& [name, value] : pairs)
        all[name] = value;
    return all;
}

inline void read_pairs(const stats::json_fields& from, text_pairs& into) {
    from.members([&](const std::string& name, const stats::json& value) {
        if (value.is_string())
            into.emplace_back(name, value.get<std::string>());
        else
            from.complain(name, "a text");
    });
}

template <class Value>
stats::json json_of(const std::optional<Value>& value) {
    return value ? stats::json(*value) : stats::json(nullptr);
}

inline stats::json json_of(const base::host_info& host) {
    return {{"name", host.name},
            {"kernel", host.kernel},
            {"cpus", host.cpus},
            {"memory_bytes", host.memory_bytes}};
}

inline void read_host(const stats::json_fields& from, base::host_info& into) {
    from.read("name", into.name, "kernel", into.kernel, "cpus", into.cpus, "memory_bytes",
              into.memory_bytes);
}

// A word of a list, whose index is the enumerator.
template <std::size_t count, class Enum>
void read_word(const stats::json_fields& from, std::string_view key,
               const std::array<std::string_view, count>& words, Enum& into) {
    std::string word;
    from.read(key, word);
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) return from.complain(key, "one of the known words");
    into = static_cast<Enum>(found - words.begin());
}

}  // namespace postal::experiment
