// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in a ledger, as plain rows: messages sent, messages seen, and the run they belong to.
//
// A message is known by its identity (run, session, sequence) and its recipient; each recipient of
// a message has a sent_row of its own, and each copy that is found anywhere a seen_row. The numbers
// of the enumerations stand in the file: new ones go to the end. docs/ledger.md has the tables.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::ledger {

// An address within one writer; given by writer::address() or row_buffer::address(), never 0.
using address_id = std::uint32_t;

// What became of a message for one recipient, as its sender knows it.
enum class outcome : std::uint8_t {
    accepted,  // the server has taken responsibility
    rejected,  // 5xx
    deferred,  // 4xx
    failed,    // the connection broke before the data was complete
    in_doubt   // it broke between the end of the data and its reply
};

// How a message was found.
enum class condition : std::uint8_t {
    verified,
    unchecked,           // identity read, content not, or not all of it
    foreign,             // no message of ours
    unreadable,          // an identity header that cannot be read
    corrupt,             // differs from what was sent in a way that has no name of its own
    truncated,           // ends too early
    octet_changed,       // single octets differ
    eight_bit_stripped,  // octets above 127 lost their highest bit
    dot_added,           // at the start of a line
    dot_lost,
    line_ends_changed,
    trailing_blanks_cut,
    header_changed,  // a covered header field
    original,        // mail of the original postal, which has no identity of ours
    original_corrupt
};
inline constexpr std::size_t condition_count = 15;

// Through which protocol a message was found.
enum class way : std::uint8_t { smtp, lmtp, pop3, imap };

// What a run has to do with messages.
enum class role : std::uint8_t {
    sender,
    sink,   // a server: sees a message before it acknowledges it
    reader  // looks into mailboxes: what it has not seen it may see until it ends
};

// How much of a mailbox a reader looked at.
enum class extent : std::uint8_t {
    complete,  // each message that lay there when it looked what is there was read whole
    incoming,  // what came in while it watched, and nothing that lay there before
    partly,    // some of it
    nothing    // it was not let in
};
inline constexpr std::uint8_t extent_count = 4;

// How a reader with --watch was first told of a message.
enum class notice : std::uint8_t {
    visit,   // POP3: by STAT, at the beginning of a visit
    poll,    // IMAP without IDLE: in the answer to a command
    answer,  // a session that uses IDLE, in the answer to another command, or to DONE
    early,   // the same, behind IDLE and before its continuation request
    idle,    // in IDLE
    notify   // a session that uses NOTIFY, whenever it was
};
inline constexpr std::uint8_t notice_count = 6;

// A server that has not told a session in IDLE, or by NOTIFY, of a message for so long has not.
inline constexpr std::uint64_t told_within_us = 5'000'000;

// How a reader waits for mail.
enum class waiting : std::uint8_t {
    idling,    // an IMAP session that uses IDLE, as long as the mailbox was open
    polling,   // one that asks with NOOP
    visiting,  // POP3, all visits of a run together
    in_idle,   // of an idling session: a stretch in which it was told of nothing
    notified,  // an IMAP session that uses NOTIFY, as long as the mailbox was open
    by_notify  // of a notified session: a stretch in which the server had agreed to tell
};
inline constexpr std::uint8_t waiting_count = 6;

// In which a server was to tell the session of mail.
[[nodiscard]] constexpr bool is_stretch(waiting what) noexcept {
    return what == waiting::in_idle || what == waiting::by_notify;
}

// What a notification says became of a message for one recipient (RFC 3464 2.3.3).
enum class action : std::uint8_t { failed, delayed, delivered, relayed, expanded };
inline constexpr std::uint8_t action_count = 5;

[[nodiscard]] std::string_view to_text(action what) noexcept;
[[nodiscard]] std::string_view to_text(notice what) noexcept;
[[nodiscard]] std::string_view to_text(waiting what) noexcept;
[[nodiscard]] std::string_view to_text(outcome what) noexcept;
[[nodiscard]] std::string_view to_text(extent what) noexcept;
[[nodiscard]] std::string_view to_text(condition what) noexcept;
[[nodiscard]] std::string_view to_text(way what) noexcept;
[[nodiscard]] std::string_view to_text(role what) noexcept;

// One that is not as it was sent.
[[nodiscard]] constexpr bool is_corrupt(condition what) noexcept {
    return what >= condition::unreadable && what != condition::original;
}

// An enhanced status code such as 5.1.1 (RFC 3463), or nothing; longer texts are cut.
class short_text {
  public:
    short_text() = default;
    explicit short_text(std::string_view text) noexcept {
        for (; size_ < text.size() && size_ < octets_.size(); ++size_) {
            octets_[size_] = text[size_];
        }
    }
    [[nodiscard]] std::string_view view() const noexcept { return {octets_.data(), size_}; }

  private:
    std::array<char, 15> octets_{};
    std::uint8_t size_ = 0;
};

