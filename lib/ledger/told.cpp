// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/told.hpp"

#include <algorithm>
#include <limits>

#include "base/saturated.hpp"
#include "ledger/reconciler.hpp"

namespace postal::ledger {

namespace {

using base::saturated_difference;
using base::saturated_sum;

constexpr std::int64_t lain_before_us = 1'000'000;
constexpr std::int64_t second_us = 1'000'000;  // what INTERNALDATE is true to
constexpr auto in_time_us = static_cast<std::int64_t>(told_within_us);

waiting waiting_of(notice how) noexcept {
    if (how == notice::visit) return waiting::visiting;
    if (how == notice::notify) return waiting::notified;
    return how == notice::poll ? waiting::polling : waiting::idling;
}

void lower(std::optional<std::int64_t>& least, std::int64_t value) {
    if (!least || value < *least) least = value;
}

// It was not there yet when the mailbox was opened.
bool came_later(const wait_entry& wait, std::int64_t accepted_us) noexcept {
    return saturated_sum(wait.opened_us, lain_before_us) <= accepted_us;
}

bool removed_from(const told_message& one, std::optional<std::int64_t> server,
                  std::int64_t until_us) {
    return std::any_of(one.removed.begin(), one.removed.end(), [&](const removed_entry& each) {
        return each.mailbox == one.mailbox && (!server || each.server == *server) &&
               each.time_us <= until_us;
    });
}

// Since when at the latest that server had it.
std::optional<std::int64_t> there_since(const told_message& one, std::int64_t server) {
    std::optional<std::int64_t> least;
    for (const seen_entry& each : one.here) {
        // What a server of ours has taken from a relay is in no mailbox yet.
        const bool in_mailbox = each.through == way::imap || each.through == way::pop3;
        if (each.server != server || !in_mailbox) continue;
        lower(least, each.time_us);
        if (each.announced_us != 0) lower(least, each.announced_us);
        if (each.arrived_us != 0)
            lower(least, std::max(one.accepted_us, saturated_sum(each.arrived_us, second_us)));
    }
    return least;
}

// By a session that was to be told, in IDLE or by NOTIFY, long enough while it was there.
bool was_missed(const told_message& one, const wait_entry& wait) {
    if (!came_later(wait, one.accepted_us)) return false;
    if (removed_from(one, wait.server, wait.ended_us)) return false;
    return std::none_of(one.here.begin(), one.here.end(), [&](const seen_entry& each) {
        return each.observer == wait.observer && each.watcher == wait.session &&
               each.server == wait.server && each.announced_us != 0 &&
               each.announced_us <= wait.ended_us;
    });
}

}  // namespace

void told_judge::add(const told_message& one) {
    parts_.clear();
    missed_.clear();
    after_us_.reset();
    counts_ = false;
    find_parts(one);
    find_missed(one);
}

void told_judge::find_parts(const told_message& one) {
    constexpr std::int64_t ever = std::numeric_limits<std::int64_t>::max();
    waits_.for_waiting(one.mailbox, saturated_difference(one.accepted_us, lain_before_us),
                       saturated_sum(one.accepted_us, in_time_us),
                       [&](std::int64_t server, waiting how) {
                           counts_ = true;
                           parts_.push_back({.server = server, .how = how});
                       });
    for (const seen_entry& each : one.here) {
        if (each.announced_us == 0) continue;
        const std::int64_t after = saturated_difference(each.announced_us, one.accepted_us);
        lower(after_us_, after);
        for (told_part& part : parts_)
            if (part.server == each.server && part.how == waiting_of(each.told))
                lower(part.after_us, after);
    }
    std::erase_if(parts_, [&](const told_part& part) {
        return !part.after_us && removed_from(one, part.server, ever);
    });
    if (!after_us_ && removed_from(one, std::nullopt, ever)) counts_ = false;
}

void told_judge::find_missed(const told_message& one) {
    servers_.clear();
    for (const seen_entry& each : one.here)
        if (std::find(servers_.begin(), servers_.end(), each.server) == servers_.end())
            servers_.push_back(each.server);
    for (const std::int64_t server : servers_) {
        const auto since = there_since(one, server);
        if (!since) continue;
        waits_.for_stretches(one.mailbox, *since, saturated_sum(*since, in_time_us),
                             [&](const wait_entry& wait) {
                                 if (wait.server == server && was_missed(one, wait))
                                     missed_.push_back(wait.number);
                             });
    }
}

}  // namespace postal::ledger
