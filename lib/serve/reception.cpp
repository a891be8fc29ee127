#include "serve/reception.hpp"

#include <utility>

namespace postal::serve {

reception::reception(unsigned places, net::transcript_options transcripts)
    : places_(places), options_(std::move(transcripts)) {}

std::optional<place> reception::take() {
    const std::scoped_lock lock(mutex_);
    place given;
    if (!free_.empty()) {
        given.number = free_.top();
        free_.pop();
    } else if (opened_ < places_) {
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

void reception::give_back(const place& left) {
    const std::scoped_lock lock(mutex_);
    free_.push(left.number);
}

}  // namespace postal::serve
