// SPDX-License-Identifier: GPL-3.0-or-later
// How many octets of unfinished mail all sessions hold at once, in memory and in files, and their
// bound (--max-held).
//
// What holds mail has a share for it: add() says whether so much more may be held, and the share's
// end, like give_back(), returns it all. Shares take from the total in steps, so that a recipient
// costs an atomic operation once in a while. From any thread; nothing here allocates. When three
// quarters of a large total are gone, what the allocator kept of them is the system's again: it
// keeps most of it otherwise, and for good.
//
// Of clients that are told apart each may hold half of the total, with all its sessions, so that
// none can take it from all others. client_of() has a short lock and may throw std::bad_alloc.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "net/ip_address.hpp"
#include "proto/smtp/server_reply.hpp"

namespace postal::serve {

// What a client hears for whom no more may be held.
inline constexpr proto::server_reply too_much_in_hand{
    452, "4.3.1", "Too much unfinished mail here, try again later", "max-held"};

class held_octets {
  public:
    explicit held_octets(std::uint64_t most) noexcept : most_(most) {}
    held_octets(const held_octets&) = delete;
    held_octets& operator=(const held_octets&) = delete;

    class client {
      public:
        std::uint64_t held() const noexcept { return held_.load(std::memory_order_relaxed); }

      private:
        friend held_octets;
        std::atomic<std::uint64_t> held_{0};
    };
    // The same for all that come from there.
    std::shared_ptr<client> client_of(const net::ip_address& origin);

    // For that client; null: for any.
    bool full(const client* whose = nullptr) const noexcept {
        return held() >= most_ || (whose != nullptr && whose->held() >= most_of_one());
    }
    std::uint64_t held() const noexcept { return held_.load(std::memory_order_relaxed); }

    class share {
      public:
        // Null: nothing is counted, and there is always room.
        explicit share(held_octets* of = nullptr, std::shared_ptr<client> whose = nullptr) noexcept
            : of_(of), whose_(std::move(whose)) {}
        share(share&& other) noexcept
            : of_(std::exchange(other.of_, nullptr)),
              whose_(std::move(other.whose_)),
              used_(std::exchange(other.used_, 0)),
              taken_(std::exchange(other.taken_, 0)) {}
        share& operator=(share&& other) noexcept {
            share old(std::move(other));
            std::swap(of_, old.of_);
            whose_.swap(old.whose_);
            std::swap(used_, old.used_);
            std::swap(taken_, old.taken_);
            return *this;
        }
        share(const share&) = delete;
        share& operator=(const share&) = delete;
        ~share() { give_back(); }

        // False, and nothing is added, when that would be more than all may hold.
        [[nodiscard]] bool add(std::uint64_t octets) noexcept;
        void give_back() noexcept;
        // Another of the same total, for the same client, that holds nothing yet.
        share sibling() const noexcept { return share(of_, whose_); }

      private:
        held_octets* of_;
        std::shared_ptr<client> whose_;
        std::uint64_t used_ = 0;
        std::uint64_t taken_ = 0;  // of the total
    };

  private:
    std::uint64_t most_of_one() const noexcept { return most_ / 2; }
    bool take(std::uint64_t octets, client* whose) noexcept;
    void put_back(std::uint64_t octets, client* whose) noexcept;

    const std::uint64_t most_;
    std::atomic<std::uint64_t> held_{0};
    std::atomic<std::uint64_t> highest_{0};  // since memory was last given back
    std::mutex mutex_;                       // guards what follows
    std::map<net::ip_address, std::weak_ptr<client>> clients_;
    std::size_t look_through_at_ = 64;  // so many, and those that have left are forgotten
};

}  // namespace postal::serve
