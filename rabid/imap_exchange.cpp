// Commands of an IMAP connection and what comes back: literals that wait for their go-ahead, tagged
// and untagged responses, the messages in them.
#include "rabid/imap_visit.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "rabid/choice.hpp"

namespace postal::rabid {

namespace {

namespace asio = boost::asio;
using proto::imap_condition;
using proto::imap_event;
using proto::imap_step;
using proto::imap_tag;
using proto::imap_verb;

}  // namespace

asio::awaitable<bool> imap_visit::command(stage where, imap_tag tag, imap_verb verb) {
    if (tag == proto::no_tag || !mailbox_.sent(tag, verb)) {
        out_.clear();
        shown_.clear();
        guest_.connection.refused(where, "not_sayable", "the name or password cannot be sent");
        co_return false;
    }
    bool fine = co_await send_out(where);
    if (fine) fine = co_await complete(where, tag);
    co_return fine;
}

// Literals that must wait for their go-ahead are sent piece by piece.
asio::awaitable<bool> imap_visit::send_out(stage where) {
    const std::string text = std::exchange(out_.text, {});
    const std::vector<std::size_t> waits = std::exchange(out_.waits, {});
    const std::string secret = std::exchange(shown_, {});
    std::string_view shown = secret;
    std::size_t at = 0;
    for (const std::size_t wait : waits) {
        go_ahead_ = false;
        const std::string_view piece = std::string_view(text).substr(at, wait - at);
        if (secret.empty()) shown = piece;
        bool fine = co_await guest_.connection.send(where, piece, shown);
        shown = "***\r\n";
        if (fine) fine = co_await wait_for_go_ahead(where);
        if (!fine) co_return false;
        at = wait;
    }
    if (at == text.size()) co_return true;
    const std::string_view rest = std::string_view(text).substr(at);
    if (secret.empty()) shown = rest;
    co_return co_await guest_.connection.send(where, rest, shown);
}

// True as well when the server has answered the command instead.
asio::awaitable<bool> imap_visit::wait_for_go_ahead(stage where) {
    const imap_tag before = answered_;
    take_steps(where);
    while (!go_ahead_ && answered_ == before && !guest_.connection.broken()) {
        const bool heard = co_await guest_.connection.hear(where);
        if (!heard) co_return false;
        take_steps(where);
    }
    co_return go_ahead_ && !guest_.connection.broken();
}

asio::awaitable<bool> imap_visit::complete(stage where, imap_tag tag) {
    take_steps(where);
    while (answered_ != tag && !guest_.connection.broken()) {
        const bool heard = co_await guest_.connection.hear(where);
        if (!heard) co_return false;
        take_steps(where);
    }
    co_return !guest_.connection.broken() && condition_ == imap_condition::ok;
}

void imap_visit::take_steps(stage where) {
    std::string_view& heard = guest_.connection.heard();
    while (!guest_.connection.broken()) {
        const imap_step step = responses_.next(heard);
        heard.remove_prefix(step.consumed);
        if (step.event == imap_event::need_more) return;
        take_step(where, step);
        if (starting_tls_ && step.event == imap_event::tagged) return;
        // No answer is so long: somebody wants us to listen for ever.
        if (++steps_ > steps_expected()) {
            guest_.connection.give_up(where, "flood", "the server talks without an end");
        }
    }
}

// Since the last tagged response or whole message: every message may be named a few times.
std::uint64_t imap_visit::steps_expected() const noexcept {
    return std::uint64_t{16} * mailbox_.exists() + 1'000'000;
}

void imap_visit::take_step(stage where, const imap_step& step) {
    const std::string_view wrong = mailbox_.apply(step);
    if (!wrong.empty()) {
        guest_.connection.refused(where, "contradiction",
                                  std::string(wrong) + " (" +
                                      std::string(proto::imap_verb_name(mailbox_.answering())) +
                                      ")");
    }
    switch (step.event) {
        case imap_event::broken:
            guest_.connection.give_up(where, step.text, "what the server says cannot be read");
            break;
        case imap_event::tagged:
            steps_ = 0;
            answered_ = proto::read_imap_tag(step.tag);
            condition_ = step.condition;
            if (authenticating_) said_ = step.text;
            if (condition_ != imap_condition::ok && !expecting_no_) {
                guest_.connection.refused(where, "refused", step.text);
            }
            break;
        case imap_event::untagged:
            if (!greeted_) {
                greeted_ = true;
                logged_in_ = step.condition == imap_condition::preauth;
            }
            if (step.condition == imap_condition::bye) {
                said_bye_ = true;
                if (!leaving_) guest_.connection.give_up(where, "bye", step.text);
            }
            break;
        case imap_event::continuation:
            go_ahead_ = true;
            if (authenticating_) said_ = step.text;
            break;
        case imap_event::found:
            for (std::uint64_t n = step.range.first; n <= step.range.last; ++n) {
                if (found_.size() < most_messages) found_.push_back(static_cast<std::uint32_t>(n));
            }
            break;
        case imap_event::expunge:
            ++expunged_;
            if (step.number > 0 && step.number <= known_) --known_;
            break;
        case imap_event::vanished:
            if (!step.earlier) note_vanished(step.range.last - step.range.first + std::uint64_t{1});
            break;
        case imap_event::body_begin:
            if (reading_ && step.text.empty()) message_begin(step);
            break;
        case imap_event::body_piece:
            if (in_message_) guest_.messages.feed(step.text);
            break;
        case imap_event::body_end:
            whole_ = in_message_;
            break;
        case imap_event::fetch_end:
            if (whole_) message_end();
            break;
        default:
            break;
    }
}

// UIDs: those that we have deleted ourselves, which we knew.
void imap_visit::note_vanished(std::uint64_t count) noexcept {
    expunged_ += count;
    known_ -= static_cast<std::uint32_t>(std::min<std::uint64_t>(known_, count));
}

void imap_visit::message_begin(const imap_step&) {
    if (in_message_) return;  // the same body twice in one response: the first counts
    ++guest_.shop.own.tally().started;
    in_message_ = true;
    whole_ = false;
    guest_.messages.begin();
}

// The UID may have come before the body or behind it.
void imap_visit::message_end() {
    in_message_ = whole_ = false;
    steps_ = 0;
    const std::uint32_t uid = mailbox_.uid(mailbox_.fetched());
    guest_.connection.took(phase::retrieve, guest_.connection.now() - since_);
    since_ = guest_.connection.now();
    const finding what = guest_.messages.finish({.uid = uid, .place = uid});
    if (uid == 0) return;
    const options& chosen = guest_.shop.of_run.chosen;
    const bool ours = what != finding::foreign && what != finding::doubtful;
    if (ours && ours_.size() < most_messages) ours_.push_back(uid);
    if ((ours || chosen.delete_foreign) && pick_deletion(chosen, guest_.random)) {
        to_delete_.push_back(uid);
    }
}

}  // namespace postal::rabid
