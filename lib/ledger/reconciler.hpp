// SPDX-License-Identifier: GPL-3.0-or-later
// Compares what was sent with what was seen, message by message: the judgement behind a ledger's
// report, without the database.
//
// Messages come in falling order of (run, session, sequence), each once and whole. For one
// recipient of a message:
//   found            seen in the recipient's own mailbox
//   bounced          acknowledged, not in that mailbox, and a notification of failure came back
//                    that names the recipient: who accepted it has said what became of it
//   vanished         the same as found, but its mailbox was read completely after the last
//                    sighting, without it, and no reader has told the server to remove as many
//                    copies as there were: of these, and not of what was there before. A copy
//                    that was seen behind removed_entry::until_us was not removed by then
//   lost             acknowledged (accepted), and seen nowhere, although its mailbox was read
//                    completely, or watched, afterwards (coverage.hpp); or no reader has visited
//                    that, and a sink was there
//   not looked for   acknowledged and seen nowhere, and nobody has looked
//   not known        the same, at a time for which an observer that has not noted its end may have
//                    seen it without having written that down: unfinished_runs::unseen
//   misplaced        acknowledged, missing, and explained by a copy in another's mailbox
//   unacknowledged   not accepted, and found all the same
//   duplicated       found in more copies than one. Messages that came over SMTP or LMTP are copies
//                    of their own; of a mailbox, those with different uids are, and without uids
//                    those that one run saw. Uids are compared within a server and a validity:
//                    those of another validity are the same mailbox made anew, and not added up,
//                    while those of another server are.
//                    What rabid --populate has put into a mailbox, later runs may put there again
//                    when it is gone: of such a message the rows of a recipient are one, that
//                    which was accepted last, and copies that a later complete visit did not see
//                    are not added to those that it did. Its dates are of the past and its order
//                    is that of runs, so delivery and order say nothing.
//   misdelivered     seen in a mailbox that belongs to none of the message's recipients
//   unwritten        a copy in a mailbox to which no row says that it was sent, but its sender has
//                    not noted its end, and may yet say so
//   out of order     of one sender to one recipient, in one session: seen after a message that was
//                    accepted later (RFC 4737's reordered). Of POP3 visits that chose what to
//                    read nobody knows: order_unknown
//   missed           a stretch in IDLE in which a session was not told of the message: told.hpp
// Copies of one mailbox that were found through different protocols are not added up.
//
// Limits: the order is checked for the first four million pairs of sender and recipient of each
// session; order_is_whole says whether that was all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ledger/coverage.hpp"
#include "ledger/rows.hpp"
#include "ledger/size_class.hpp"
#include "ledger/told.hpp"

namespace postal::ledger {

enum class discrepancy : std::uint8_t {
    lost,
    unacknowledged,
    duplicated,
    corrupt,
    misdelivered,
    out_of_order,
    misplaced,
    not_known,
    vanished,
    not_looked_for,
    bounced,
    missed  // each session that missed it counts
};
inline constexpr std::size_t discrepancy_count = 12;
using discrepancy_counts = std::array<std::uint64_t, discrepancy_count>;

// Rows as they stand in the file: numbers of rows, addresses and runs.
struct sent_entry {
    std::int64_t number = 0;
    std::int64_t recipient = 0;
    std::int64_t sender = 0;
    outcome what = outcome::accepted;
    std::int64_t time_us = 0;
};

struct seen_entry {
    std::int64_t number = 0;
    std::int64_t observer = 0;
    std::int64_t mailbox = 0;
    std::int64_t server = 0;
    std::int64_t uid_validity = 0;
    std::int64_t uid = 0;
    std::int64_t place = 0;
    std::int64_t time_us = 0;
    std::int64_t sent_us = 0;
    condition what = condition::verified;
    way through = way::smtp;
    std::int64_t announced_us = 0;  // 0: the session was not told before it read it
    std::int64_t watcher = 0;
    std::int64_t arrived_us = 0;  // 0: not known
    notice told = notice::visit;
};

// A copy that a reader has told the server to remove.
struct removed_entry {
    std::int64_t mailbox = 0;
    std::int64_t server = 0;
    std::int64_t uid_validity = 0;
    std::int64_t uid = 0;
    way through = way::pop3;
    std::int64_t time_us = 0;
    // By then the server has removed it, if it does: a minute later, or when the reader has ended.
    std::int64_t until_us = std::numeric_limits<std::int64_t>::max();

