// SPDX-License-Identifier: GPL-3.0-or-later
// A latency histogram with log-linear buckets: cheap to fill, mergeable, at most 0.8 % wrong.
//
// Each octave of nanoseconds, from 512 ns to 2^50 ns (13 days), is cut into 64 equal buckets, so
// that a bucket is at most 1/64 as wide as its lower bound and its midpoint at most 1/128 away from
// any value in it. What lies outside counts in the first or last bucket; count, sum, min and max
// stay exact. record() is a handful of instructions and never allocates; a histogram holds 20.5 KiB
// on the heap.
//
// Text form: "loglin64:INDEX*COUNT,INDEX*COUNT,...", indexes ascending, empty buckets left out,
// only "loglin64:" when nothing was recorded. Bucket INDEX holds the nanoseconds from (64 + INDEX %
// 64) * 2^(INDEX / 64 + 3), inclusive, for 2^(INDEX / 64 + 3). Texts are merged by adding equal
// indexes.
//
// Limits: negative durations count as 0; a moved-from histogram may only be assigned to.
#pragma once

#include "base/result.hpp"

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::stats {

class histogram {
  public:
    static constexpr unsigned first_octave = 9;  // 2^9 ns
    static constexpr unsigned last_octave = 49;
    static constexpr std::size_t bucket_count = (last_octave - first_octave + 1) * 64;

    // One bucket that is not empty.
    struct bucket {
        double upper_us = 0;  // exclusive
        std::uint64_t count = 0;
    };

    histogram() : counts_(bucket_count, 0) {}

    void record(std::chrono::nanoseconds value) noexcept {
        const std::uint64_t ns = value.count() < 0 ? 0 : static_cast<std::uint64_t>(value.count());
        ++counts_[index_of(ns)];
        ++count_;
        sum_low_ += ns;
        sum_high_ += sum_low_ < ns ? 1U : 0U;
        if (ns < min_) min_ = ns;
        if (ns > max_) max_ = ns;
    }

    void merge(const histogram& other) noexcept;
    void clear() noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    // Exact; 0 when empty.
    [[nodiscard]] double mean_us() const noexcept;
    [[nodiscard]] std::chrono::nanoseconds mean() const noexcept;
    [[nodiscard]] std::chrono::nanoseconds min() const noexcept;
    [[nodiscard]] std::chrono::nanoseconds max() const noexcept;
    // The midpoint of the bucket that holds the value of that rank, kept within [min, max]; rank 1
    // is min, the last one max. 0 when empty.
    [[nodiscard]] std::chrono::nanoseconds at_rank(std::uint64_t rank) const noexcept;
    [[nodiscard]] std::chrono::nanoseconds quantile(double q) const noexcept {
        return at_rank(rank_of(q, count_));
    }
    // ceil(q * count), from 1 to count. That 99.9 / 100 is more than 0.999 in a double moves none.
    [[nodiscard]] static std::uint64_t rank_of(double q, std::uint64_t count) noexcept;

    // How wide the bucket of a value is, as a share of that value: 1/128 to 1/64.
    [[nodiscard]] static double step_of(std::chrono::nanoseconds value) noexcept;

    // The buckets that are not empty, ascending.
    [[nodiscard]] std::vector<bucket> buckets() const;

    [[nodiscard]] std::string encode() const;
    // Text from outside is safe to give. The text has no exact sum, min and max: they come from the
    // buckets (midpoints, the lowest bound, the highest bound). Fails on any other form.
    [[nodiscard]] static base::expected<histogram> decode(std::string_view text);

    // Everything that is in it, exact: how it travels from rank to rank.
    struct contents {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;  // by index, ascending
        std::uint64_t sum_low = 0;
        std::uint64_t sum_high = 0;
        std::uint64_t min = 0;
        std::uint64_t max = 0;
    };
    [[nodiscard]] contents all() const;
    // False, and unchanged, for an index that there is not, and for a least or a most that do not
    // lie in the first and the last of the buckets.
    [[nodiscard]] bool set(const contents& given);

    // The bucket of a value, and a bucket's bounds, in nanoseconds.
    [[nodiscard]] static constexpr std::size_t index_of(std::uint64_t ns) noexcept {
        constexpr std::uint64_t lowest = std::uint64_t{1} << first_octave;
        constexpr std::uint64_t highest = (std::uint64_t{1} << (last_octave + 1)) - 1;
        const std::uint64_t clamped = ns < lowest ? lowest : ns > highest ? highest : ns;
        const auto octave = static_cast<unsigned>(std::bit_width(clamped)) - 1;
        // clamped >> (octave - 6) is 64..127: the sub-bucket plus 64, which the -1 takes away
        // again.
        return static_cast<std::size_t>(octave - first_octave) * 64 +
               static_cast<std::size_t>(clamped >> (octave - 6)) - 64;
    }
    [[nodiscard]] static constexpr std::uint64_t lower_ns(std::size_t index) noexcept {
        return (std::uint64_t{64} + index % 64) << (index / 64 + first_octave - 6);
    }
    [[nodiscard]] static constexpr std::uint64_t upper_ns(std::size_t index) noexcept {
        return lower_ns(index) + (std::uint64_t{1} << (index / 64 + first_octave - 6));
    }

  private:
    void add(std::size_t index, std::uint64_t count) noexcept;
    // Between these are all buckets that are not empty: a few hundred of the 2,624 in most runs.
    [[nodiscard]] std::size_t first_used() const noexcept { return index_of(min_); }
    [[nodiscard]] std::size_t last_used() const noexcept { return index_of(max_); }

    std::vector<std::uint64_t> counts_;
    std::uint64_t count_ = 0;
    std::uint64_t sum_low_ = 0;  // the sum in 128 bits: 2^64 ns are only 584 years of waiting
    std::uint64_t sum_high_ = 0;
    std::uint64_t min_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t max_ = 0;
};

}  // namespace postal::stats
