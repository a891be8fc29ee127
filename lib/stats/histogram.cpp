// SPDX-License-Identifier: GPL-3.0-or-later
// Merging, quantiles and the text form of the histogram. A quantile walks the buckets up to its
// rank: about 2600 additions, which is nothing beside printing it.
#include "stats/histogram.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace postal::stats {
namespace {

constexpr std::string_view prefix = "loglin64:";

// 2^64 values of 2^50 ns each do not fit 64 bits.
__extension__ typedef unsigned __int128 wide;

std::chrono::nanoseconds as_duration(std::uint64_t ns) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return std::chrono::nanoseconds{static_cast<std::int64_t>(std::min(ns, most))};
}

}  // namespace

void histogram::add(std::size_t index, std::uint64_t count) noexcept {
    counts_[index] += count;
    count_ += count;
}

void histogram::merge(const histogram& other) noexcept {
    if (other.count_ == 0) return;
    for (std::size_t i = other.first_used(); i <= other.last_used(); ++i)
        counts_[i] += other.counts_[i];
    count_ += other.count_;
    sum_low_ += other.sum_low_;
    sum_high_ += other.sum_high_ + (sum_low_ < other.sum_low_ ? 1U : 0U);
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
}

void histogram::clear() noexcept {
    if (count_ == 0) return;
    std::fill(counts_.begin() + static_cast<std::ptrdiff_t>(first_used()),
              counts_.begin() + static_cast<std::ptrdiff_t>(last_used()) + 1, 0);
    count_ = 0;
    sum_low_ = 0;
    sum_high_ = 0;
    min_ = std::numeric_limits<std::uint64_t>::max();
    max_ = 0;
}

double histogram::mean_us() const noexcept {
    if (count_ == 0) return 0;
    const double sum_ns =
        std::ldexp(static_cast<double>(sum_high_), 64) + static_cast<double>(sum_low_);
    return sum_ns / static_cast<double>(count_) / 1e3;
}

std::chrono::nanoseconds histogram::mean() const noexcept {
    return std::chrono::nanoseconds{std::llround(mean_us() * 1e3)};
}

std::chrono::nanoseconds histogram::min() const noexcept {
    return as_duration(count_ == 0 ? 0 : min_);
}

std::chrono::nanoseconds histogram::max() const noexcept {
    return as_duration(max_);
}

std::uint64_t histogram::rank_of(double q, std::uint64_t count) noexcept {
    constexpr double rounding = 1e-12;
    if (count == 0 || !(q > 0)) return 1;
    const double rank = std::ceil(std::min(q, 1.0) * static_cast<double>(count) * (1 - rounding));
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(rank), 1, count);
}

double histogram::step_of(std::chrono::nanoseconds value) noexcept {
    const std::size_t index =
        index_of(static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0)));
    const double lower = static_cast<double>(lower_ns(index));
    const double width = static_cast<double>(upper_ns(index)) - lower;
    return width / std::max(lower, static_cast<double>(value.count()));
}

std::chrono::nanoseconds histogram::at_rank(std::uint64_t rank) const noexcept {
    if (rank <= 1) return min();
    if (rank >= count_) return max();
    std::uint64_t seen = 0;
    std::size_t index = 0;
    while (seen + counts_[index] < rank)
        seen += counts_[index++];
    const std::uint64_t middle = lower_ns(index) + (upper_ns(index) - lower_ns(index)) / 2;
    return as_duration(std::clamp(middle, min_, max_));
}

std::vector<histogram::bucket> histogram::buckets() const {
    std::vector<bucket> found;
    for (std::size_t i = 0; i < bucket_count; ++i) {
        if (counts_[i] == 0) continue;
        found.push_back({static_cast<double>(upper_ns(i)) / 1e3, counts_[i]});
    }
    return found;
}

histogram::contents histogram::all() const {
    contents made{{}, sum_low_, sum_high_, min_, max_};
    if (count_ == 0) return made;
    for (std::size_t i = first_used(); i <= last_used(); ++i)
        if (counts_[i] != 0) made.counts.emplace_back(i, counts_[i]);
    return made;
}

bool histogram::set(const contents& given) {
    for (const auto& [index, count] : given.counts)
        if (index >= bucket_count) return false;
    if (!given.counts.empty() && (index_of(given.min) != given.counts.front().first ||
                                  index_of(given.max) != given.counts.back().first))
        return false;
    clear();
    for (const auto& [index, count] : given.counts)
        add(static_cast<std::size_t>(index), count);
    sum_low_ = given.sum_low;
    sum_high_ = given.sum_high;
    min_ = given.min;
    max_ = given.max;
    return true;
}

std::string histogram::encode() const {
    std::string text(prefix);
    for (std::size_t i = 0; i < bucket_count; ++i) {
        if (counts_[i] == 0) continue;
        if (text.size() > prefix.size()) text += ',';
        fmt::format_to(std::back_inserter(text), "{}*{}", i, counts_[i]);
    }
    return text;
}

base::expected<histogram> histogram::decode(std::string_view text) {
    if (!text.starts_with(prefix))
        return base::fail("latency buckets do not begin with {}", prefix);
    text.remove_prefix(prefix.size());
    histogram result;
    std::size_t lowest_allowed = 0;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view item = text.substr(0, comma);
        const std::size_t star = item.find('*');
        const auto refuse = [&] {
            return base::fail(
                "'{}' is not a latency bucket; INDEX*COUNT with ascending indexes "
                "below {} was expected",
                base::printable(item, 60), bucket_count);
        };
        if (star == std::string_view::npos) return refuse();
        const auto index = base::parse_count(item.substr(0, star));
        const auto count = base::parse_count(item.substr(star + 1));
        if (!index || !count || *index < lowest_allowed || *index >= bucket_count) return refuse();
        if (*count == 0 || *count > std::numeric_limits<std::uint64_t>::max() - result.count_) {
            return refuse();
        }
        const auto place = static_cast<std::size_t>(*index);
        if (result.count_ == 0) result.min_ = lower_ns(place);
        result.max_ = upper_ns(place) - 1;
        result.add(place, *count);
        lowest_allowed = place + 1;

        const std::uint64_t middle = (lower_ns(place) + upper_ns(place)) / 2;
        const wide product = static_cast<wide>(middle) * *count;
        const auto low = static_cast<std::uint64_t>(product);
        result.sum_low_ += low;
        result.sum_high_ += static_cast<std::uint64_t>(product >> 64U);
        result.sum_high_ += result.sum_low_ < low ? 1U : 0U;
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
        if (text.empty()) return base::fail("latency buckets end in a comma");
    }
    return result;
}

}  // namespace postal::stats
