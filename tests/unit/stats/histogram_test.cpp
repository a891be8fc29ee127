// SPDX-License-Identifier: GPL-3.0-or-later
// The bound of the error over the whole range, exact extremes, merging, and the text form.
#include "stats/histogram.hpp"

#include "base/random.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace postal;
using namespace postal::stats;
using namespace std::chrono_literals;

namespace {

// Evenly spread over the octaves from 1 us to 12 days.
std::chrono::nanoseconds any_latency(base::random_source& random) {
    const double low = std::log(1e3);
    const double high = std::log(12 * 86400e9);
    return std::chrono::nanoseconds{std::llround(std::exp(low + (high - low) * random.uniform()))};
}

}  // namespace

TEST_CASE("histogram: every value from 1 us to 12 days is in a bucket less than 1 % from it") {
    base::random_source random(1);
    for (int i = 0; i < 200'000; ++i) {
        const auto ns = static_cast<std::uint64_t>(any_latency(random).count());
        const std::size_t index = histogram::index_of(ns);
        REQUIRE(index < histogram::bucket_count);
        REQUIRE(histogram::lower_ns(index) <= ns);
        REQUIRE(ns < histogram::upper_ns(index));
        const double middle =
            static_cast<double>(histogram::lower_ns(index) + histogram::upper_ns(index)) / 2;
        REQUIRE(std::abs(middle - static_cast<double>(ns)) < 0.0079 * static_cast<double>(ns));
    }
}

TEST_CASE("histogram: buckets follow each other without a gap") {
    for (std::size_t i = 0; i + 1 < histogram::bucket_count; ++i) {
        REQUIRE(histogram::upper_ns(i) == histogram::lower_ns(i + 1));
        REQUIRE(histogram::index_of(histogram::lower_ns(i)) == i);
        REQUIRE(histogram::index_of(histogram::upper_ns(i) - 1) == i);
    }
    CHECK(histogram::lower_ns(0) <= 1000);
    CHECK(histogram::upper_ns(histogram::bucket_count - 1) > 12 * 86'400 * 1'000'000'000ULL);
}

TEST_CASE("histogram: quantiles are within 1 % of those of the sorted values") {
    base::random_source random(2);
    std::vector<std::int64_t> values;
    histogram filled;
    for (int i = 0; i < 10'000; ++i) {
        const auto value = any_latency(random);
        values.push_back(value.count());
        filled.record(value);
    }
    std::sort(values.begin(), values.end());
    for (const double q : {0.0, 0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const auto rank = std::max<std::size_t>(
            1, static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size()))));
        INFO(q);
        CHECK(static_cast<double>(filled.quantile(q).count()) ==
              Approx(static_cast<double>(values[rank - 1])).epsilon(0.01));
    }
    CHECK(filled.min().count() == values.front());
    CHECK(filled.max().count() == values.back());
}

TEST_CASE("histogram: an empty one is all zeros") {
    const histogram none;
    CHECK(none.count() == 0);
    CHECK(none.mean_us() == 0);
    CHECK(none.min() == 0ns);
    CHECK(none.max() == 0ns);
    CHECK(none.quantile(0.5) == 0ns);
    CHECK(none.buckets().empty());
    CHECK(none.encode() == "loglin64:");
}

TEST_CASE("histogram: values outside the range are counted, with exact extremes") {
    histogram odd;
    odd.record(-5ns);
    odd.record(0ns);
    odd.record(10h);
    CHECK(odd.count() == 3);
    CHECK(odd.min() == 0ns);
    CHECK(odd.max() == 10h);
    CHECK(odd.mean() == 12000s);
    CHECK(odd.quantile(1) == 10h);
    CHECK(odd.quantile(0.01) <= 1us);
    odd.record(std::chrono::nanoseconds::max());
    CHECK(odd.max() == std::chrono::nanoseconds::max());
    CHECK(odd.quantile(std::nan("")) == 0ns);
}

TEST_CASE("histogram: one value is every quantile of itself") {
    histogram one;
    one.record(123'456'789ns);
    for (const double q : {0.0, 0.5, 0.999, 1.0})
        CHECK(one.quantile(q) == 123'456'789ns);
    CHECK(one.mean() == 123'456'789ns);
}

