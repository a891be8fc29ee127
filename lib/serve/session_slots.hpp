// The slots for sessions (-t), shared by all workers.
//
// A slot is a number from 0; the lowest free one is given out, so that transcripts, of which each
// slot has one, stay few. It is taken and, when its owner is gone, given back once a connection,
// under a lock; a transcript is used by the session in its slot only. When all are taken there is
// none; the slots must outlive who has one.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "net/transcript.hpp"

namespace postal::serve {

class session_slots;

struct session_slot {
    struct giver_back {
        unsigned number = 0;
        void operator()(session_slots* to) const noexcept;
    };

    std::unique_ptr<session_slots, giver_back> of;
    net::transcript* transcript = nullptr;  // null when none is wanted

    unsigned number() const noexcept { return of.get_deleter().number; }
};

class session_slots {
  public:
    session_slots(unsigned slots, net::transcript_options transcripts);

    std::optional<session_slot> take();

    // How many were taken at once, so far.
    unsigned most_taken();

    // How many have come before, for whose turn it is, of the workers; asked by the acceptors, which
    // share a thread.
    std::uint64_t next_turn() noexcept { return turn_++; }

  private:
    friend session_slot::giver_back;

    std::uint64_t turn_ = 0;
    const unsigned slot_count_;
    const net::transcript_options options_;
    std::mutex mutex_;  // guards what follows
    unsigned opened_ = 0;
    std::vector<unsigned> free_;  // a heap, the lowest first; with room for all that are opened
    std::vector<std::unique_ptr<net::transcript>> transcripts_;
};

}  // namespace postal::serve
