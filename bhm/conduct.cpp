// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/conduct.hpp"

#include "base/release.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace postal::bhm {

namespace {

constexpr std::size_t kept_recipients = 64;  // room for them in an idle session

}  // namespace

using behaviour::decision;
using behaviour::nanoseconds;
using behaviour::stage;
using behaviour::stage_set;

namespace {

// Those at which somebody is asked about whom RCPT has named before.
constexpr stage_set behind_recipients{stage::data, stage::chunk, stage::end};

}  // namespace

conduct::conduct(behaviour::engine& rules, origin from) : rules_(rules), from_(std::move(from)) {
    here_.listener = from_.listener;
    here_.local = from_.local;
    here_.client = from_.client ? &*from_.client : nullptr;
    here_.session = from_.session;
    of_session_ = rules_.begin(here_);
    if (from_.lmtp && rules_.knows(stage::end)) {
        most_recipients_ = std::numeric_limits<std::size_t>::max();
    } else if (rules_.knows(stage::data) || rules_.knows(stage::chunk) ||
               rules_.knows(stage::end)) {
        most_recipients_ = 1;
    }
}

decision conduct::ask(stage at, nanoseconds now) {
    if (!(reached_by_others() | reached_by_recipient_).contains(at)) return {};
    here_.now = now;
    return rules_.decide(at, here_, of_session_);
}

void conduct::greeted(std::string_view name) {
    helo_.assign(name);
    here_.helo = helo_;
    if (rules_.asks_names()) of_session_ = rules_.begin(here_);
}

decision conduct::at_sender(const proto::path& sender, std::uint64_t declared, nanoseconds now) {
    ++here_.message;
    here_.size = declared == 0 ? std::optional<std::uint64_t>() : declared;
    here_.recipient = nullptr;
    here_.known.reset();
    here_.recipient_number = 0;
    asked_ = {};
    reached_by_recipient_ = {};
    recipients_.clear();
    if (recipients_.capacity() > kept_recipients) base::release(recipients_);
    paths_.clear();
    if (rules_.asks_senders()) {
        senders_.clear();
        shown_sender_ = senders_.at(senders_.keep(sender));
        here_.sender = &shown_sender_;
        reached_by_sender_ = rules_.reached_by_sender(sender);
    }
    return ask(stage::mail, now);
}

void conduct::show(const asked_recipient& one, const proto::path& who) noexcept {
    shown_recipient_ = who;
    here_.recipient = &shown_recipient_;
    here_.known = one.known;
    here_.recipient_number = one.number;
    reached_by_recipient_ = one.reached;
}

void conduct::show(const kept_recipient& one) {
    show(one.asked, paths_.at(one.who));
}

// The path's views are good until the client's next command: behind the answer nobody looks at
// them.
decision conduct::at_recipient(const proto::path& recipient, bool known, nanoseconds now) {
    asked_ = {asked_.number + 1, known, rules_.reached_by_recipient(recipient)};
    show(asked_, recipient);
    const decision made = ask(stage::rcpt, now);
    here_.recipient = nullptr;
    here_.known.reset();
    return made;
}

void conduct::took_recipient(const proto::path& recipient) {
    if (recipients_.size() >= most_recipients_) return;
    const bool may_meet = (reached_by_others() | asked_.reached).contains_any(behind_recipients);
    recipients_.push_back({asked_, may_meet ? paths_.keep(recipient) : kept_paths::place()});
}

// At data and chunk, and over SMTP at end, the first that was taken stands for it.
bool conduct::may_meet_later() const noexcept {
    stage_set reached = reached_by_others();
    if (from_.lmtp || recipients_.empty()) reached |= asked_.reached;
    if (!recipients_.empty()) reached |= recipients_.front().asked.reached;
    return reached.contains_any(behind_recipients);
}

bool conduct::may_judge_deliveries() const noexcept {
    return reached_by_others().contains(stage::end) ||
           std::any_of(recipients_.begin(), recipients_.end(), [](const kept_recipient& one) {
               return one.asked.reached.contains(stage::end);
           });
}

decision conduct::at(stage at, std::uint64_t octets, nanoseconds now) {
    if (at == stage::end) here_.size = octets;
    if (!recipients_.empty()) show(recipients_.front());
    return ask(at, now);
}

decision conduct::at_delivery(std::size_t recipient, std::uint64_t octets, nanoseconds now) {
    here_.size = octets;
    if (recipient < recipients_.size()) show(recipients_[recipient]);
    return ask(stage::end, now);
}

}  // namespace postal::bhm
