// SPDX-License-Identifier: GPL-3.0-or-later
// What a page of metrics looks like to whoever asks: Prometheus' text format 0.0.4, which has
// classic histograms, or its messages in protocol buffers, which have native ones, too.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <string_view>
#include <vector>

#include "metrics/distribution.hpp"

namespace postal::metrics {

struct exposition {
    std::vector<prometheus::MetricFamily> families{};
    std::vector<native_histogram> natives{};  // of all histograms in `families`, in their order
};

inline constexpr std::string_view text_type = "text/plain; version=0.0.4; charset=utf-8";
inline constexpr std::string_view protobuf_type =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

// Whether an Accept header field (RFC 9110 12.5.1) prefers protocol buffers to text.
[[nodiscard]] bool prefers_protobuf(std::string_view accept);

[[nodiscard]] std::string as_text(const exposition& of);
[[nodiscard]] std::string as_protobuf(const exposition& of);

}  // namespace postal::metrics
