// SPDX-License-Identifier: GPL-3.0-or-later
// One message that comes in: checked as it streams by, and kept as far as evidence allows, so that
// the ledger can be told what became of it.
//
// Flow: examination e(room); e.feed(piece)...; result = e.finish(); e.describe(result, row,
// rebuilder); e.reset(); again. Whoever writes no ledger calls check() in place of feed(), which
// keeps nothing. Nothing fails; no I/O.
#pragma once

#include <optional>
#include <string_view>

#include "ledger/evidence.hpp"
#include "mail/delivery_report.hpp"
#include "mail/message_checker.hpp"

namespace postal::ledger {

class examination {
  public:
    explicit examination(evidence_memory& room) : kept_(room) {}

    void check(std::string_view piece) { checker_.feed(piece); }
    void feed(std::string_view piece);
    // Holds until reset().
    [[nodiscard]] mail::check_result finish() { return checker_.finish(); }
    // Fills in whose message it is, its condition and, when it is corrupt, how it differs.
    void describe(const mail::check_result& result, seen_row& row, mail::body_rebuilder& rebuilder);
    // What came back with it, when it is a notification about one of ours; of one that is foreign,
    // and all of which was fed and kept.
    [[nodiscard]] std::optional<mail::delivery_report> returned();
    void reset() noexcept;

    evidence& kept() noexcept { return kept_; }
    // True once nothing that is fed can change what is said of it.
    bool skipping();

  private:
    mail::message_checker checker_;
    evidence kept_;
    std::optional<bool> may_be_report_;  // known once the checker skips
};

}  // namespace postal::ledger