TEST_CASE("histogram: the sum does not overflow") {
    histogram large;
    for (int i = 0; i < 5; ++i)
        large.record(std::chrono::nanoseconds::max());
    CHECK(large.mean_us() == Approx(9.223372036854775807e15));
    histogram twice = large;
    twice.merge(large);
    CHECK(twice.mean_us() == Approx(9.223372036854775807e15));
}

TEST_CASE("histogram: merging is as if everything had been recorded in one") {
    base::random_source random(3);
    histogram a, b, both;
    for (int i = 0; i < 1000; ++i) {
        const auto value = any_latency(random);
        (i % 3 == 0 ? a : b).record(value);
        both.record(value);
    }
    a.merge(b);
    CHECK(a.encode() == both.encode());
    CHECK(a.mean_us() == both.mean_us());
    CHECK(a.min() == both.min());
    CHECK(a.max() == both.max());
    a.merge(histogram{});
    CHECK(a.count() == both.count());
    a.clear();
    CHECK(a.encode() == "loglin64:");
    a.record(5us);
    CHECK(a.min() == 5us);
    CHECK(a.max() == 5us);
}

TEST_CASE("histogram: its contents are set again, and what cannot be is refused") {
    histogram filled, got;
    for (const auto value : {-1ns, 1ns, 600ns, 5000000ns, std::chrono::nanoseconds::max()})
        filled.record(value);
    got.record(3ms);
    REQUIRE(got.set(filled.all()));
    CHECK(got.encode() == filled.encode());
    got.merge(filled);
    CHECK(got.count() == 2 * filled.count());
    CHECK(got.quantile(1) == filled.max());
    const auto refused = [&](auto change) {
        auto all = filled.all();
        change(all);
        return !got.set(all) && got.count() == 2 * filled.count();
    };
    CHECK(refused([](auto& all) { all.counts.back().first = histogram::bucket_count; }));
    CHECK(refused([](auto& all) { all.min = 600; }));
    CHECK(refused([](auto& all) { all.max = 600; }));
}

TEST_CASE("histogram: the text form is read back") {
    base::random_source random(4);
    histogram filled;
    for (int i = 0; i < 1000; ++i)
        filled.record(any_latency(random));
    const auto read = histogram::decode(filled.encode());
    REQUIRE(read.has_value());
    CHECK(read->encode() == filled.encode());
    CHECK(read->count() == filled.count());
    CHECK(read->mean_us() == Approx(filled.mean_us()).epsilon(0.01));
    CHECK(read->quantile(0.5) == filled.quantile(0.5));
    CHECK(read->min() <= filled.min());
    CHECK(read->max() >= filled.max());
    CHECK(histogram::decode("loglin64:")->empty());
}

TEST_CASE("histogram: text from outside that is not a histogram is refused") {
    struct row {
        std::string_view text;
        std::string_view reason;
    };
    const std::vector<row> table{
        {"", "nothing"},
        {"loglin32:1*1", "another kind"},
        {"loglin64:1", "no count"},
        {"loglin64:*1", "no index"},
        {"loglin64:1*", "an empty count"},
        {"loglin64:1*0", "a count of zero"},
        {"loglin64:1*-1", "negative"},
        {"loglin64:2624*1", "an index beyond the last"},
        {"loglin64:2*1,1*1", "descending"},
        {"loglin64:1*1,1*1", "twice the same"},
        {"loglin64:1*1,", "a comma at the end"},
        {"loglin64:1*1 ", "a blank"},
        {"loglin64:1*18446744073709551616", "a count beyond 64 bits"},
        {"loglin64:1*18446744073709551615,2*1", "a sum beyond 64 bits"},
    };
    for (const auto& [text, reason] : table) {
        INFO(reason);
        CHECK(histogram::decode(text).has_error());
    }
    const auto full = histogram::decode("loglin64:2623*18446744073709551615");
    REQUIRE(full.has_value());
    CHECK(full->mean_us() == Approx(1.1215e12).epsilon(0.01));
}