    auto operator<=>(const removed_entry&) const = default;
};

// What a notification said of it.
struct returned_entry {
    std::int64_t number = 0;
    std::int64_t recipient = 0;
    std::int64_t time_us = 0;
    action what = action::failed;
    short_text status{};
};

struct message_entry {
    std::int64_t run = 0;
    std::int64_t session = 0;
    std::int64_t octets = size_not_recorded;
    // rabid --populate: of a mailbox, which later runs mend. Rows of one recipient are one message.
    bool population = false;
    std::vector<sent_entry> sent;
    std::vector<seen_entry> seen;
    std::vector<removed_entry> removed;
    std::vector<returned_entry> returned;
};

// What runs leave open that have not noted their end: they run still, or were killed.
struct unfinished_runs {
    struct time_span {
        std::int64_t from_us = 0;
        std::int64_t until_us = 0;
    };
    // What was accepted then may have been seen.
    std::vector<time_span> unseen;
    // Senders: up to when all outcomes are written, by run.
    std::unordered_map<std::int64_t, std::int64_t> senders;
    // When readers may have removed what they have not written down.
    std::vector<time_span> removing;
};

// Where and until when messages were looked for.
struct observation {
    unfinished_runs open;
    coverage readers;
    // What was accepted before, a sink would have seen; `never` without sinks.
    std::int64_t sinks_until_us = coverage::never;
    // Somebody looked and does not say where: thought to be everywhere.
    bool untold = false;
    waits who_waited{};
};

// Of one class of sizes.
struct counted_size {
    std::uint64_t acknowledged = 0;
    discrepancy_counts found{};
};

struct summary {
    std::array<std::uint64_t, 5> sent{};  // recipients' messages by outcome
    std::uint64_t sightings = 0;          // of messages with an identity
    std::uint64_t foreign = 0;
    std::uint64_t original = 0;   // of the original postal, corrupt or not
    std::uint64_t unwritten = 0;  // copies
    std::uint64_t unchecked = 0;  // copies of which the content was not looked at
    std::uint64_t unknown = 0;    // copies of messages that no run of this ledger has sent
    // Of those acknowledged: they add up to sent[accepted].
    std::uint64_t found = 0;
    std::uint64_t vanished = 0;
    std::uint64_t lost = 0;
    std::uint64_t not_looked_for = 0;
    std::uint64_t not_known = 0;
    std::uint64_t misplaced = 0;
    std::uint64_t bounced = 0;
    std::array<std::uint64_t, 5> unacknowledged{};  // by outcome
    std::uint64_t duplicated = 0;                   // recipients' messages
    std::uint64_t extra_copies = 0;
    // Of the duplicated: those that two servers show with the same uid and validity.
    std::uint64_t same_on_two_servers = 0;
    std::array<std::uint64_t, condition_count> corrupt{};  // copies
    std::uint64_t corrupt_acknowledged = 0;
    std::uint64_t misdelivered = 0;
    std::uint64_t out_of_order = 0;
    std::uint64_t order_unknown = 0;     // recipients' messages
    std::uint64_t missed = 0;            // notifications, each session's for itself
    std::uint64_t seen_before_sent = 0;  // the clocks of the two hosts differ
    bool order_is_whole = true;
    std::array<counted_size, size_class_count> sizes{};  // by size_class_of()

