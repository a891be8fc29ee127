// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/imap_reader.hpp"

#include <algorithm>
#include <unordered_set>

#include "proto/imap/date.hpp"
#include "rabid/choice.hpp"
#include "rabid/phases.hpp"

namespace postal::rabid {

void imap_reader::begin_reading(std::uint32_t there) {
    came_.assign(there, false);
    came_count_ = 0;
    ours_before_ = ours_.size();
}

bool imap_reader::take(const imap_step& step, const proto::imap_mailbox& mailbox) {
    switch (step.event) {
        case imap_event::fetch:
            arrived_us_ = 0;
            break;
        case imap_event::fetch_date:  // before the body or behind it
            arrived_us_ = proto::read_imap_date(step.text);
            break;
        case imap_event::body_begin:
            // The same body twice in one response: the first counts.
            if (state_ != state::between || !step.text.empty()) break;
            state_ = state::body;
            examiner_.begin();
            break;
        case imap_event::body_piece:
            if (state_ == state::body) examiner_.feed(step.text);
            break;
        case imap_event::body_end:
            if (state_ == state::body) state_ = state::behind_body;
            break;
        case imap_event::fetch_end:  // the UID may have come before the body or behind it
            if (state_ != state::behind_body) break;
            finish_message(mailbox);
            return true;
        default:
            break;
    }
    return false;
}

void imap_reader::read_ended(load::steady_time now) noexcept {
    auto& times = context_.shared.counts().latency;
    turns_.read_ended(now, times[static_cast<std::size_t>(phase::retrieve)]);
}

void imap_reader::finish_message(const proto::imap_mailbox& mailbox) {
    const std::uint32_t uid = mailbox.fetched_uid();
    const std::uint32_t number = mailbox.fetched();
    if (number > 0 && number <= came_.size() && !came_[number - 1]) {
        came_[number - 1] = true;
        ++came_count_;
    }
    state_ = state::between;
    turns_.message_ended();
    const examination_result what = examiner_.finish({.uid = uid,
                                                      .uid_validity = mailbox.uid_validity(),
                                                      .place = uid,
                                                      .announced = told_of(number, uid),
                                                      .arrived_us = arrived_us_});
    if (listener_) listener_(examiner_.last(), what);
    if (uid == 0) return;
    const bool known = keys_.size() < most_messages && examiner_.last().run != 0;
    if (known && examiner_.notes().wanted()) keys_.insert_or_assign(uid, examiner_.last());
    if (is_ours(what) && ours_.size() < most_messages) ours_.push_back(uid);
    if (pick_deletion(context_.of_run.chosen, what, random_)) to_delete_.push_back(uid);
}

announcement imap_reader::told_of(std::uint32_t number, std::uint32_t uid) const noexcept {
    const announcement exists = told_ == nullptr ? announcement{} : told_->of(number);
    return folders_ == nullptr ? exists : folders_->of(uid, exists);
}

void imap_reader::removing(std::span<const std::uint32_t> uids, std::uint32_t uid_validity) {
    for (const std::uint32_t uid : uids) {
        const auto known = keys_.find(uid);
        if (known != keys_.end()) examiner_.notes().removing(known->second, uid, uid_validity);
    }
}

void imap_reader::removed(std::span<const std::uint32_t> uids) {
    const std::unordered_set<std::uint32_t> gone(uids.begin(), uids.end());
    std::erase_if(ours_, [&](std::uint32_t uid) { return gone.contains(uid); });
}

}  // namespace postal::rabid
