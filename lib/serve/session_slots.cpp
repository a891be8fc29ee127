// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/session_slots.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace postal::serve {

session_slots::session_slots(unsigned slots, net::transcript_options transcripts)
    : slot_count_(slots), options_(std::move(transcripts)) {}

std::optional<session_slot> session_slots::take() {
    const std::scoped_lock lock(mutex_);
    unsigned number = opened_;
    if (!free_.empty()) {
        std::pop_heap(free_.begin(), free_.end(), std::greater<>());
        number = free_.back();
        free_.pop_back();
    } else if (opened_ < slot_count_) {
        if (free_.capacity() <= opened_) free_.reserve(2 * opened_ + 1);
        if (options_.wanted()) {
            transcripts_.push_back(std::make_unique<net::transcript>(options_, number));
        }
        ++opened_;
    } else {
        return std::nullopt;
    }
    session_slot given{{this, {number}}};
    if (options_.wanted()) given.transcript = transcripts_[number].get();
    return given;
}

bool session_slot::count_for(const net::ip_address& from, unsigned most) const {
    const net::ip_address origin = from.origin();
    session_slots& all = *of;
    const std::scoped_lock lock(all.mutex_);
    if (all.origins_.size() <= number()) all.origins_.resize(number() + 1);
    unsigned& there = all.from_[origin];
    if (there >= most) return false;  // at least one is there
    ++there;
    all.origins_[number()] = origin;
    return true;
}

// One is opened only when none that was given back is free.
unsigned session_slots::most_taken() {
    const std::scoped_lock lock(mutex_);
    return opened_;
}

void session_slot::giver_back::operator()(session_slots* to) const noexcept {
    const std::scoped_lock lock(to->mutex_);
    if (number < to->origins_.size() && to->origins_[number]) {
        const auto there = to->from_.find(*std::exchange(to->origins_[number], std::nullopt));
        if (--there->second == 0) to->from_.erase(there);
    }
    to->free_.push_back(number);
    std::push_heap(to->free_.begin(), to->free_.end(), std::greater<>());
}

}  // namespace postal::serve
