// The tickets of a run, one stock for all workers: each admits one message (rabid: one connection).
//
// Flow, in a worker, which has a share of the stock:
//   take(mine)                            without a schedule: any ticket, at once
//   n = next(), take(n) when n is due     with one: in the order of their due times
//   use(mine) or give_back(...)           each ticket that was taken ends in one of the two
//
// A ticket that was given back goes to whoever asks next, in any worker. all_used() becomes true
// when the last one was used, not when it was taken, and stays so: nobody leaves while a ticket may
// still come back, and exactly the given number is used.
//
// Nothing is locked but for tickets of a schedule that come back. Without a schedule a worker takes
// handfuls, so that the hot path writes only to its share's own cache line; others help themselves
// from that when the stock is empty, so that nothing is stranded with a worker whose servers hang.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "load/watched.hpp"

namespace postal::load {

class run_tickets {
    static constexpr std::size_t cache_line = 64;

  public:
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

    // One worker's; it must live as long as any worker takes tickets.
    class alignas(cache_line) share {
      public:
        explicit share(run_tickets& stock) noexcept : next_(stock.shares_.load()) {
            while (!stock.shares_.compare_exchange_weak(next_, this)) {
            }
        }
        share(const share&) = delete;
        share& operator=(const share&) = delete;

      private:
        friend class run_tickets;
        std::atomic<std::uint64_t> in_hand_{0};  // anybody may take from it
        std::atomic<std::uint64_t> used_{0};     // its worker alone writes it
        share* next_;
    };

    // nullopt: no limit.
    explicit run_tickets(std::optional<std::uint64_t> most) noexcept : most_(most.value_or(none)) {}

    // Without a schedule. False when none is left; some of those that were taken may come back.
    bool take(share& mine) noexcept {
        if (!limited() || take_from(mine)) return true;
        if (const std::uint64_t handful = take_handful(); handful > 0) {
            mine.in_hand_.fetch_add(handful - 1, std::memory_order_relaxed);
            return true;
        }
        for (share* each = shares_.load(std::memory_order_acquire); each != nullptr;
             each = each->next_) {
            if (take_from(*each)) return true;
        }
        return false;
    }
    void give_back(share& mine) noexcept { mine.in_hand_.fetch_add(1, std::memory_order_relaxed); }

    // With a schedule: the number, from 0, of the first ticket that nobody has taken, or `none`.
    std::uint64_t next() const noexcept {
        const std::uint64_t number = next_.load(std::memory_order_relaxed);
        return has(number) ? number : none;
    }
    bool has(std::uint64_t number) const noexcept { return number < most_; }
    // False when another worker was faster.
    bool take(std::uint64_t number) noexcept {
        return next_.compare_exchange_strong(number, number + 1, std::memory_order_relaxed);
    }
    // False when the stock is closed.
    bool give_back(steady_time due) {
        const std::scoped_lock lock(mutex_);
        if (next_.load(std::memory_order_relaxed) == none) return false;
        returned_.push_back(due);
        std::push_heap(returned_.begin(), returned_.end(), std::greater<>());
        returned_count_.store(returned_.size(), std::memory_order_relaxed);
        return true;
    }
    // The due time of one that came back, the earliest first.
    std::optional<steady_time> take_returned() {
        if (returned_count_.load(std::memory_order_relaxed) == 0) return std::nullopt;
        const std::scoped_lock lock(mutex_);
        if (returned_.empty()) return std::nullopt;
        std::pop_heap(returned_.begin(), returned_.end(), std::greater<>());
        const steady_time due = returned_.back();
        returned_.pop_back();
        returned_count_.store(returned_.size(), std::memory_order_relaxed);
        return due;
    }

    void use(share& mine) noexcept {
        if (!limited()) return;
        mine.used_.store(mine.used_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    bool all_used() const noexcept {
        if (!limited()) return false;
        std::uint64_t used = 0;
        for (const share* each = shares_.load(std::memory_order_acquire); each != nullptr;
             each = each->next_) {
            used += each->used_.load(std::memory_order_relaxed);
        }
        return used == most_;
    }

    // From here on nobody takes any by its number. To the first caller: what was left.
    struct remainder {
        std::uint64_t next = none;
        std::vector<steady_time> returned{};  // their due times
    };
    remainder close() {
        const std::scoped_lock lock(mutex_);
        const remainder left{next_.exchange(none), std::exchange(returned_, {})};
        returned_count_.store(0, std::memory_order_relaxed);
        return left;
    }

  private:
    bool limited() const noexcept { return most_ != none; }

    static bool take_from(share& some) noexcept {
        std::uint64_t left = some.in_hand_.load(std::memory_order_relaxed);
        while (left > 0) {
            if (some.in_hand_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed))
                return true;
        }
        return false;
    }
    // It shrinks with what is left, so that near the end workers seldom take from each other.
    std::uint64_t take_handful() noexcept {
        constexpr std::uint64_t largest = 64;
        std::uint64_t first = next_.load(std::memory_order_relaxed);
        while (first < most_) {
            const std::uint64_t handful =
                std::clamp<std::uint64_t>((most_ - first) / 64, 1, largest);
            if (next_.compare_exchange_weak(first, first + handful, std::memory_order_relaxed))
                return handful;
        }
        return 0;
    }

    const std::uint64_t most_;
    std::atomic<share*> shares_{nullptr};
    alignas(cache_line) std::atomic<std::uint64_t> next_{0};
    alignas(cache_line) std::atomic<std::size_t> returned_count_{0};  // read without the lock
    std::mutex mutex_;                                                // guards what follows
    std::vector<steady_time> returned_;  // a heap: due times of tickets that were given back
};

}  // namespace postal::load
