// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/imap_dialogue.hpp"

#include <algorithm>
#include <utility>

#include "rabid/command_kinds.hpp"
#include "rabid/plan.hpp"

namespace postal::rabid {
namespace {

// What may stand in an answer that is no message's content: the flags of a million messages have 50
// MB.
constexpr std::uint64_t most_octets_beside = std::uint64_t{256} << 20U;
constexpr std::size_t most_code = 4096;  // octets of a response code's arguments

}  // namespace

asio::awaitable<bool> imap_dialogue::greet() {
    const load::steady_time connected = line_.now();
    while (greeting_ == imap_condition::none) {
        const bool heard = co_await hear();
        if (!heard) co_return false;
    }
    line_.took(phase::banner, line_.now() - connected);
    co_return true;
}

// A server that greets with PREAUTH cannot be told STARTTLS any more, and might be somebody in
// between.
asio::awaitable<bool> imap_dialogue::start_tls() {
    if (preauthenticated()) {
        line_.give_up(stage::tls, "preauth", "PREAUTH over a connection without TLS");
        co_return false;
    }
    const bool agreed = co_await command(stage::tls, commands_.plain(out_, imap_verb::starttls));
    if (!agreed) co_return false;
    const bool secured = co_await line_.secure();
    responses_ = proto::imap_responses();
    co_return secured;
}

asio::awaitable<bool> imap_dialogue::select(std::string_view name,
                                            const proto::imap_memory& before) {
    std::string uids;
    proto::imap_select_options with;
    if (before.usable()) {
        before.append_uids(uids);
        with = {.uid_validity = before.uid_validity, .modseq = before.modseq, .known_uids = uids};
    }
    where_ = stage::list;
    with_ = {};
    told_.permanent_flags.reset();
    tag_ = commands_.select(out_, imap_verb::select, name, with);
    if (!mailbox_.select(name, tag_, imap_verb::select, before)) co_return false;
    command_begins(imap_verb::select);
    const bool sent = co_await send_out();
    if (!sent) co_return false;
    co_return co_await complete();
}

asio::awaitable<bool> imap_dialogue::command(stage where, imap_tag tag, imap_command_options with) {
    if (!begin(where, tag, with)) co_return false;
    const bool sent = co_await send_out();
    if (!sent) co_return false;
    co_return co_await complete();
}

bool imap_dialogue::begin(stage where, imap_tag tag, imap_command_options with) {
    where_ = where;
    tag_ = tag;
    with_ = with;
    told_.begin();
    if (tag != proto::no_tag && mailbox_.sent(tag, commands_.last_verb())) {
        command_begins(commands_.last_verb());
        return true;
    }
    out_.clear();
    line_.refused(where, "not_sayable", "the name or password cannot be sent");
    return false;
}

asio::awaitable<bool> imap_dialogue::send_out() {
    const std::string text = std::exchange(out_.text, {});
    const std::vector<std::size_t> waits = std::exchange(out_.waits, {});
    std::size_t at = 0;
    for (const std::size_t wait : waits) {
        bool fine = co_await send_piece(std::string_view(text).substr(at, wait - at));
        if (fine) fine = co_await wait_for_go_ahead();
        if (!fine) co_return false;
        at = wait;
    }
    if (at == text.size()) co_return true;
    co_return co_await send_piece(std::string_view(text).substr(at));
}

// Of a secret only the first piece is shown, as the caller wants it.
asio::awaitable<bool> imap_dialogue::send_piece(std::string_view piece) {
    if (with_.shown.empty()) return send(piece, piece);
    return send(piece, std::exchange(with_.shown, "***\r\n"));
}

asio::awaitable<bool> imap_dialogue::send(std::string_view text, std::string_view shown) {
    go_ahead_ = false;
    return line_.send(where_, text, shown);
}

asio::awaitable<bool> imap_dialogue::wait_for_go_ahead() {
    const imap_tag before = answered_;
    while (!go_ahead_ && answered_ == before) {
        const bool heard = co_await hear();
        if (!heard) co_return false;
    }
    co_return go_ahead_;
}

asio::awaitable<bool> imap_dialogue::complete() {
    while (!completed()) {
        const bool heard = co_await hear();
        if (!heard) co_return false;
    }
    co_return agreed();
}

asio::awaitable<bool> imap_dialogue::hear() {
    const bool heard = co_await line_.hear(where_);
    if (heard) {
        if (announced_.watching() || folders_ != nullptr) heard_us_ = now_us();
        take_steps();
        const std::uint64_t most = with_.reader == nullptr ? 0 : with_.reader->most_octets();
        if (line_.octets_of_answer() > most + most_octets_beside)
            line_.give_up(where_, "flood", "an answer without an end");
        if (with_.reader != nullptr) with_.reader->read_ended(line_.now());
    }
    co_return !line_.broken();
}

void imap_dialogue::take_steps() {
    std::string_view& heard = line_.heard();
    while (!line_.broken()) {
        const std::string_view said = heard;
        const std::uint64_t begun = responses_.begun();
        const imap_step step = responses_.next(heard);
        if (responses_.begun() != begun) line_.response_ended();
        heard.remove_prefix(step.consumed);
        // Who does not greet as IMAP servers do may be no IMAP server.
        if (step.event == imap_event::broken && greeting_ == imap_condition::none)
            return line_.give_up(where_, base::error_name::of(step.text), said);
        if (step.event == imap_event::need_more) return;
        take_step(step);
        // Nothing may follow the answer to STARTTLS.
        if (step.event == imap_event::tagged && commands_.last_verb() == imap_verb::starttls)
            return;
        // It took a look at each message that is known, where not all are.
        if (step.event == imap_event::vanished) steps_ += mailbox_.uids().size() / 4096;
        // Every message may be named a few times. No answer is longer: somebody wants us to listen
        // for ever.
        if (++steps_ > std::uint64_t{16} * mailbox_.exists() + 1'000'000) {
            line_.give_up(where_, "flood", "the server talks without an end");
        }
    }
}

void imap_dialogue::take_step(const imap_step& step) {
    if (announced_.watching()) note_announced(step);
    if (folders_ != nullptr && step.event == imap_event::status) note_status(step);
    contradicted(mailbox_.apply(step));
    if (mailbox_.exists() > imap_reader::most_messages)
        line_.give_up(where_, "too_many", "messages in one mailbox");
    told_.take(step, std::min(mailbox_.exists(), imap_reader::most_messages));
    if (step.event == imap_event::broken)
        line_.give_up(where_, base::error_name::of(step.text),
                      "what the server says cannot be read");
    if (step.event == imap_event::untagged) on_untagged(step);
    if (step.event == imap_event::tagged) on_tagged(step);
    if (step.event == imap_event::continuation) go_ahead_ = true;
    const bool final = step.event == imap_event::tagged || step.event == imap_event::continuation;
    if (final && commands_.last_verb() == imap_verb::authenticate) said_ = step.text;
    if (with_.identities != nullptr) {
        if (with_.identities->take(step)) {
            steps_ = 0;
            line_.answered();
        }
    }
    if (with_.reader == nullptr) return;
    if (with_.reader->take(step, mailbox_)) {
        steps_ = 0;
        line_.answered();
    }
    if (step.event == imap_event::body_begin && with_.reader->too_big(step.number))
        return line_.give_up(where_, "too_big", "a message beyond --max-message");
    if (step.event == imap_event::body_piece && with_.reader->without_end(line_.now()))
        line_.give_up(where_, "flood", "a message without an end");
}

void imap_dialogue::contradicted(std::string_view wrong) {
    if (wrong.empty()) return;
    const std::string_view verb = proto::imap_verb_name(mailbox_.answering());
    line_.refused(where_, "contradiction",
                  std::string(wrong).append(" (").append(verb).append(")"));
}

void imap_dialogue::note_status(const imap_step& step) {
    contradicted(folders_->take(step.text, responses_.status(), heard_us_));
}

// What is wrong with it beside that, imap_mailbox says.
void imap_dialogue::note_announced(const imap_step& step) {
    const announcements::news what = announced_.take(step, heard_us_);
    stats::tally& counts = line_.counts();
    counts.announced += what.messages;
    if (what.how == ledger::notice::early) counts.announced_early += what.messages;
    if (what.taken_back > 0) ++counts.announced_shrunk;
}

void imap_dialogue::on_tagged(const imap_step& step) {
    steps_ = 0;
    answered_ = proto::read_imap_tag(step.tag);
    if (completed()) line_.answered();
    condition_ = step.condition;
    code_ = {step.code, step.number, std::string(step.arguments.substr(0, most_code))};
    const bool counts = with_.refusal == imap_refusal::counts;
    if (agreed() && completed()) ++line_.counts().imap_commands;
    if (completed()) command_ends(end_of(condition_));
    if (agreed() || !counts) return;
    const std::string_view verb = proto::imap_verb_name(commands_.last_verb());
    line_.refused(where_, "refused", std::string(verb).append(": ").append(step.text));
}

void imap_dialogue::finish() {
    command_ends(stats::command_end::unanswered);
}

void imap_dialogue::command_begins(imap_verb what) {
    finish();
    if (line_.broken()) return;
    unanswered_ = kind_of(what);
    ++said_commands_;
}

void imap_dialogue::command_ends(stats::command_end how) {
    const imap_verb which = std::exchange(unanswered_, imap_verb::none);
    if (which != imap_verb::none) line_.counts().commands.add(static_cast<std::size_t>(which), how);
}

void imap_dialogue::on_untagged(const imap_step& step) {
    if (announced_.watching() && step.code == proto::imap_code::notification_overflow) {
        ++line_.counts().notify_overflows;
        overflowed_ = true;
    }
    if (greeting_ == imap_condition::none) {
        greeting_ = step.condition;
        line_.greeted(step.text);
    }
    const bool leaving = commands_.last_verb() == imap_verb::logout;
    if (step.condition == imap_condition::bye && !leaving) line_.give_up(where_, "bye", step.text);
}

void imap_untagged::begin() {
    found.clear();
    expunged = 0;
}

void imap_untagged::take(const imap_step& step, std::uint32_t exists) {
    const std::uint64_t size = std::uint64_t{step.range.last} - step.range.first + 1;
    if (step.event == imap_event::found) {
        std::uint64_t number = step.range.first;
        for (; number <= step.range.last && found.size() < exists; ++number)
            found.push_back(static_cast<std::uint32_t>(number));
    } else if (step.event == imap_event::expunge) {
        ++expunged;
        ++gone;
        if (step.number > 0 && step.number <= known) --known;
    } else if (step.event == imap_event::vanished && !step.earlier) {
        expunged += size;
        gone += size;
        known -= static_cast<std::uint32_t>(std::min<std::uint64_t>(known, size));
    } else if (step.event == imap_event::personal_namespace) {
        prefix = step.text;
        delimiter = static_cast<char>(step.number);
        if (delimiter != 0 && !prefix.empty() && prefix.back() != delimiter) prefix += delimiter;
    } else if (step.event == imap_event::list && step.number != 0) {
        delimiter = static_cast<char>(step.number);
    } else if (step.code == proto::imap_code::permanent_flags) {
        permanent_flags = step.arguments.substr(0, most_code);
    }
}

}  // namespace postal::rabid
