// The slots for sessions (-t), shared by all workers.
//
// A slot is a number from 0; the lowest free one is given out, so that transcripts, of which each
// slot has one, stay few. take() and give_back() are called once a connection, under a lock; a
// transcript is used by the session in its slot only. Nothing here fails: when all are taken there
// is none.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <vector>

#include "net/transcript.hpp"

namespace postal::serve {

struct session_slot {
    unsigned number = 0;
    net::transcript* transcript = nullptr;  // null when none is wanted
};

class session_slots {
  public:
    session_slots(unsigned slots, net::transcript_options transcripts);

    std::optional<session_slot> take();
    void give_back(const session_slot& left);

    // Whose turn it is, of the workers; asked by the acceptors, which share a thread.
    unsigned next_turn() noexcept { return turn_++; }

  private:
    unsigned turn_ = 0;
    const unsigned slot_count_;
    const net::transcript_options options_;
    std::mutex mutex_;  // guards what follows
    unsigned opened_ = 0;
    std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> free_;
    std::vector<std::unique_ptr<net::transcript>> transcripts_;
};

}  // namespace postal::serve
