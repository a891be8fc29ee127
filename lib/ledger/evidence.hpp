// What is kept of a message while it is checked, so that one that turns out to be corrupt can be
// compared with what was sent, and the ledger's words for how it differs.
//
// Flow: evidence_room room(octets); evidence e(room);
//       e.begin(); e.feed(piece)...; e.explain(check_result.id, rebuilder, row); e.end();
// Messages above most_kept octets are not kept, and none while those in hand fill the room (one for
// each worker): of them only the verdict is known. Nothing fails; no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ledger/rows.hpp"
#include "mail/difference.hpp"
#include "mail/rebuild.hpp"

namespace postal::ledger {

// How many octets all messages in hand may take.
struct evidence_room {
    std::size_t left = std::size_t{256} << 20U;
};

class evidence {
  public:
    static constexpr std::size_t most_kept = std::size_t{16} << 20U;
    // What a body_rebuilder is to remake at most: headers are from outside and may ask for
    // anything.
    static constexpr std::uint64_t most_remade = std::uint64_t{64} << 20U;

    explicit evidence(evidence_room& room) noexcept : room_(room) {}
    ~evidence() { forget(); }
    evidence(const evidence&) = delete;
    evidence& operator=(const evidence&) = delete;

    void begin() noexcept;
    void feed(std::string_view piece);
    // The message is done with; what was kept of a large one is freed.
    void end() noexcept;

    std::uint64_t octets() const noexcept { return octets_; }
    // All of it was kept.
    bool whole() const noexcept { return whole_; }
    std::string_view text() const noexcept { return kept_; }

    // Fills condition and detail of a message that is corrupt. id as in mail::check_result.
    void explain(const mail::identity* id, mail::body_rebuilder& rebuilder, seen_row& row) const;

  private:
    void forget() noexcept;

    evidence_room& room_;
    std::string kept_;
    std::uint64_t octets_ = 0;
    bool whole_ = true;
};

// The ledger's word for a difference; `corrupt` for those without one of their own.
[[nodiscard]] condition condition_of(mail::difference_kind kind) noexcept;

}  // namespace postal::ledger
