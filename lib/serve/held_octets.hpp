// How many octets of unfinished mail all sessions hold at once, in memory and in files, and their
// bound (--max-held).
//
// What holds mail has a share for it: add() says whether so much more may be held, and the share's
// end, like give_back(), returns it all. Shares take from the total in steps, so that a recipient
// costs an atomic operation once in a while. From any thread; nothing here allocates. When three
// quarters of a large total are gone, what the allocator kept of them is the system's again: it
// keeps most of it otherwise, and for good.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace postal::serve {

class held_octets {
  public:
    explicit held_octets(std::uint64_t most) noexcept : most_(most) {}
    held_octets(const held_octets&) = delete;
    held_octets& operator=(const held_octets&) = delete;

    bool full() const noexcept { return held_.load(std::memory_order_relaxed) >= most_; }
    std::uint64_t held() const noexcept { return held_.load(std::memory_order_relaxed); }

    class share {
      public:
        // Null: nothing is counted, and there is always room.
        explicit share(held_octets* of = nullptr) noexcept : of_(of) {}
        share(share&& other) noexcept
            : of_(std::exchange(other.of_, nullptr)),
              used_(std::exchange(other.used_, 0)),
              taken_(std::exchange(other.taken_, 0)) {}
        share(const share&) = delete;
        share& operator=(const share&) = delete;
        ~share() { give_back(); }

        // False, and nothing is added, when that would be more than all may hold.
        [[nodiscard]] bool add(std::uint64_t octets) noexcept;
        void give_back() noexcept;

      private:
        held_octets* of_;
        std::uint64_t used_ = 0;
        std::uint64_t taken_ = 0;  // of the total
    };

  private:
    bool take(std::uint64_t octets) noexcept;
    void put_back(std::uint64_t octets) noexcept;

    const std::uint64_t most_;
    std::atomic<std::uint64_t> held_{0};
    std::atomic<std::uint64_t> highest_{0};  // since memory was last given back
};

}  // namespace postal::serve
