// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/held_octets.hpp"

#include <algorithm>

#include <malloc.h>

namespace postal::serve {
namespace {

constexpr std::uint64_t claim_step = 16 * 1024;
// So much, and the allocator is asked to give it back; less is soon used again.
constexpr std::uint64_t worth_giving_back = 64 * 1024 * 1024;

// False, and nothing is added, when that would be more.
bool add_to(std::atomic<std::uint64_t>& sum, std::uint64_t octets, std::uint64_t most) noexcept {
    const std::uint64_t now = sum.fetch_add(octets, std::memory_order_relaxed) + octets;
    if (now <= most && now >= octets) return true;
    sum.fetch_sub(octets, std::memory_order_relaxed);
    return false;
}

}  // namespace

std::shared_ptr<held_octets::client> held_octets::client_of(const net::ip_address& origin) {
    const std::scoped_lock lock(mutex_);
    if (clients_.size() >= look_through_at_) {
        std::erase_if(clients_, [](const auto& one) { return one.second.expired(); });
        look_through_at_ = 2 * clients_.size() + look_through_at_ / 2;
    }
    std::weak_ptr<client>& known = clients_[origin];
    auto there = known.lock();
    if (!there) known = there = std::make_shared<client>();
    return there;
}

bool held_octets::take(std::uint64_t octets, client* whose) noexcept {
    if (whose != nullptr && !add_to(whose->held_, octets, most_of_one())) return false;
    if (!add_to(held_, octets, most_)) {
        if (whose != nullptr) whose->held_.fetch_sub(octets, std::memory_order_relaxed);
        return false;
    }
    const std::uint64_t now = held();
    if (now > highest_.load(std::memory_order_relaxed))
        highest_.store(now, std::memory_order_relaxed);
    return true;
}

// One thread trims: who sees the mark first takes it down.
void held_octets::put_back(std::uint64_t octets, client* whose) noexcept {
    if (whose != nullptr) whose->held_.fetch_sub(octets, std::memory_order_relaxed);
    const std::uint64_t now = held_.fetch_sub(octets, std::memory_order_relaxed) - octets;
    std::uint64_t highest = highest_.load(std::memory_order_relaxed);
    if (highest < worth_giving_back || now > highest / 4) return;
    if (highest_.compare_exchange_strong(highest, now, std::memory_order_relaxed)) malloc_trim(0);
}

bool held_octets::share::add(std::uint64_t octets) noexcept {
    if (of_ == nullptr) return true;
    if (octets > taken_ - used_) {
        const std::uint64_t more = octets - (taken_ - used_);
        const std::uint64_t wanted =
            more > ~std::uint64_t{0} - claim_step ? more : std::max(more, claim_step);
        if (!of_->take(wanted, whose_.get())) return false;
        taken_ += wanted;
    }
    used_ += octets;
    return true;
}

void held_octets::share::give_back() noexcept {
    used_ = 0;
    if (taken_ != 0) of_->put_back(std::exchange(taken_, 0), whose_.get());
}

}  // namespace postal::serve
