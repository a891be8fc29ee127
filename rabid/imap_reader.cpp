#include "rabid/imap_reader.hpp"

#include "rabid/choice.hpp"
#include "rabid/phases.hpp"

namespace postal::rabid {

bool imap_reader::take(const imap_step& step, const proto::imap_mailbox& mailbox) {
    switch (step.event) {
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
    const std::uint32_t uid = mailbox.uid(mailbox.fetched());
    state_ = state::between;
    turns_.message_ended();
    const examination_result what =
        examiner_.finish({.uid = uid, .uid_validity = mailbox.uid_validity(), .place = uid});
    if (uid == 0) return;
    if (is_ours(what) && ours_.size() < most_messages) ours_.push_back(uid);
    if (pick_deletion(context_.of_run.chosen, what, random_)) to_delete_.push_back(uid);
}

}  // namespace postal::rabid