// One recipient's message.
struct sent_row {
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;
    std::uint64_t time_us = 0;  // since the epoch: when the reply came, or the connection broke
    std::uint64_t octets = 0;   // of the message, without what DATA adds
    address_id recipient = 0;
    address_id sender = 0;  // 0: the null reverse path
    outcome what = outcome::accepted;
    // Whether this row stands for what the run's totals count once: over LMTP each row does, over
    // SMTP one row of each transaction.
    bool counted = true;
    std::uint16_t code = 0;  // of the reply; 0: there was none
    short_text enhanced;
    std::uint64_t run = 0;  // whose message it is; 0: the writer's own
};

// One copy of a message in one mailbox; the observing run is the writer's own. Without an identity
// (foreign, original, unreadable, cut off in it) run, session, sequence and sent_us are 0; no run
// of ours is number 0.
struct seen_row {
    std::uint64_t run = 0;
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;
    std::uint64_t time_us = 0;  // when it was seen
    std::uint64_t sent_us = 0;  // the time in its identity
    // Which stored message of the mailbox it was: an IMAP UID, or a hash of POP3's unique id. The
    // same one seen again is no duplicate. 0: every sighting is a message of its own. Uids of one
    // server and one validity (IMAP's UIDVALIDITY; POP3 has none) can be compared.
    std::uint64_t uid = 0;
    std::uint32_t uid_validity = 0;
    address_id server = 0;  // of which it was read; 0: the observer's own
    // Where it stood in the mailbox (an IMAP UID), for the order of messages; 0: by time.
    std::uint64_t place = 0;
    address_id mailbox = 0;  // of the user in whose mailbox it was
    condition what = condition::verified;
    way through = way::smtp;
    std::string detail{};  // of a corrupt one: "truncated at octet 17"
    // With --watch, where the session was told of it before it read it; 0: not.
    std::uint64_t announced_us = 0;
    notice told = notice::visit;
    std::uint32_t watcher = 0;     // which session of the observer
    std::uint64_t arrived_us = 0;  // IMAP's INTERNALDATE, to the second; 0: not known
};

// Why a reader left something unread that the server would have given it: what a reason ends with.
// Any other reason is about the server.
inline constexpr std::string_view only_watched = "only what came in was read, with --watch";
inline constexpr std::string_view wanted_no_more = "-c, -d or the profile wants no more";
inline constexpr std::string_view verified_no_more = "verify wants no more";
inline constexpr std::string_view run_ended_unopened = "the run ended before it was opened";
inline constexpr std::string_view run_ended = "the run ended";

// A reader's visit to a mailbox. Of one run, mailbox, way and server the latest of each extent is
// kept, and of `incoming` each.
struct visit_row {
    // What was accepted before that lay in the mailbox if it was there: the reader asked then what
    // is there. Of `incoming` it was there before, and was not looked at.
    std::uint64_t began_us = 0;
    std::uint64_t ended_us = 0;  // of `incoming`: what came up to then was read
    address_id mailbox = 0;
    address_id server = 0;
    way through = way::pop3;
    extent what = extent::nothing;
    std::uint64_t messages = 0;   // that lay there, as far as known
    std::uint64_t looked_at = 0;  // of these
    std::string reason{};         // why it is not complete
};

// While a reader waited for mail in a mailbox. Of `visiting` one row for each run, mailbox and
// server is kept, from the first of its complete visits to the last.
struct wait_row {
    std::uint64_t session = 0;    // of the observer; 0 for `visiting`
    std::uint64_t opened_us = 0;  // since then the mailbox was open
    std::uint64_t began_us = 0;   // of a stretch: when the server had agreed to it; else opened_us
    std::uint64_t ended_us = 0;   // up to then all that the session was told of was read
    address_id mailbox = 0;
    address_id server = 0;
    way through = way::imap;
    waiting how = waiting::idling;
};

// A message that a reader has told the server to delete or to move away, noted before it does so.
// Whether the server does, later visits show.
struct removed_row {
    std::uint64_t run = 0;
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;
    std::uint64_t uid = 0;  // as in seen_row
    std::uint64_t time_us = 0;
    std::uint32_t uid_validity = 0;
    address_id server = 0;
    address_id mailbox = 0;
    way through = way::pop3;
};

// What a delivery status notification that came back says of a message of ours and one recipient.
struct returned_row {
    std::uint64_t run = 0;
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;
    std::uint64_t time_us = 0;  // when the notification was seen
    address_id recipient = 0;   // whom it names
    address_id mailbox = 0;     // to which it came
    action what = action::failed;
    way through = way::smtp;
    short_text status;     // "5.1.1" (RFC 3463), or nothing
    std::string detail{};  // the words of the server that said so
};

// A run that writes into a ledger.
struct run_entry {
    std::uint64_t run = 0;
    role is = role::sender;
    std::string program;
    std::chrono::system_clock::time_point started{};
    std::uint64_t seed = 0;
    std::vector<std::string> argv;
    // A reader that notes each visit: what is in none of its complete ones was not looked for.
    bool notes_visits = false;
};

}  // namespace postal::ledger
