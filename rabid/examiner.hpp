// SPDX-License-Identifier: GPL-3.0-or-later
// Looks at one message after the other as it is read, counts what it is, and notes it in the
// ledger.
//
// Flow: open(); for each message begin(), feed() the pieces, finish(place); close().
// One that was begun and not finished when the mailbox is closed broke off, and has failed.
// Each message is verified, foreign (none of ours, left alone), of the original postal, or corrupt;
// then what is wrong with it is said, by remaking what was sent. One that comes twice in a mailbox
// is a duplicate too. Messages are kept until they are found to be fine, so that a corrupt one can
// be compared; of those that ledger::evidence does not keep only whether they are intact is known.
//
// One for each session.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "ledger/examination.hpp"
#include "ledger/rows.hpp"
#include "rabid/accounts.hpp"
#include "rabid/announcements.hpp"
#include "rabid/visit_notes.hpp"
#include "rabid/worker_context.hpp"

namespace postal::rabid {

// What a message turned out to be.
enum class examination_result : std::uint8_t {
    verified,
    foreign,
    original,
    corrupt,
    doubtful  // corrupt, and nothing proves that it is ours: anybody may write such a header
};
constexpr bool is_ours(examination_result what) noexcept {
    return what != examination_result::foreign && what != examination_result::doubtful;
}

// Where a message was found.
struct sighting {
    std::uint64_t uid = 0;  // which stored message: an IMAP UID, a hash of POP3's; 0: not known
    std::uint32_t uid_validity = 0;  // IMAP's UIDVALIDITY
    std::uint64_t place = 0;         // its order in the mailbox; 0: not known
    announcement announced{};        // when the session was told of it
    std::uint64_t arrived_us = 0;    // INTERNALDATE; 0: not known
};

class examiner {
  public:
    explicit examiner(worker_context& context) : context_(context), message_(context.evidence) {}

    // A mailbox is visited: whose, through which protocol, and by which session of the run.
    // `folder` is "/" and its name, and nothing for INBOX.
    void open(const account& whose, ledger::way through, std::uint32_t session = 0,
              std::string_view folder = {});
    // --watch-folders: mail of that address is watched beside it; and what comes from now on is of
    // the one of this number, 0 for the account's own.
    void watch_too(std::string_view address);
    void turn_to(std::size_t which);
    // False when a message had broken off.
    bool close(const visit_notes::ending& how);
    // What the visit looks at.
    visit_notes& notes() noexcept { return notes_; }

    void begin();
    void feed(std::string_view piece) { message_.feed(piece); }
    // Whether the message in hand, of which the server has announced so many octets, is or will be
    // beyond --max-message; it is counted as that once.
    bool too_big(std::uint64_t announced);
    // The message in hand is none: no server takes more than most_timeouts times what --timeout
    // allows for a command to send it. `taken`: until now.
    bool without_end(std::chrono::nanoseconds taken) const;

    static constexpr int most_timeouts = 60;
    examination_result finish(const sighting& where);
    // What messages turn out to be, and the errors that are theirs, are counted there, and not yet
    // among what the run has found: of a reading that may have to be done again. Null: at once.
    struct findings {
        stats::counts counts;
        stats::error_table errors;
    };
    void hold(findings* there) noexcept { held_ = there; }
    // Of the message that was finished last.
    const message_key& last() const noexcept { return last_; }

  private:
    void time(const ledger::seen_row& row, const announcement& told);
    examination_result judge(mail::check_result checked, ledger::seen_row& row, std::uint64_t uid);
    const std::string& store_read_by(ledger::way through) const;
    bool is_fine_but_for_qmail(const mail::check_result& checked);
    examination_result judge_stranger(ledger::seen_row& row);
    stats::counts& integrity() noexcept;
    void count_error(std::string_view reason, std::string_view detail);
    void note_returned(const ledger::seen_row& seen);
    void count_twice(const mail::identity& id, std::uint64_t uid);

    worker_context& context_;
    visit_notes notes_;
    message_key last_;
    ledger::examination message_;
    std::unordered_set<std::uint64_t> seen_;    // identities of this mailbox, mixed
    std::unordered_set<std::uint64_t> copies_;  // with the uids of those that have one
    ledger::address_id mailbox_ = 0;
    std::size_t which_ = 0;  // of the mailboxes that are watched
    ledger::address_id server_ = 0;
    ledger::way through_ = ledger::way::pop3;
    std::uint32_t session_ = 0;
    bool in_message_ = false;
    findings* held_ = nullptr;
};

}  // namespace postal::rabid