    [[nodiscard]] std::uint64_t acknowledged() const noexcept { return sent[0]; }
    [[nodiscard]] std::uint64_t all_unacknowledged() const noexcept;
    [[nodiscard]] std::uint64_t all_corrupt() const noexcept;
    // Something that the server has acknowledged is not there as it should be.
    [[nodiscard]] bool broken_promise() const noexcept {
        return lost + vanished + misplaced + corrupt_acknowledged > 0;
    }
};

// What became of one recipient's message that was acknowledged or found.
enum class finding : std::uint8_t {
    found,
    vanished,
    misplaced,
    bounced,
    not_known,
    not_looked_for,
    lost
};

struct judgement {
    const sent_entry* sent = nullptr;
    finding what = finding::found;
    // The first sighting; of a misplaced one that in another's mailbox; else null.
    const seen_entry* first = nullptr;
    std::size_t copies = 0;  // in the recipient's mailbox
    // Of a bounced one the first notification; else null.
    const returned_entry* back = nullptr;
    // Of one not looked for: a reader has asked for its mailbox, and the server gave it less than
    // all (coverage.hpp).
    bool refused = false;
    std::span<const seen_entry> here{};  // what was seen in the recipient's mailbox
};

// When readers were told of an acknowledged message that was looked for while they waited.
struct told_of {
    std::int64_t mailbox = 0;
    std::optional<std::int64_t> after_us{};  // its acceptance; nothing: never
    std::span<const told_part> parts{};
};

// Whether a notification's status says that the message was not delivered in time (RFC 3463: the
// class of what may pass, or X.4.7), and not that somebody refused it for good.
[[nodiscard]] bool is_given_up(const returned_entry& one) noexcept;

class reconciler {
  public:
    struct listener {
        // Numbers of rows; 0 where there is none.
        std::function<void(discrepancy, std::int64_t sent, std::int64_t seen)> on_discrepancy;
        // From the time in the identity to the first sighting in the recipient's mailbox.
        std::function<void(std::int64_t us)> on_delivery;
        // Each row of `sent` that was acknowledged or found; valid during the call.
        std::function<void(const judgement&)> on_judged;
        // Each row of `sent`, and its earliest copy in the recipient's mailbox, or 0.
        std::function<void(std::int64_t sent, std::int64_t seen)> on_sent{};
        std::function<void(const told_of&)> on_told{};
    };

    explicit reconciler(listener who, observation how = {})
        : who_(std::move(who)), how_(std::move(how)), told_(std::move(how_.who_waited)) {}

    // Sorts the message's rows.
    void add(message_entry& one);
    // One without an identity.
    void add_stranger(condition what, std::int64_t seen);

    [[nodiscard]] const summary& result() const noexcept { return summary_; }
    // How many were not looked for, by mailbox.
    [[nodiscard]] const std::unordered_map<std::int64_t, std::uint64_t>& not_looked_for()
        const noexcept {
        return not_looked_for_;
    }
    [[nodiscard]] const coverage& readers() const noexcept { return how_.readers; }

  private:
    using span = std::span<const seen_entry>;
    // Where a message stood among those of its mailbox.
    using position = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
    // (sender, recipient, observer, uid validity, way)
    using stream = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, way>;
    struct stream_hash {
        std::size_t operator()(const stream& of) const noexcept;
    };

    void merge_sent(std::vector<sent_entry>& sent);
    bool counts_as_copy(span copy) const;
    void add_sent(const sent_entry& sent, span here);
    void add_found(const sent_entry& sent, span here);
    finding judge_presence(const sent_entry& sent, span here, std::size_t copies);
    template <class Count>
    std::size_t find_most(span here, Count count);
    std::size_t count_copies(const sent_entry& sent, span here);
    void count_stray(const message_entry& one, span here);
    const returned_entry* failure_of(const sent_entry& sent) const;
    void add_missing(const sent_entry& sent);
    bool may_be_seen(const sent_entry& sent) const;
    bool looked_for(const sent_entry& sent) const;
    const seen_entry* gone_since(span here, std::size_t copies) const;
    std::size_t count_removed(span here, const seen_entry& last, std::size_t copies) const;
    bool may_be_removed(std::int64_t from_us, std::int64_t until_us) const;
    void count_same(span a, span b);
    void count_damage(span here, std::int64_t sent, outcome what);
    void count_delivery(span here);
    void check_order(const sent_entry& sent, span here);
    void end_missing();
    void report(discrepancy what, std::int64_t sent, std::int64_t seen);
    void judged(const judgement& one);
    void judge_told(const judgement& one);

    listener who_;
    observation how_;
    told_judge told_;
    summary summary_;
    std::unordered_map<std::int64_t, std::uint64_t> not_looked_for_;
    const message_entry* at_hand_ = nullptr;
    std::vector<const sent_entry*> missing_;  // of the message at hand
    std::vector<const seen_entry*> strays_;   // one for each mailbox
    std::vector<span> most_;                  // one for each server
    std::vector<span> of_this_way_;
    std::pair<std::int64_t, std::int64_t> session_{-1, -1};         // run, session
    std::unordered_map<stream, position, stream_hash> first_seen_;  // of what was accepted later
};

}  // namespace postal::ledger
