// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/exposition.hpp"

#include <prometheus/text_serializer.h>
#include <protozero/pbf_builder.hpp>

#include <charconv>
#include <cstdint>
#include <utility>

#include "base/text.hpp"

namespace postal::metrics {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using protozero::pbf_builder;

// io.prometheus.client, metrics.proto of Prometheus' client model.
enum class family_field : protozero::pbf_tag_type { name = 1, help, type, metric };
enum class metric_field : protozero::pbf_tag_type { label = 1, gauge, counter, histogram = 7 };
enum class label_field : protozero::pbf_tag_type { name = 1, value };
enum class value_field : protozero::pbf_tag_type { value = 1 };
enum class histogram_field : protozero::pbf_tag_type {
    sample_count = 1,
    sample_sum,
    bucket,
    schema = 5,
    zero_threshold,
    positive_span = 12,
    positive_delta
};
enum class bucket_field : protozero::pbf_tag_type { cumulative_count = 1, upper_bound };
enum class span_field : protozero::pbf_tag_type { offset = 1, length };
enum type_number : std::int32_t { counter = 0, gauge = 1, histogram = 4 };

// That of Prometheus' own clients; nothing of ours is below it.
constexpr double zero_threshold = 0x1p-128;

void add_histogram(pbf_builder<metric_field>& to, const ClientMetric::Histogram& classic,
                   const native_histogram& native) {
    pbf_builder<histogram_field> made(to, metric_field::histogram);
    made.add_uint64(histogram_field::sample_count, classic.sample_count);
    made.add_double(histogram_field::sample_sum, classic.sample_sum);
    for (const ClientMetric::Bucket& one : classic.bucket) {
        pbf_builder<bucket_field> bucket(made, histogram_field::bucket);
        bucket.add_uint64(bucket_field::cumulative_count, one.cumulative_count);
        bucket.add_double(bucket_field::upper_bound, one.upper_bound);
    }
    made.add_sint32(histogram_field::schema, native_histogram::schema);
    made.add_double(histogram_field::zero_threshold, zero_threshold);
    for (const native_histogram::span& one : native.spans) {
        pbf_builder<span_field> span(made, histogram_field::positive_span);
        span.add_sint32(span_field::offset, one.offset);
        span.add_uint32(span_field::length, one.length);
    }
    made.add_packed_sint64(histogram_field::positive_delta, native.deltas.begin(),
                           native.deltas.end());
}

type_number number_of(MetricType type) {
    if (type == MetricType::Histogram) return histogram;
    return type == MetricType::Counter ? counter : gauge;
}

void add_value(pbf_builder<metric_field>& to, metric_field kind, double value) {
    pbf_builder<value_field> made(to, kind);
    made.add_double(value_field::value, value);
}

using natives_left = std::vector<native_histogram>::const_iterator;

std::string message_of(const MetricFamily& of, natives_left& natives) {
    std::string made;
    pbf_builder<family_field> family(made);
    family.add_string(family_field::name, of.name);
    family.add_string(family_field::help, of.help);
    family.add_enum(family_field::type, number_of(of.type));
    for (const ClientMetric& one : of.metric) {
        pbf_builder<metric_field> metric(family, family_field::metric);
        for (const ClientMetric::Label& each : one.label) {
            pbf_builder<label_field> label(metric, metric_field::label);
            label.add_string(label_field::name, each.name);
            label.add_string(label_field::value, each.value);
        }
        if (of.type == MetricType::Histogram) {
            add_histogram(metric, one.histogram, *natives++);
        } else if (of.type == MetricType::Counter) {
            add_value(metric, metric_field::counter, one.counter.value);
        } else {
            add_value(metric, metric_field::gauge, one.gauge.value);
        }
    }
    return made;
}

// One media range of an Accept field, and how much it is liked.
struct media_range {
    std::string type;
    bool is_ours = true;  // no parameter names another message, or another way to part them
    double quality = 1;
};

media_range range_of(std::string_view text) {
    media_range made;
    bool is_first = true;
    for (const std::string_view piece : base::split(text, ';')) {
        const std::string word = base::lower(base::trim(piece));
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const std::string value = equals == word.npos ? "" : word.substr(equals + 1);
        if (std::exchange(is_first, false)) {
            made.type = word;
        } else if (name == "q") {
            const auto read =
                std::from_chars(value.data(), value.data() + value.size(), made.quality);
            if (read.ec != std::errc()) made.quality = 0;
        } else if (name == "proto") {
            made.is_ours &= value == "io.prometheus.client.metricfamily";
        } else if (name == "encoding") {
            made.is_ours &= value == "delimited";
        }
    }
    return made;
}

}  // namespace

bool prefers_protobuf(std::string_view accept) {
    double protobuf = 0;
    double text = 0;
    for (const std::string_view one : base::split(accept, ',')) {
        const media_range range = range_of(one);
        if (range.type == "application/vnd.google.protobuf" && range.is_ours)
            protobuf = std::max(protobuf, range.quality);
        if (range.type == "text/plain") text = std::max(text, range.quality);
    }
    return protobuf > 0 && protobuf >= text;
}

std::string as_text(const exposition& of) {
    return prometheus::TextSerializer().Serialize(of.families);
}

std::string as_protobuf(const exposition& of) {
    std::string made;
    auto natives = of.natives.begin();
    for (const MetricFamily& one : of.families) {
        if (one.metric.empty()) continue;
        const std::string message = message_of(one, natives);
        protozero::add_varint_to_buffer(&made, message.size());
        made += message;
    }
    return made;
}

}  // namespace postal::metrics
