// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/sample_threshold.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace postal::stats {

namespace {

struct found_series {
    const sampled_source* of = nullptr;
    const sample_series* series = nullptr;
};

found_series find(const std::vector<sampled_source>& samples, std::string_view name) {
    for (const sampled_source& source : samples)
        for (const sample_series& one : source.series)
            if (one.name == name) return {&source, &one};
    if (name != only_queue) return {};
    for (const sampled_source& source : samples)
        if (const sample_series* const one = source.waiting()) return {&source, one};
    return {};
}

}  // namespace

std::optional<sample_statistic> sample_statistic_of(std::string_view word) noexcept {
    if (word == "max") return sample_statistic::max;
    if (word == "mean") return sample_statistic::mean;
    if (word == "last") return sample_statistic::last;
    return std::nullopt;
}

base::expected<void> check_sampled(std::string_view name, const std::vector<sampled_name>& known) {
    std::vector<std::string> names;
    for (const sampled_name& one : known) {
        const bool is_more = one.has_more && name.starts_with(one.name + " ");
        if (name == one.name || is_more) return {};
        names.push_back(base::printable(one.name, 200));
        if (one.has_more) names.push_back(names.back() + " FIGURE");
    }
    const std::string shown = base::printable(name, 40);
    if (names.empty())
        return base::fail(
            "'{}' is no phase, and nothing is sampled; give --queue or "
            "--sample-command too",
            shown);
    return base::fail("'{}' is no phase, and not sampled; what is sampled: {}", shown,
                      base::join(names, ", "));
}

std::optional<double> measure(const std::vector<sampled_source>& samples, std::string_view name,
                              sample_statistic what, double from_s) {
    const auto [source, series] = find(samples, name);
    if (series == nullptr) return std::nullopt;
    std::optional<double> highest, last;
    double sum = 0;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < series->values.size(); ++i) {
        if (i >= source->t_s.size() || source->t_s[i] < from_s || !series->values[i]) continue;
        last = *series->values[i];
        const double most =
            series->most && i < series->most->size() ? (*series->most)[i].value_or(*last) : *last;
        highest = std::max(highest.value_or(most), most);
        sum += *last;
        ++count;
    }
    if (count == 0) return std::nullopt;
    switch (what) {
        case sample_statistic::max:
            return highest;
        case sample_statistic::mean:
            return sum / static_cast<double>(count);
        case sample_statistic::last:
            break;
    }
    return last;
}

}  // namespace postal::stats
