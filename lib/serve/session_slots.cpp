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

// One is opened only when none that was given back is free.
unsigned session_slots::most_taken() {
    const std::scoped_lock lock(mutex_);
    return opened_;
}

void session_slot::giver_back::operator()(session_slots* to) const noexcept {
    const std::scoped_lock lock(to->mutex_);
    to->free_.push_back(number);
    std::push_heap(to->free_.begin(), to->free_.end(), std::greater<>());
}

}  // namespace postal::serve
