// SPDX-License-Identifier: GPL-3.0-or-later
// The tickets of a run, one stock for all workers: each admits one message (rabid: one connection).
// Who wants several, for the recipients of one LMTP transaction, gets them together; fewer where no
// more are left, or fewer came back.
//
// Flow, in a worker, which has a share of the stock:
//   take(mine, wanted)                    without a schedule: any tickets, at once
//   n = next(), take(n, wanted)           with one: when n is due, in the order of their due times
//   use(mine, ...) or give_back(...)      each ticket that was taken ends in one of the two
//
// Of a schedule each ticket has its own due time, also those that are taken or come back together.
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
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "load/due_times.hpp"
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

    // Without a schedule. How many were got; 0 when none is left, though some may come back.
    std::uint64_t take(share& mine, std::uint64_t wanted = 1) noexcept {
        if (!limited()) return wanted;
        std::uint64_t got = take_from(mine, wanted);
        while (got < wanted) {
            const std::uint64_t handful = take_handful(wanted - got);
            if (handful == 0) break;
            const std::uint64_t now = std::min(handful, wanted - got);
            mine.in_hand_.fetch_add(handful - now, std::memory_order_relaxed);
            got += now;
        }
        for (share* each = shares_.load(std::memory_order_acquire); each != nullptr && got < wanted;
             each = each->next_) {
            got += take_from(*each, wanted - got);
        }
        return got;
    }
    void give_back(share& mine, std::uint64_t tickets = 1) noexcept {
        mine.in_hand_.fetch_add(tickets, std::memory_order_relaxed);
    }

    // With a schedule: the number, from 0, of the first ticket that nobody has taken, or `none`.
    std::uint64_t next() const noexcept {
        const std::uint64_t number = next_.load(std::memory_order_relaxed);
        return has(number) ? number : none;
    }
    bool has(std::uint64_t number) const noexcept { return number < most(); }
    // There are no more than so many, from now on.
    void limit(std::uint64_t most) noexcept {
        std::uint64_t before = most_.load(std::memory_order_relaxed);
        while (most < before &&
               !most_.compare_exchange_weak(before, most, std::memory_order_relaxed)) {
        }
    }
    // How many, from that number on; 0 when another worker was faster.
    std::uint64_t take(std::uint64_t number, std::uint64_t wanted = 1) noexcept {
        if (!has(number)) return 0;
        const std::uint64_t got = std::min(wanted, most() - number);
        const std::uint64_t last = number + got;
        if (!next_.compare_exchange_strong(number, last, std::memory_order_relaxed)) return 0;
        if (last > most())
            raise(most_, last);  // which was limited meanwhile: it is out, and counts
        return got;
    }
    // When each was due. False when the stock is closed.
    bool give_back(const due_times& unused) {
        const std::scoped_lock lock(mutex_);
        if (next_.load(std::memory_order_relaxed) == none) return false;
        for (std::size_t i = 0; i < unused.size(); ++i) {
            returned_.push_back(unused[i]);
            std::push_heap(returned_.begin(), returned_.end(), std::greater<>());
        }
        returned_count_.store(returned_.size(), std::memory_order_relaxed);
        return true;
    }
    // Some that came back, the earliest first; at most that many, and 1 or more.
    std::optional<due_times> take_returned(std::uint64_t wanted = 1) {
        if (returned_count_.load(std::memory_order_relaxed) == 0) return std::nullopt;
        const std::scoped_lock lock(mutex_);
        std::optional<due_times> got;
        for (; wanted > 0 && !returned_.empty(); --wanted) {
            std::pop_heap(returned_.begin(), returned_.end(), std::greater<>());
            if (got)
                got->add(returned_.back());
            else
                got.emplace(returned_.back());
            returned_.pop_back();
        }
        returned_count_.store(returned_.size(), std::memory_order_relaxed);
        return got;
    }

    // ---- of a schedule that is only a cap: see admission.hpp ----

    // By how many messages it was put off.
    double put_off() const noexcept { return put_off_.load(std::memory_order_relaxed); }
    void put_off(double messages) noexcept { raise(put_off_, messages); }
    // Time that nobody has counted yet of the stretch [from, to], in which all sessions were busy.
    std::chrono::nanoseconds count_busy(steady_time from, steady_time to) noexcept {
        const steady_time before(
            steady_time::duration(raise(busy_until_, to.time_since_epoch().count())));
        return std::max(to - std::max(from, before), std::chrono::nanoseconds(0));
    }

    void use(share& mine, std::uint64_t tickets = 1) noexcept {
        mine.used_.store(mine.used_.load(std::memory_order_relaxed) + tickets,
                         std::memory_order_relaxed);
    }
    bool limited() const noexcept { return most() != none; }
    bool all_used() const noexcept {
        if (!limited()) return false;
        std::uint64_t used = 0;
        for (const share* each = shares_.load(std::memory_order_acquire); each != nullptr;
             each = each->next_) {
            used += each->used_.load(std::memory_order_relaxed);
        }
        return used >= most();
    }

    // From here on nobody takes any by its number. To the first caller: what was left.
    struct remainder {
        std::uint64_t next = none;
        std::vector<steady_time> returned{};  // when they were due
    };
    remainder close() {
        const std::scoped_lock lock(mutex_);
        const remainder left{next_.exchange(none), std::exchange(returned_, {})};
        returned_count_.store(0, std::memory_order_relaxed);
        return left;
    }

  private:
    std::uint64_t most() const noexcept { return most_.load(std::memory_order_relaxed); }

    // To that value unless it is higher; gives what it was.
    template <class Number>
    static Number raise(std::atomic<Number>& held, Number to) noexcept {
        Number before = held.load(std::memory_order_relaxed);
        while (before < to && !held.compare_exchange_weak(before, to, std::memory_order_relaxed)) {
        }
        return before;
    }

    static std::uint64_t take_from(share& some, std::uint64_t wanted) noexcept {
        std::uint64_t left = some.in_hand_.load(std::memory_order_relaxed);
        while (left > 0) {
            const std::uint64_t got = std::min(left, wanted);
            if (some.in_hand_.compare_exchange_weak(left, left - got, std::memory_order_relaxed))
                return got;
        }
        return 0;
    }
    // It shrinks with what is left, so that near the end workers seldom take from each other.
    std::uint64_t take_handful(std::uint64_t wanted) noexcept {
        constexpr std::uint64_t largest = 64;
        std::uint64_t first = next_.load(std::memory_order_relaxed);
        while (first < most()) {
            const std::uint64_t handful =
                std::clamp((most() - first) / 64, wanted, largest + wanted);
            const std::uint64_t got = std::min(handful, most() - first);
            if (next_.compare_exchange_weak(first, first + got, std::memory_order_relaxed))
                return got;
        }
        return 0;
    }

    std::atomic<std::uint64_t> most_;
    std::atomic<share*> shares_{nullptr};
    alignas(cache_line) std::atomic<std::uint64_t> next_{0};
    alignas(cache_line) std::atomic<std::size_t> returned_count_{0};  // read without the lock
    std::mutex mutex_;                                                // guards what follows
    std::vector<steady_time> returned_;                               // a heap
    std::atomic<double> put_off_{0};
    std::atomic<steady_time::rep> busy_until_{std::numeric_limits<steady_time::rep>::min()};
};

}  // namespace postal::load
