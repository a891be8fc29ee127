// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/distribution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace postal::metrics {

namespace {

using contents = stats::histogram::contents;

constexpr std::array fixed_bounds{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                  0.025,  0.05,    0.1,    0.25,  0.5,    1.0,   2.5,
                                  5.0,    10.0,    30.0,   60.0,  120.0,  300.0};

constexpr double seconds(std::uint64_t ns) {
    return static_cast<double>(ns) / 1e9;
}

// The edges of groups of so many buckets, of those that are not empty.
std::vector<double> edges(const contents& of, std::size_t group) {
    std::vector<double> made;
    for (const auto& [index, count] : of.counts) {
        const std::size_t first = index / group * group;
        for (const std::uint64_t edge :
             {stats::histogram::lower_ns(first), stats::histogram::upper_ns(first + group - 1)})
            if (made.empty() || made.back() < seconds(edge)) made.push_back(seconds(edge));
    }
    return made;
}

std::vector<double> bounds_of(const contents& of) {
    std::vector<double> made = edges(of, 1);
    // An octave has 64, and all octaves together have fewer than 64 edges.
    for (std::size_t group = 2; made.size() > most_bounds; group *= 2)
        made = edges(of, group);
    made.insert(made.end(), fixed_bounds.begin(), fixed_bounds.end());
    std::sort(made.begin(), made.end());
    made.erase(std::unique(made.begin(), made.end()), made.end());
    return made;
}

}  // namespace

prometheus::ClientMetric::Histogram classic_histogram(const stats::histogram& values) {
    prometheus::ClientMetric::Histogram made;
    made.sample_count = values.count();
    made.sample_sum = values.mean_us() / 1e6 * static_cast<double>(values.count());
    const contents all = values.all();
    auto next = all.counts.begin();
    std::uint64_t below = 0;
    for (const double bound : bounds_of(all)) {
        // A bucket of ours that lies across a fixed bound counts above it.
        for (; next != all.counts.end() &&
               seconds(stats::histogram::upper_ns(static_cast<std::size_t>(next->first))) <= bound;
             ++next)
            below += next->second;
        made.bucket.push_back({below, bound});
    }
    made.bucket.push_back({made.sample_count, std::numeric_limits<double>::infinity()});
    return made;
}

native_histogram native_of(const stats::histogram& values) {
    native_histogram made;
    std::int32_t end = 0;      // behind the last bucket
    std::int64_t current = 0;  // its count
    for (const auto& [index, count] : values.all().counts) {
        const auto place = static_cast<std::size_t>(index);
        const double middle =
            seconds((stats::histogram::lower_ns(place) + stats::histogram::upper_ns(place)) / 2);
        const auto bucket = static_cast<std::int32_t>(
            std::ceil(std::ldexp(std::log2(middle), native_histogram::schema)));
        const auto more = static_cast<std::int64_t>(count);
        if (!made.spans.empty() && bucket + 1 == end) {
            made.deltas.back() += more;
            current += more;
            continue;
        }
        if (made.spans.empty() || bucket != end) made.spans.push_back({bucket - end, 0});
        ++made.spans.back().length;
        made.deltas.push_back(more - current);
        current = more;
        end = bucket + 1;
    }
    return made;
}

}  // namespace postal::metrics
