// SPDX-License-Identifier: GPL-3.0-or-later
// What scrapers ask for, and the octets of a small page.
#include "metrics/exposition.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal;

TEST_CASE("metrics: protocol buffers for whom they are dearest") {
    const auto ours = std::string(
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
        "encoding=delimited");
    CHECK(metrics::prefers_protobuf(ours));
    CHECK(metrics::prefers_protobuf(ours + ",application/openmetrics-text;version=1.0.0;q=0.8,"
                                           "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
    CHECK(metrics::prefers_protobuf("text/plain;q=0.3, " + ours + ";q=0.4"));
    CHECK_FALSE(metrics::prefers_protobuf("text/plain;q=0.5, " + ours + ";q=0.4"));
    CHECK_FALSE(metrics::prefers_protobuf(ours + ";q=0"));
    CHECK_FALSE(metrics::prefers_protobuf(ours + ";q=x"));
    CHECK_FALSE(metrics::prefers_protobuf("application/vnd.google.protobuf;proto=other"));
    CHECK_FALSE(metrics::prefers_protobuf(
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text"));
    CHECK_FALSE(metrics::prefers_protobuf(""));
    CHECK_FALSE(metrics::prefers_protobuf("*/*"));
    CHECK_FALSE(metrics::prefers_protobuf(std::string(4000, ';') + ","));
}

TEST_CASE("metrics: a counter and a histogram as messages") {
    metrics::exposition page;
    prometheus::ClientMetric one;
    one.label = {{"k", "v"}};
    one.counter.value = 1;
    page.families.push_back({"a", "b", prometheus::MetricType::Counter, {one}});
    const std::string made = metrics::as_protobuf(page);
    CHECK(made.substr(1, 8) == std::string("\x0a\x01"
                                           "a\x12\x01"
                                           "b\x18\x00",
                                           8));
    CHECK(static_cast<std::size_t>(made.front()) == made.size() - 1);
    CHECK(made.find(std::string("\x0a\x06\x0a\x01k\x12\x01v", 8)) != made.npos);
    CHECK(made.ends_with(std::string("\x1a\x09\x09\x00\x00\x00\x00\x00\x00\xf0\x3f", 11)));

    page.families.front().type = prometheus::MetricType::Histogram;
    page.natives.push_back({{{-3, 1}, {2, 1}}, {5, -4}});
    const std::string histogram = metrics::as_protobuf(page);
    CHECK(histogram.find(std::string("\x28\x0c", 2)) != histogram.npos);  // schema 6
    CHECK(histogram.find(std::string("\x62\x04\x08\x05\x10\x01", 6)) != histogram.npos);  // -3, 1
    CHECK(histogram.find(std::string("\x62\x04\x08\x04\x10\x01", 6)) != histogram.npos);  // 2, 1
    CHECK(histogram.ends_with(std::string("\x6a\x02\x0a\x07", 4)));                       // 5, -4
}
