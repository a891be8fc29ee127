// SPDX-License-Identifier: GPL-3.0-or-later
// How near percentiles that a scraper computes from our histograms are to ours.
#include "metrics/distribution.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <random>

using namespace postal;
using namespace std::chrono_literals;

namespace {

// As histogram_quantile() does it: the rank's bucket, and in it a straight line.
double classic_quantile(const prometheus::ClientMetric::Histogram& of, double q) {
    const double rank = q * static_cast<double>(of.sample_count);
    double lower = 0;
    double below = 0;
    for (const auto& bucket : of.bucket) {
        const auto count = static_cast<double>(bucket.cumulative_count);
        if (count >= rank && count > below)
            return lower + (bucket.upper_bound - lower) * (rank - below) / (count - below);
        lower = bucket.upper_bound;
        below = count;
    }
    return lower;
}

double native_quantile(const metrics::native_histogram& of, std::uint64_t all, double q) {
    double rank = q * static_cast<double>(all);
    std::int32_t index = 0;
    std::int64_t count = 0;
    auto delta = of.deltas.begin();
    double upper = 0;
    for (const auto& span : of.spans) {
        index += span.offset;
        for (std::uint32_t i = 0; i < span.length; ++i, ++index) {
            count += *delta++;
            upper = std::exp2(static_cast<double>(index) / 64);
            const double lower = std::exp2(static_cast<double>(index - 1) / 64);
            if (rank <= static_cast<double>(count))
                return lower + (upper - lower) * rank / static_cast<double>(count);
            rank -= static_cast<double>(count);
        }
    }
    return upper;
}

std::uint64_t sum_of(const metrics::native_histogram& of) {
    std::int64_t count = 0;
    std::int64_t sum = 0;
    for (const std::int64_t delta : of.deltas) {
        count += delta;
        REQUIRE(count > 0);
        sum += count;
    }
    return static_cast<std::uint64_t>(sum);
}

stats::histogram lognormal(double median_s, double spread, unsigned values) {
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> draw(std::log(median_s), spread);
    stats::histogram made;
    for (unsigned i = 0; i < values; ++i)
        made.record(std::chrono::nanoseconds(static_cast<std::int64_t>(draw(random) * 1e9)));
    return made;
}

}  // namespace

TEST_CASE("metrics: a scraper's percentiles are within 2 % of ours") {
    for (const double median : {80e-6, 1.7e-3, 0.17, 12.0}) {
        for (const double spread : {0.02, 0.3, 1.0}) {
            const stats::histogram values = lognormal(median, spread, 20'000);
            const auto classic = metrics::classic_histogram(values);
            const auto native = metrics::native_of(values);
            CHECK(sum_of(native) == values.count());
            for (const double q : {0.5, 0.9, 0.99, 0.999}) {
                CAPTURE(median, spread, q);
                const double ours = std::chrono::duration<double>(values.quantile(q)).count();
                CHECK(classic_quantile(classic, q) == Approx(ours).epsilon(0.02));
                CHECK(native_quantile(native, values.count(), q) == Approx(ours).epsilon(0.02));
            }
        }
    }
}

TEST_CASE("metrics: bounds stay few, ascending, and those that are always there stay") {
    stats::histogram all;
    for (std::size_t i = 0; i < stats::histogram::bucket_count; ++i)
        all.record(std::chrono::nanoseconds(stats::histogram::lower_ns(i)));
    for (const auto& [values, most] :
         {std::pair{stats::histogram(), std::size_t{0}}, std::pair{all, metrics::most_bounds}}) {
        const auto made = metrics::classic_histogram(values);
        CHECK(made.bucket.size() <= most + 21);
        CHECK(made.bucket.back().cumulative_count == values.count());
        for (std::size_t i = 1; i < made.bucket.size(); ++i) {
            CHECK(made.bucket[i - 1].upper_bound < made.bucket[i].upper_bound);
            CHECK(made.bucket[i - 1].cumulative_count <= made.bucket[i].cumulative_count);
        }
        for (const double fixed : {0.0001, 0.1, 0.25, 300.0})
            CHECK(std::count_if(made.bucket.begin(), made.bucket.end(),
                                [&](const auto& one) { return one.upper_bound == fixed; }) == 1);
    }
}

TEST_CASE("metrics: a bound that was shown is shown again when more has been counted") {
    stats::histogram values = lognormal(0.01, 0.5, 300);
    const auto before = metrics::classic_histogram(values);
    values.merge(lognormal(0.02, 0.7, 3000));
    const auto after = metrics::classic_histogram(values);
    REQUIRE(after.bucket.size() < metrics::most_bounds);
    for (const auto& bucket : before.bucket)
        CHECK(std::any_of(after.bucket.begin(), after.bucket.end(),
                          [&](const auto& one) { return one.upper_bound == bucket.upper_bound; }));
}

TEST_CASE("metrics: spans of a native histogram leave out what is empty") {
    stats::histogram values;
    CHECK(metrics::native_of(values).spans.empty());
    values.record(1s);
    values.record(1s);
    values.record(2s);
    const auto made = metrics::native_of(values);
    REQUIRE(made.spans.size() == 2);
    REQUIRE(made.deltas.size() == 2);
    CHECK(made.deltas[0] == 2);
    CHECK(made.deltas[1] == -1);
    CHECK(std::abs(made.spans[0].offset - 1) <= 1);
    CHECK(std::abs(made.spans[1].offset - 63) <= 1);
}
