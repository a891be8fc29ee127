// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/announcements.hpp"

#include <algorithm>
#include <limits>

namespace postal::rabid {

using ledger::notice;
using proto::imap_event;

void announcements::begin(std::uint32_t there, notice how) {
    *this = {};
    base_ = there_ = there;
    how_ = how;
    watching_ = true;
}

announcements::news announcements::take(const proto::imap_step& step, std::uint64_t time_us) {
    if (!watching_) return {};
    switch (step.event) {
        case imap_event::exists:
            return on_exists(step.number, time_us);
        case imap_event::expunge:
            on_gone(step.number);
            break;
        case imap_event::vanished: {
            if (step.earlier) break;
            const std::uint64_t size = std::uint64_t{step.range.last} - step.range.first + 1;
            const auto gone = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, there_));
            there_ -= gone;
            base_ -= std::min(base_, gone);
            for (told_of& each : kept_)
                each.last -= std::min(each.last, gone);
            break;
        }
        case imap_event::continuation:
            if (how_ == notice::early) how_ = notice::idle;
            break;
        default:
            break;
    }
    return {};
}

announcements::news announcements::on_exists(std::uint64_t count, std::uint64_t time_us) {
    news made;
    made.how = how_;
    if (count > std::numeric_limits<std::uint32_t>::max()) return made;
    const auto now = static_cast<std::uint32_t>(count);
    if (now > there_) {
        made.messages = now - there_;
        // Who is not read yet by then is told of at the latest with what comes now.
        if (kept_.size() == most_kept) kept_.pop_back();
        kept_.push_back({{time_us, how_}, now});
    } else if (now < there_) {
        made.taken_back = there_ - now;
        base_ = std::min(base_, now);
        for (told_of& each : kept_)
            each.last = std::min(each.last, now);
    }
    there_ = now;
    return made;
}

// What stood before it stays, what stood behind it moves up.
void announcements::on_gone(std::uint64_t number) {
    if (number == 0 || number > there_) return;
    --there_;
    if (number <= base_) --base_;
    for (told_of& each : kept_)
        if (each.last >= number) --each.last;
}

announcement announcements::of(std::uint32_t number) const noexcept {
    if (!watching_ || number <= base_) return {};
    const auto found = std::partition_point(
        kept_.begin(), kept_.end(), [number](const told_of& one) { return one.last < number; });
    return found == kept_.end() ? announcement{} : found->what;
}

void announcements::forget(std::uint32_t up_to) {
    base_ = std::max(base_, std::min(up_to, there_));
    std::erase_if(kept_, [this](const told_of& one) { return one.last <= base_; });
}

}  // namespace postal::rabid
