// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/coverage.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/saturated.hpp"

namespace postal::ledger {

namespace {

// A message that is acknowledged now may have been put there before: so long it may have lain there
// when a watch began, which then passed over it.
constexpr std::int64_t delivered_before_us = 1'000'000;

auto store_of(const visit_entry& one) {
    return std::make_pair(one.through, one.server);
}

bool is_of_reader(std::string_view reason) {
    const auto all = {only_watched, wanted_no_more, verified_no_more, run_ended_unopened,
                      run_ended};
    return std::any_of(all.begin(), all.end(),
                       [&](std::string_view each) { return reason.ends_with(each); });
}

bool let_in(const visit_entry& one) {
    return one.what != extent::nothing;
}

}  // namespace

void coverage::add(visit_entry one) {
    if (!of_one_.empty() && of_one_.front().mailbox != one.mailbox) judge_mailbox();
    of_one_.push_back(std::move(one));
}

void coverage::finish() {
    judge_mailbox();
}

void coverage::judge_mailbox() {
    if (of_one_.empty()) return;
    std::sort(of_one_.begin(), of_one_.end(),
              [](const auto& a, const auto& b) { return store_of(a) < store_of(b); });
    mailbox_state& into = mailboxes_[of_one_.front().mailbox];
    std::int64_t latest_us = never;
    for (auto way_from = of_one_.begin(); way_from != of_one_.end();) {
        const way through = way_from->through;
        std::int64_t all_stores_us = std::numeric_limits<std::int64_t>::max();
        bool any = false;
        auto at = way_from;
        while (at != of_one_.end() && at->through == through) {
            const auto store = store_of(*at);
            std::int64_t complete_us = never;
            bool open = false;
            for (; at != of_one_.end() && store_of(*at) == store; ++at) {
                open = open || let_in(*at);
                if (at->what == extent::complete) complete_us = std::max(complete_us, at->began_us);
            }
            if (!open) continue;
            any = true;
            all_stores_us = std::min(all_stores_us, complete_us);
        }
        if (any) into.read_until_us = std::max(into.read_until_us, all_stores_us);
        way_from = at;
    }
    for (visit_entry& one : of_one_) {
        const std::int64_t from_us = base::saturated_sum(one.began_us, delivered_before_us);
        if (one.what == extent::incoming && from_us <= one.ended_us)
            into.watched.push_back({from_us, one.ended_us});
        if (one.what == extent::partly && one.through == way::pop3)
            into.in_parts.push_back(one.observer);
        if (one.what == extent::complete || one.began_us < latest_us) continue;
        latest_us = one.began_us;
        into.reason = std::move(one.reason);
    }
    std::sort(into.in_parts.begin(), into.in_parts.end());
    into.refused = latest_us != never && !is_of_reader(into.reason);
    if (latest_us <= into.read_until_us) into.reason.clear();
    of_one_.clear();
}

std::int64_t coverage::read_until(std::int64_t mailbox) const {
    const auto found = mailboxes_.find(mailbox);
    return found == mailboxes_.end() ? never : found->second.read_until_us;
}

bool coverage::watched(std::int64_t mailbox, std::int64_t time_us) const {
    const auto found = mailboxes_.find(mailbox);
    if (found == mailboxes_.end()) return false;
    const auto& all = found->second.watched;
    return std::any_of(all.begin(), all.end(), [time_us](const time_span& each) {
        return each.from_us <= time_us && time_us <= each.until_us;
    });
}

bool coverage::read_in_parts(std::int64_t mailbox, std::int64_t observer) const {
    const auto found = mailboxes_.find(mailbox);
    if (found == mailboxes_.end()) return false;
    const auto& all = found->second.in_parts;
    return std::binary_search(all.begin(), all.end(), observer);
}

bool coverage::refused(std::int64_t mailbox) const {
    const auto found = mailboxes_.find(mailbox);
    return found != mailboxes_.end() && found->second.refused;
}

std::string coverage::reason(std::int64_t mailbox) const {
    const auto found = mailboxes_.find(mailbox);
    if (found == mailboxes_.end()) return "no reader visited it";
    const mailbox_state& is = found->second;
    if (!is.reason.empty()) return is.reason;
    return is.read_until_us == never ? "not all of it was read"
                                     : "it was read before that, and not since";
}

}  // namespace postal::ledger
