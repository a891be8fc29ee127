// SPDX-License-Identifier: GPL-3.0-or-later
// The slots for sessions (-t), shared by all workers.
//
// A slot is a number from 0; the lowest free one is given out, so that transcripts, of which each
// slot has one, stay few. It is taken and, when its owner is gone, given back once a connection,
// under a lock; a transcript is used by the session in its slot only. When all are taken there is
// none; the slots must outlive who has one. Sessions may be counted by where they come from
// (net::ip_address::origin()).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "net/ip_address.hpp"
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
    // False when so many, or more, that are here come from there; otherwise this one counts as one
    // of them until it is given back. Once a slot.
    [[nodiscard]] bool count_for(const net::ip_address& from, unsigned most) const;
};

class session_slots {
  public:
    session_slots(unsigned slots, net::transcript_options transcripts);

    std::optional<session_slot> take();

    // How many were taken at once, so far.
    unsigned most_taken();
    // When the last session has ended: what transcripts have not written yet is.
    void end_transcripts() { transcripts_.clear(); }

    // How many have come before, for whose turn it is, of the workers; asked by the acceptors,
    // which share a thread.
    std::uint64_t next_turn() noexcept { return turn_++; }

  private:
    friend session_slot::giver_back;
    friend session_slot;

    std::uint64_t turn_ = 0;
    const unsigned slot_count_;
    const net::transcript_options options_;
    std::mutex mutex_;  // guards what follows
    unsigned opened_ = 0;
    std::vector<unsigned> free_;  // a heap, the lowest first; with room for all that are opened
    std::vector<std::unique_ptr<net::transcript>> transcripts_;
    std::map<net::ip_address, unsigned> from_;  // sessions that are counted, by their origin
    std::vector<std::optional<net::ip_address>> origins_;  // of each slot's, where it is counted
};

}  // namespace postal::serve
