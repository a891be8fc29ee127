// SPDX-License-Identifier: GPL-3.0-or-later
// The table of counters, and what follows from it alone.
#include "stats/counters.hpp"

#include <algorithm>
#include <array>

namespace postal::stats {
namespace {

using enum counter_kind;
using by = counted_by;

// A counter is one or two lines, not a field a line.
// clang-format off
constexpr std::array counter_table{
    counter{.name = "due", .title = "due", .value = &counts::due, .kind = schedule, .by = by::open_loops},
    counter{.name = "started", .title = "started", .value = &counts::started, .kind = begun, .log = logged::extended},
    counter{.name = "messages", .title = "accepted", .value = &counts::messages, .kind = outcome,
            .log = logged::always, .meaning = "the server took responsibility"},
    counter{.name = "bytes", .title = "data", .value = &counts::bytes, .kind = traffic, .log = logged::always,
            .unit = counter_unit::octets, .column = "data(K)"},
    counter{.name = "recipients", .title = "recipients", .one = "recipient", .value = &counts::recipients,
            .kind = traffic, .log = logged::extended},
    counter{.name = "errors", .title = "errors", .value = &counts::error_events, .kind = error, .log = logged::always,
            .failure = true},
    counter{.name = "connections", .title = "connections", .one = "connection", .value = &counts::connections,
            .kind = traffic, .log = logged::always},
    counter{.name = "tls_connections", .title = "with TLS", .value = &counts::tls_connections, .kind = traffic,
            .log = logged::always, .part = true, .column = "SSL connections"},
    counter{.name = "idle_closes", .title = "closed idle", .value = &counts::idle_closes, .kind = traffic,
            .by = by::servers, .rare = true, .part = true},
    counter{.name = "deleted", .title = "deleted", .value = &counts::deleted, .kind = mailbox, .by = by::readers},
    counter{.name = "imap_connections", .title = "IMAP connections", .one = "IMAP connection",
            .value = &counts::imap_connections, .kind = mailbox, .by = by::readers, .log = logged::always,
            .column = "IMAP connections"},
    counter{.name = "delete_in_doubt", .title = "deletions in doubt", .one = "deletion in doubt",
            .value = &counts::delete_in_doubt, .kind = mailbox, .by = by::readers, .rare = true},
    counter{.name = "appended", .title = "appended", .value = &counts::appended, .kind = mailbox, .by = by::readers,
            .log = logged::extended},
    counter{.name = "append_in_doubt", .title = "appended in doubt", .value = &counts::append_in_doubt,
            .kind = mailbox, .by = by::readers, .rare = true},
    counter{.name = "wanted", .title = "wanted in mailboxes", .value = &counts::wanted, .kind = mailbox,
            .by = by::readers, .rare = true},
    counter{.name = "present", .title = "found there", .value = &counts::present, .kind = mailbox,
            .by = by::readers, .rare = true},
    counter{.name = "confirmed", .title = "confirmed at the end", .value = &counts::confirmed, .kind = mailbox,
            .by = by::readers, .rare = true},
    counter{.name = "missing", .title = "missing at the end", .value = &counts::missing, .kind = mailbox,
            .by = by::readers, .failure = true, .rare = true,
            .remark = "messages had been there or acknowledged with OK to APPEND, and were missing at the end"},
    counter{.name = "append_lost", .title = "acknowledged and gone", .value = &counts::append_lost, .kind = mailbox,
            .by = by::readers, .failure = true, .rare = true,
            .remark = "messages had been there or acknowledged, were gone when looked for, and were appended again"},
    counter{.name = "changed", .title = "changed", .value = &counts::changed, .kind = mailbox, .by = by::readers,
            .failure = true, .rare = true,
            .remark = "messages were there, with content, flags or a date that they were not made with"},
    counter{.name = "misplaced", .title = "in a wrong folder", .value = &counts::misplaced, .kind = mailbox,
            .by = by::readers, .failure = true, .rare = true,
            .remark = "copies lay in folders that they were not made for"},
    counter{.name = "others", .title = "of others", .value = &counts::others, .kind = mailbox, .by = by::readers,
            .rare = true},
    counter{.name = "imap_commands", .title = "IMAP commands", .one = "IMAP command", .value = &counts::imap_commands,
            .kind = mailbox, .by = by::readers, .log = logged::extended},
    counter{.name = "oversized", .title = "too big", .value = &counts::oversized, .kind = mailbox, .by = by::readers,
            .failure = true, .rare = true, .remark = "messages were larger than --max-message, and were not read"},
    counter{.name = "announced", .title = "announced", .value = &counts::announced, .kind = mailbox, .by = by::readers,
            .rare = true},
    counter{.name = "announced_early", .title = "before IDLE's continuation", .value = &counts::announced_early,
            .kind = mailbox, .by = by::readers, .rare = true, .part = true},
    counter{.name = "notify_overflows", .title = "NOTIFY given up", .value = &counts::notify_overflows,
            .kind = mailbox, .by = by::readers, .failure = true, .rare = true,
            .remark = "times the server said NOTIFICATIONOVERFLOW, and told of nothing more"},
    counter{.name = "announced_shrunk", .title = "EXISTS that shrank",
            .value = &counts::announced_shrunk, .kind = mailbox, .by = by::readers, .rare = true,
            .remark = "times an EXISTS counted fewer messages than before, without EXPUNGE"},
    counter{.name = "announced_absent", .title = "announced and not there", .value = &counts::announced_absent,
            .kind = mailbox, .by = by::readers, .failure = true, .rare = true,
            .remark = "messages were announced with EXISTS and could not be fetched, although none of them was deleted"},
    counter{.name = "rejected", .title = "rejected", .value = &counts::rejected, .kind = outcome,
            .log = logged::extended, .failure = true, .meaning = "refused for good, 5xx"},
    counter{.name = "deferred", .title = "deferred", .value = &counts::deferred, .kind = outcome,
            .log = logged::extended, .failure = true, .meaning = "refused for now, 4xx"},
    counter{.name = "failed", .title = "failed", .value = &counts::failed, .kind = outcome, .log = logged::extended,
            .failure = true, .meaning = "broke off or was given up before the data was complete"},
    counter{.name = "in_doubt", .title = "in doubt", .value = &counts::in_doubt, .kind = outcome,
            .log = logged::extended, .failure = true, .meaning = "connection lost before the final reply",
            .remark = "messages are in doubt: the connection was lost between their data and the "
                      "reply, so they may have arrived"},
    counter{.name = "unheard", .title = "accepted and not heard", .value = &counts::unheard, .kind = begun,
            .by = by::servers, .failure = true, .rare = true,
            .remark = "messages were accepted, but their clients had gone before they could hear so, and will "
                      "send them again"},
    counter{.name = "withdrawn", .title = "withdrawn", .value = &counts::withdrawn, .kind = begun,
            .by = by::servers, .failure = true, .rare = true,
            .remark = "deliveries waited for an agent when their clients left, and were withdrawn"},
    counter{.name = "transactions", .title = "transactions", .one = "transaction", .value = &counts::transactions,
            .kind = traffic, .by = by::servers},
    counter{.name = "pipelined", .title = "pipelined", .value = &counts::pipelined, .kind = traffic, .by = by::servers,
            .part = true},
    counter{.name = "deferred_recipients", .title = "recipients deferred", .one = "recipient deferred",
            .value = &counts::deferred_recipients, .kind = retry, .by = by::deferrers},
    counter{.name = "taken_after_retry", .title = "taken after a retry", .value = &counts::taken_after_retry,
            .kind = retry, .by = by::deferrers},
    counter{.name = "rejected_after_retry", .title = "rejected after a retry", .value = &counts::rejected_after_retry,
            .kind = retry, .by = by::deferrers, .rare = true},
    counter{.name = "still_deferred", .title = "still deferred", .value = &counts::still_deferred, .kind = retry,
            .by = by::deferrers},
    counter{.name = "not_retried", .title = "not retried", .value = &counts::not_retried, .kind = retry,
            .by = by::deferrers},
    counter{.name = "retries", .title = "retries", .one = "retry", .value = &counts::retries, .kind = retry,
            .by = by::deferrers},
    counter{.name = "retries_forgotten", .title = "forgotten", .value = &counts::retries_forgotten, .kind = retry,
            .by = by::deferrers, .rare = true,
            .remark = "deferred recipients were forgotten, since later ones took their place: what became of them is "
                      "not known"},
    counter{.name = "grey_first", .title = "for the first time", .value = &counts::grey_first, .kind = greylist,
            .by = by::deferrers, .rare = true},
    counter{.name = "grey_early", .title = "too early", .value = &counts::grey_early, .kind = greylist,
            .by = by::deferrers, .rare = true},
    counter{.name = "grey_late", .title = "too late", .value = &counts::grey_late, .kind = greylist,
            .by = by::deferrers, .rare = true},
    counter{.name = "grey_passed", .title = "let pass", .value = &counts::grey_passed, .kind = greylist,
            .by = by::deferrers, .rare = true},
    counter{.name = "grey_in_time", .title = "retried in time", .value = &counts::grey_in_time, .kind = greylist,
            .by = by::deferrers, .rare = true, .part = true},
    counter{.name = "not_started", .title = "never begun", .value = &counts::not_started, .kind = schedule,
            .failure = true, .rare = true, .remark = "were due and never begun"},
    counter{.name = "verified", .title = "verified", .value = &counts::verified, .kind = integrity,
            .by = by::checkers},
    counter{.name = "foreign", .title = "foreign", .value = &counts::foreign, .kind = integrity, .by = by::checkers},
    counter{.name = "corrupt", .title = "corrupt", .value = &counts::corrupt, .kind = integrity, .by = by::checkers,
            .failure = true, .remark = "messages were corrupt"},
    counter{.name = "duplicate", .title = "duplicate", .value = &counts::duplicate, .kind = integrity,
            .by = by::checkers, .failure = true, .remark = "messages were duplicate"},
    counter{.name = "original", .title = "of the original postal", .value = &counts::original, .kind = integrity,
            .by = by::readers, .rare = true},
    counter{.name = "bounces_sent", .title = "bounces sent", .one = "bounce sent", .value = &counts::bounces_sent,
            .kind = traffic, .by = by::sinks, .rare = true},
    counter{.name = "bounces_failed", .title = "bounces not sent", .one = "bounce not sent",
            .value = &counts::bounces_failed, .kind = traffic, .by = by::sinks, .failure = true, .rare = true,
            .remark = "bounces could not be sent"},
    counter{.name = "stored", .title = "stored", .value = &counts::stored, .kind = traffic, .by = by::sinks,
            .rare = true},
    counter{.name = "not_stored", .title = "not stored", .value = &counts::not_stored, .kind = traffic,
            .by = by::sinks, .failure = true, .rare = true,
            .remark = "messages were accepted and not kept: the store was full, or could not be written"},
};
// clang-format on

static_assert(sizeof(counts) == counter_table.size() * sizeof(std::uint64_t),
              "each member of counts has a row");

}  // namespace

void counts::add(const counts& other) noexcept {
    for (const counter& one : counter_table)
        this->*one.value += other.*one.value;
}

bool counts::none() const noexcept {
    return std::all_of(counter_table.begin(), counter_table.end(),
                       [this](const counter& one) { return this->*one.value == 0; });
}

counter_rows all_counters() noexcept {
    return counter_table;
}

std::string_view where_counted(counted_by by) noexcept {
    switch (by) {
        case counted_by::open_loops:
            return "with --open-loop";
        case counted_by::servers:
            return "by servers";
        case counted_by::deferrers:
            return "by a server with a rule or a user that defers recipients";
        case counted_by::readers:
            return "by readers of mail";
        case counted_by::checkers:
            return "where messages are verified";
        case counted_by::sinks:
            return "where accepted mail is stored or bounced";
        case counted_by::all:
            break;
    }
    return "in runs";
}

const counter* find_counter(counter_rows rows, std::string_view name) noexcept {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const counter& one) { return one.name == name; });
    return found == rows.end() ? nullptr : &*found;
}

}  // namespace postal::stats
