#include "bhm/conduct.hpp"

#include "base/release.hpp"

#include <limits>
#include <utility>

namespace postal::bhm {

namespace {

constexpr std::size_t kept_recipients = 64;  // room for them in an idle session

}  // namespace

using behaviour::decision;
using behaviour::nanoseconds;
using behaviour::stage;

void conduct::kept_path::keep(const proto::path& from) {
    mailbox.assign(from.mailbox);
    shape = from;
    shape.mailbox = shape.local_part = shape.domain = {};
    local_octets = from.local_part.size();
}

proto::path conduct::kept_path::view() const noexcept {
    proto::path made = shape;
    made.mailbox = mailbox;
    made.local_part = made.mailbox.substr(0, local_octets);
    if (local_octets < mailbox.size()) made.domain = made.mailbox.substr(local_octets + 1);
    return made;
}

conduct::conduct(behaviour::engine& rules, origin from) : rules_(rules), from_(std::move(from)) {
    here_.listener = from_.listener;
    here_.local = from_.local;
    here_.client = from_.client ? &*from_.client : nullptr;
    here_.session = from_.session;
    of_session_ = rules_.begin(here_);
    const bool asked_later = rules_.knows(stage::data) || rules_.knows(stage::chunk);
    if (asked_later || rules_.knows(stage::end)) most_recipients_ = 1;
    if (from_.lmtp && rules_.knows(stage::end))
        most_recipients_ = std::numeric_limits<std::size_t>::max();
}

decision conduct::ask(stage at, nanoseconds now) {
    here_.now = now;
    return rules_.knows(at) ? rules_.decide(at, here_, of_session_) : decision{};
}

void conduct::greeted(std::string_view name) {
    helo_.assign(name);
    here_.helo = helo_;
}

decision conduct::at_sender(const proto::path& sender, std::uint64_t declared, nanoseconds now) {
    sender_.keep(sender);
    shown_sender_ = sender_.view();
    here_.sender = &shown_sender_;
    here_.recipient = nullptr;
    here_.known.reset();
    here_.recipient_number = 0;
    ++here_.message;
    here_.size = declared == 0 ? std::optional<std::uint64_t>() : declared;
    recipients_.clear();
    if (recipients_.capacity() > kept_recipients) base::release(recipients_);
    asked_.number = 0;
    return ask(stage::mail, now);
}

void conduct::show(const kept_recipient& one) {
    shown_recipient_ = one.who.view();
    here_.recipient = &shown_recipient_;
    here_.known = one.known;
    here_.recipient_number = one.number;
}

decision conduct::at_recipient(const proto::path& recipient, bool known, nanoseconds now) {
    asked_.who.keep(recipient);
    asked_.known = known;
    ++asked_.number;
    show(asked_);
    return ask(stage::rcpt, now);
}

void conduct::took_recipient() {
    if (recipients_.size() >= most_recipients_) return;
    recipients_.push_back(asked_);
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
