// SPDX-License-Identifier: GPL-3.0-or-later
// What is kept of a message while it is checked, so that one that turns out to be corrupt can be
// compared with what was sent, and the ledger's words for how it differs.
//
// Flow: evidence_memory memory(octets); evidence e(memory);
//       e.begin(); e.feed(piece)...; e.explain(check_result.id, rebuilder, row); e.end();
// Messages above most_kept octets are not kept, and none while those in hand fill the memory (one
// for each worker, of what the process has for all): of them only whether they are intact is known.
// When much of what was in hand is done with, the system has its memory back. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/rows.hpp"
#include "mail/difference.hpp"
#include "mail/rebuild.hpp"

namespace postal::ledger {

// How many octets all messages in hand may take, and do.
struct evidence_memory {
    static constexpr std::size_t of_process = std::size_t{256} << 20U;

    std::size_t left = of_process;
    std::size_t taken = 0;
    std::size_t most_taken = 0;  // since the system had memory back
};

class evidence {
  public:
    static constexpr std::size_t most_kept = std::size_t{16} << 20U;
    // What a body_rebuilder is to remake at most: headers are from outside and may ask for
    // anything.
    static constexpr std::uint64_t most_remade = std::uint64_t{64} << 20U;

    explicit evidence(evidence_memory& memory) : memory_(memory) {}
    ~evidence() { forget(); }
    evidence(const evidence&) = delete;
    evidence& operator=(const evidence&) = delete;

    void begin() noexcept;
    void feed(std::string_view piece);
    // The message is done with; what was kept of a large one is freed.
    void end() noexcept { forget(); }

    std::uint64_t octets() const noexcept { return octets_; }
    // As much of its beginning as is kept in one piece.
    std::string_view beginning() const noexcept { return pieces_.front(); }
    // All of it was kept.
    bool whole() const noexcept { return whole_; }
    // What was kept, as one text; nothing is fed behind it. Valid until begin() or end().
    std::string_view text();

    // Fills condition and detail of a message that is corrupt. id as in mail::check_result.
    void explain(const mail::identity* id, mail::body_rebuilder& rebuilder, seen_row& row);

  private:
    void keep(std::string_view piece);
    void forget() noexcept;

    evidence_memory& memory_;
    // All but the last are full: one growing string would take three times the message while it is
    // copied.
    std::vector<std::string> pieces_ = std::vector<std::string>(1);
    std::size_t taken_ = 0;  // of the room
    std::uint64_t octets_ = 0;
    bool whole_ = true;
};

// The ledger's word for a difference; `corrupt` for those without one of their own.
[[nodiscard]] condition condition_of(mail::difference_kind kind) noexcept;

}  // namespace postal::ledger
