// Who is inside: the places for sessions (-t), shared by all workers.
//
// A place is a number from 0; the lowest free one is given out, so that transcripts, of which each
// place has one, stay few. take() and give_back() are called once a connection, under a lock; a
// transcript is used by its place's guest only. Nothing here fails: a full house gives no place.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <vector>

#include "net/transcript.hpp"

namespace postal::serve {

struct place {
    unsigned number = 0;
    net::transcript* transcript = nullptr;  // null when none is wanted
};

class reception {
  public:
    reception(unsigned places, net::transcript_options transcripts);

    std::optional<place> take();
    void give_back(const place& left);

    // Whose turn it is, of the workers; asked by the doors, which share a thread.
    unsigned next_turn() noexcept { return turn_++; }

  private:
    unsigned turn_ = 0;
    const unsigned places_;
    const net::transcript_options options_;
    std::mutex mutex_;  // guards what follows
    unsigned opened_ = 0;
    std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> free_;
    std::vector<std::unique_ptr<net::transcript>> transcripts_;
};

}  // namespace postal::serve
