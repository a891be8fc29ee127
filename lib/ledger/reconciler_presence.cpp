// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the messages that were seen in their recipient's mailbox are there still; see
// reconciler.hpp.
#include <algorithm>

#include "ledger/copies.hpp"
#include "ledger/reconciler.hpp"

namespace postal::ledger {

namespace {

// When that copy was seen last; `never`, also of one without a uid. Sightings stand in their order.
std::int64_t seen_last(std::span<const seen_entry> here, const removed_entry& copy) {
    if (copy.uid == 0) return coverage::never;
    const auto place = place_of_copy(copy);
    auto at = std::partition_point(here.begin(), here.end(), [&](const seen_entry& one) {
        return place_of_copy(one) < place;
    });
    std::int64_t last_us = coverage::never;
    for (; at != here.end() && place_of_copy(*at) == place; ++at)
        last_us = std::max(last_us, at->time_us);
    return last_us;
}

bool is_same_copy(const removed_entry& a, const removed_entry& b) {
    return a.uid != 0 && a.mailbox == b.mailbox && place_of_copy(a) == place_of_copy(b);
}

}  // namespace

// It was seen; is it there still? What is judged as found may be gone, but nobody can know.
finding reconciler::judge_presence(const sent_entry& sent, span here, std::size_t copies) {
    const seen_entry* last = gone_since(here, copies);
    if (last == nullptr) {
        ++summary_.found;
        return finding::found;
    }
    if (may_be_removed(last->time_us, how_.readers.read_until(last->mailbox))) {
        ++summary_.not_known;
        report(discrepancy::not_known, sent.number, last->number);
        return finding::found;
    }
    ++summary_.vanished;
    report(discrepancy::vanished, sent.number, last->number);
    return finding::vanished;
}

// The last sighting, when the mailbox was read completely after it; null when that was not so, or
// readers have removed as many copies as there were.
const seen_entry* reconciler::gone_since(span here, std::size_t copies) const {
    const seen_entry* last = nullptr;
    for (const seen_entry& one : here) {
        if (is_mailbox(one.through) && (last == nullptr || last->time_us < one.time_us))
            last = &one;
    }
    if (last == nullptr || how_.readers.read_until(last->mailbox) <= last->time_us) return nullptr;
    return count_removed(here, *last, copies) < copies ? last : nullptr;
}

// How many copies readers have told the server to remove and nobody has seen behind that. Where
// there is one, any sighting of the message is of it, or of another that came in its place.
std::size_t reconciler::count_removed(span here, const seen_entry& last, std::size_t copies) const {
    const auto& all = at_hand_->removed;
    std::size_t count = 0;
    for (auto at = all.begin(); at != all.end();) {
        const removed_entry& copy = *at;
        std::int64_t until_us = copy.until_us;
        for (++at; at != all.end() && is_same_copy(copy, *at); ++at)
            until_us = std::max(until_us, at->until_us);
        if (copy.mailbox != last.mailbox) continue;
        const std::int64_t seen_us = copies == 1 ? last.time_us : seen_last(here, copy);
        if (seen_us <= until_us) ++count;
    }
    return count;
}

bool reconciler::may_be_removed(std::int64_t from_us, std::int64_t until_us) const {
    const auto& all = how_.open.removing;
    return std::any_of(all.begin(), all.end(), [&](const auto& each) {
        return each.from_us < until_us && from_us < each.until_us;
    });
}

}  // namespace postal::ledger
