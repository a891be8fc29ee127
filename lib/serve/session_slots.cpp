#include "serve/session_slots.hpp"

#include <utility>

namespace postal::serve {

session_slots::session_slots(unsigned slots, net::transcript_options transcripts)
    : slot_count_(slots), options_(std::move(transcripts)) {}

std::optional<session_slot> session_slots::take() {
    const std::scoped_lock lock(mutex_);
    session_slot given;
    if (!free_.empty()) {
        given.number = free_.top();
        free_.pop();
    } else if (opened_ < slot_count_) {
        given.number = opened_++;
        if (options_.wanted()) {
            transcripts_.push_back(std::make_unique<net::transcript>(options_, given.number));
        }
    } else {
        return std::nullopt;
    }
    if (options_.wanted()) given.transcript = transcripts_[given.number].get();
    return given;
}

void session_slots::give_back(const session_slot& left) {
    const std::scoped_lock lock(mutex_);
    free_.push(left.number);
}

}  // namespace postal::serve
