#include "serve/held_octets.hpp"

#include <algorithm>

#include <malloc.h>

namespace postal::serve {
namespace {

constexpr std::uint64_t step = 16 * 1024;
// So much, and the allocator is asked to give it back; less is soon used again.
constexpr std::uint64_t worth_giving_back = 64 * 1024 * 1024;

}  // namespace

bool held_octets::take(std::uint64_t octets) noexcept {
    const std::uint64_t now = held_.fetch_add(octets, std::memory_order_relaxed) + octets;
    if (now > most_ || now < octets) {
        held_.fetch_sub(octets, std::memory_order_relaxed);
        return false;
    }
    if (now > highest_.load(std::memory_order_relaxed))
        highest_.store(now, std::memory_order_relaxed);
    return true;
}

// One thread trims: who sees the mark first takes it down.
void held_octets::put_back(std::uint64_t octets) noexcept {
    const std::uint64_t now = held_.fetch_sub(octets, std::memory_order_relaxed) - octets;
    std::uint64_t highest = highest_.load(std::memory_order_relaxed);
    if (highest < worth_giving_back || now > highest / 4) return;
    if (highest_.compare_exchange_strong(highest, now, std::memory_order_relaxed)) malloc_trim(0);
}

bool held_octets::share::add(std::uint64_t octets) noexcept {
    if (of_ == nullptr) return true;
    if (octets > taken_ - used_) {
        const std::uint64_t more = octets - (taken_ - used_);
        const std::uint64_t wanted = more > ~std::uint64_t{0} - step ? more : std::max(more, step);
        if (!of_->take(wanted)) return false;
        taken_ += wanted;
    }
    used_ += octets;
    return true;
}

void held_octets::share::give_back() noexcept {
    used_ = 0;
    if (taken_ != 0) of_->put_back(std::exchange(taken_, 0));
}

}  // namespace postal::serve
