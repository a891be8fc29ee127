// How many messages a run may start: the stop rule behind --messages.
//
// One pot for the whole run; each worker takes handfuls from it, so that the hot path touches no
// memory that another thread writes. A handful shrinks with what is left, so that near the end no
// worker sits on shares that others could use, and exactly the given number is started.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace postal::load {

class budget {
  public:
    // nullopt: no limit.
    explicit budget(std::optional<std::uint64_t> messages)
        : limited_(messages.has_value()), left_(messages.value_or(0)) {}

    bool limited() const noexcept { return limited_; }
    bool empty() const noexcept { return limited_ && left_.load(std::memory_order_relaxed) == 0; }

    // Takes up to `wanted`; 0 when nothing is left.
    std::uint64_t take(std::uint64_t wanted) noexcept {
        std::uint64_t left = left_.load(std::memory_order_relaxed);
        std::uint64_t taken = 0;
        do {
            taken = std::min(left, std::max<std::uint64_t>(1, std::min(wanted, left / 64)));
        } while (taken > 0 &&
                 !left_.compare_exchange_weak(left, left - taken, std::memory_order_relaxed));
        return taken;
    }

    void put_back(std::uint64_t messages) noexcept {
        left_.fetch_add(messages, std::memory_order_relaxed);
    }

    // Taken for a connection that is not made yet: such a one may come back.
    void hold() noexcept { held_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept { held_.fetch_sub(1, std::memory_order_relaxed); }
    bool any_held() const noexcept { return held_.load(std::memory_order_relaxed) > 0; }

  private:
    bool limited_;
    std::atomic<std::uint64_t> left_;
    std::atomic<std::int64_t> held_{0};
};

// One worker's hand in the pot.
class budget_share {
  public:
    explicit budget_share(budget& pot) noexcept : pot_(&pot) {}

    // True when one more may be started; it is counted as started.
    bool take_one() noexcept {
        if (!pot_->limited()) return true;
        if (in_hand_ == 0) in_hand_ = pot_->take(handful);
        if (in_hand_ == 0) return false;
        --in_hand_;
        return true;
    }

    // So many that take_one() gave were not started: any worker may have them, and what else is in
    // the hand, since this worker seems to have no use for it.
    void put_back(std::uint64_t messages) noexcept {
        if (pot_->limited()) pot_->put_back(messages + std::exchange(in_hand_, 0));
    }
    // Without a limit nobody is sent home, and no memory is shared for it.
    void hold() noexcept {
        if (pot_->limited()) pot_->hold();
    }
    void release() noexcept {
        if (pot_->limited()) pot_->release();
    }
    bool any_held() const noexcept { return pot_->any_held(); }

    bool limited() const noexcept { return pot_->limited(); }

    // Nothing in the hand and nothing left to take.
    bool empty() const noexcept { return in_hand_ == 0 && pot_->empty(); }

  private:
    static constexpr std::uint64_t handful = 64;
    budget* pot_;
    std::uint64_t in_hand_ = 0;
};

}  // namespace postal::load
