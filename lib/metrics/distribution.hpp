// SPDX-License-Identifier: GPL-3.0-or-later
// A histogram of ours as Prometheus knows them.
//
// A classic one has cumulative counts up to bounds. Ours are a few that are always there, so that a
// series has a beginning, and the edges of what has been counted, so that percentiles interpolated
// between them are as near as ours. A bound never goes again but for a finer one whose neighbour
// stays: where too many have come, every second is left.
//
// A native one has buckets that grow by 2^(1/64), 1.1 %; where ours lies across the edge of one,
// its middle decides.
#pragma once

#include <prometheus/client_metric.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stats/histogram.hpp"

namespace postal::metrics {

// Beside the bounds that are always there.
inline constexpr std::size_t most_bounds = 400;

prometheus::ClientMetric::Histogram classic_histogram(const stats::histogram& values);

// Bucket i, of values in seconds, ends at 2^(i / 2^schema). Spans are runs of buckets: the first
// begins at its offset, others lie so far behind the one before. Each count is told as its
// difference to that of the bucket before, through all spans.
struct native_histogram {
    static constexpr std::int32_t schema = 6;
    struct span {
        std::int32_t offset = 0;
        std::uint32_t length = 0;
    };
    std::vector<span> spans{};
    std::vector<std::int64_t> deltas{};
};

native_histogram native_of(const stats::histogram& values);

}  // namespace postal::metrics
