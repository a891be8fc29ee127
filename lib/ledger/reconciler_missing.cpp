// SPDX-License-Identifier: GPL-3.0-or-later
// What became of the messages that are not in their recipient's mailbox; see reconciler.hpp.
#include <algorithm>
#include <string_view>

#include "ledger/reconciler.hpp"

namespace postal::ledger {

bool is_given_up(const returned_entry& one) noexcept {
    const std::string_view status = one.status.view();
    return status.starts_with('4') || status.ends_with(".4.7");
}

void reconciler::add_missing(const sent_entry& sent) {
    const returned_entry* back = failure_of(sent);
    if (back == nullptr) return missing_.push_back(&sent);
    ++summary_.bounced;
    report(discrepancy::bounced, sent.number, back->number);
    judged({.sent = &sent, .what = finding::bounced, .back = back});
}

// The first that was seen.
const returned_entry* reconciler::failure_of(const sent_entry& sent) const {
    const returned_entry* first = nullptr;
    for (const returned_entry& one : at_hand_->returned) {
        if (one.recipient != sent.recipient || one.what != action::failed) continue;
        if (first == nullptr || one.time_us < first->time_us) first = &one;
    }
    return first;
}

// A copy in another's mailbox explains one recipient's missing message.
void reconciler::end_missing() {
    summary_.misdelivered += strays_.size();
    for (std::size_t each = 0; each < strays_.size(); ++each) {
        const bool explains = each < missing_.size();
        const std::int64_t whose = explains ? missing_[each]->number : 0;
        report(discrepancy::misdelivered, whose, strays_[each]->number);
        if (!explains) continue;
        report(discrepancy::misplaced, whose, strays_[each]->number);
        judged({missing_[each], finding::misplaced, strays_[each], 0});
    }
    const std::size_t explained = std::min(missing_.size(), strays_.size());
    summary_.misplaced += explained;
    for (std::size_t each = explained; each < missing_.size(); ++each) {
        const sent_entry& sent = *missing_[each];
        if (may_be_seen(sent)) {
            ++summary_.not_known;
            report(discrepancy::not_known, sent.number, 0);
            judged({&sent, finding::not_known, nullptr, 0});
        } else if (looked_for(sent)) {
            ++summary_.lost;
            report(discrepancy::lost, sent.number, 0);
            judged({&sent, finding::lost, nullptr, 0});
        } else {
            ++summary_.not_looked_for;
            ++not_looked_for_[sent.recipient];
            report(discrepancy::not_looked_for, sent.number, 0);
            judged({.sent = &sent,
                    .what = finding::not_looked_for,
                    .refused = how_.readers.refused(sent.recipient)});
        }
    }
}

// After it was accepted, in the place where it should be.
bool reconciler::looked_for(const sent_entry& sent) const {
    const coverage& readers = how_.readers;
    if (readers.visited(sent.recipient)) {
        return readers.read_until(sent.recipient) >= sent.time_us ||
               readers.watched(sent.recipient, sent.time_us);
    }
    return how_.untold || how_.sinks_until_us >= sent.time_us;
}

bool reconciler::may_be_seen(const sent_entry& sent) const {
    return std::any_of(how_.open.unseen.begin(), how_.open.unseen.end(), [&](const auto& each) {
        return each.from_us <= sent.time_us && sent.time_us < each.until_us;
    });
}

}  // namespace postal::ledger
