// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/pop3_visit.hpp"

#include <chrono>
#include <span>
#include <utility>

#include "mail/digest.hpp"
#include "rabid/choice.hpp"

namespace postal::rabid {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t most_pipelined = 64;

}  // namespace

pop3_visit::pop3_visit(const visit_context& who) : visit_(who) {}

asio::awaitable<bool> pop3_visit::run() {
    const plan& run = visit_.context.of_run;
    bool fine = co_await greet();
    const bool tls = visit_.connection.tls().in_dialogue();
    if (fine && tls) fine = co_await start_tls();
    const bool asks = run.chosen.pipelining || run.chosen.auth.wanted();
    if (fine && asks) fine = co_await ask_capabilities();
    if (fine) fine = co_await log_in();
    if (!fine) {
        if (!visit_.connection.broken()) co_await say_quit();
        co_return false;
    }
    fine = co_await look_around();
    if (fine) {
        fine = co_await retrieve();
        visit_.messages.notes().looked_at(read_whole_, there_);
        if (run.chosen.watch.count() > 0) visit_.messages.notes().visited();
    }
    if (fine) fine = co_await remove();
    if (fine) fine = co_await say_quit();
    visit_.context.shared.counts().delete_in_doubt += std::exchange(deletions_, 0);
    co_return fine;
}

// ---- before the mailbox ----

asio::awaitable<bool> pop3_visit::greet() {
    const load::steady_time connected = visit_.connection.now();
    parser_.expect(pop3_form::status_line);
    const pop3_event event = co_await next(stage::banner);
    if (event != pop3_event::status || !accepted(stage::banner)) co_return false;
    greeting_ = parser_.text();
    visit_.connection.took(phase::banner, visit_.connection.now() - connected);
    visit_.connection.greeted(greeting_);
    co_return true;
}

// A server without CAPA has no PIPELINING either.
asio::awaitable<bool> pop3_visit::ask_capabilities() {
    offered_ = {};
    parser_.expect(pop3_form::listing);
    const bool sent = co_await visit_.connection.send(stage::login, proto::pop3_capa);
    if (!sent) co_return false;
    for (;;) {
        const pop3_event event = co_await next(stage::login);
        if (event == pop3_event::broken) co_return false;
        if (event == pop3_event::list_line) offered_.add(parser_.text());
        if (parser_.reply_complete()) break;
    }
    const bool may = visit_.context.of_run.chosen.pipelining;
    if (offered_.pipelining && may) at_once_ = most_pipelined;
    co_return true;
}

// STLS (RFC 2595 4); what was heard before is not believed.
asio::awaitable<bool> pop3_visit::start_tls() {
    const bool asked = co_await command(stage::tls, proto::pop3_stls);
    if (!asked || !accepted(stage::tls)) co_return false;
    const bool secured = co_await visit_.connection.secure();
    if (!secured) co_return false;
    parser_.reset();
    co_return true;
}

asio::awaitable<bool> pop3_visit::log_in() {
    const load::steady_time begun = steady_clock::now();
    const std::string_view timestamp = proto::apop_timestamp(greeting_);
    bool fine = false;
    if (visit_.context.of_run.chosen.auth.wanted()) {
        fine = co_await authenticate();
        if (!fine) co_return false;
    } else if (visit_.context.of_run.chosen.apop && !timestamp.empty()) {
        fine = co_await log_in_by_digest(timestamp);
    } else {
        out_.clear();
        if (!proto::append_user(out_, visit_.who.login)) co_return false;
        fine = co_await command(stage::login, out_);
        if (!fine || !accepted(stage::login)) co_return false;
        out_.clear();
        if (!proto::append_pass(out_, visit_.who.password)) co_return false;
        fine = co_await command(stage::login, out_, "PASS ***\r\n");
    }
    if (!fine || !accepted(stage::login)) co_return false;
    visit_.connection.took(phase::login, visit_.connection.now() - begun);
    co_return true;
}

asio::awaitable<bool> pop3_visit::log_in_by_digest(std::string_view timestamp) {
    mail::digest_value digest;
    const bool made = mail::is_available(mail::digest_kind::md5);
    if (made) {
        mail::hasher md5(mail::digest_kind::md5);
        md5.update(timestamp);
        md5.update(visit_.who.password);
        digest = md5.finish();
    }
    out_.clear();
    const std::span<const std::uint8_t, 16> octets(digest.octets.data(), 16);
    if (!made || !proto::append_apop(out_, visit_.who.login, octets)) {
        visit_.connection.refused(stage::login, "no_md5", "this host has no MD5, which APOP needs");
        co_return false;
    }
    const std::string shown = "APOP " + visit_.who.login + " ***\r\n";
    const bool fine = co_await command(stage::login, out_, shown);
    co_return fine;
}

// ---- reading ----

asio::awaitable<bool> pop3_visit::retrieve() {
    visit_.connection.set_hurried(false);
    turns_.begin(steady_clock::now());
    for (;;) {
        out_.clear();
        ask_for_more();
        if (!out_.empty()) {
            const bool sent = co_await visit_.connection.send(stage::retrieve, out_);
            if (!sent) co_return false;
        }
        take_replies();
        turns_.read_ended(visit_.connection.now(), retrieve_times());
        if (visit_.connection.broken()) co_return false;
        const bool stops = visit_.stopping() && answered_ == asked_;
        if (answered_ == wanted_.size() || stops) co_return true;
        if (may_ask()) continue;
        const bool heard = co_await visit_.connection.hear(stage::retrieve);
        if (!heard) co_return false;
    }
}

// Several at once, when half of those that are under way are answered.
bool pop3_visit::may_ask() const noexcept {
    return asked_ < wanted_.size() && asked_ - answered_ <= at_once_ / 2 && !visit_.stopping();
}

void pop3_visit::ask_for_more() {
    if (!may_ask()) return;
    while (asked_ < wanted_.size() && asked_ - answered_ < at_once_) {
        proto::append_retr(out_, wanted_[asked_++].number);
        parser_.expect(pop3_form::content);
    }
}

stats::histogram& pop3_visit::retrieve_times() noexcept {
    return visit_.connection.counts().latency[static_cast<std::size_t>(phase::retrieve)];
}

// Everything that has been heard.
void pop3_visit::take_replies() {
    for (;;) {
        switch (parser_.feed(visit_.connection.heard())) {
            case pop3_event::need_more:
                return;
            case pop3_event::status:
                message_status();
                break;
            case pop3_event::content:
                visit_.messages.feed(parser_.content());
                if (visit_.messages.too_big(0)) {
                    visit_.connection.give_up(stage::retrieve, "too_big",
                                              "a message beyond --max-message");
                    return;
                }
                if (!visit_.messages.without_end(turns_.waited(visit_.connection.now()))) break;
                visit_.connection.give_up(stage::retrieve, "flood", "a message without an end");
                return;
            case pop3_event::end:
                message_end();
                break;
            case pop3_event::list_line:
            case pop3_event::broken:
                visit_.connection.give_up(stage::retrieve, base::error_name::of(parser_.problem()),
                                          parser_.offending());
                return;
        }
    }
}

void pop3_visit::message_status() {
    visit_.connection.response_ended();
    if (!parser_.reply_complete()) {
        visit_.messages.begin();
        return;
    }
    visit_.connection.answered();
    ++visit_.context.shared.counts().started;
    ++visit_.context.shared.counts().rejected;
    ++answered_;
    turns_.refusal_ended();
    visit_.connection.refused(stage::retrieve, "refused", parser_.text());
}

void pop3_visit::message_end() {
    visit_.connection.answered();
    const message& which = wanted_[answered_++];
    ++read_whole_;
    turns_.message_ended();
    // Numbers begin anew on each visit (RFC 1939 5): they are no place.
    const examination_result what = visit_.messages.finish({.uid = which.uid, .announced = shown_});
    if (pick_deletion(visit_.context.of_run.chosen, what, visit_.random)) {
        to_delete_.push_back(which.number);
        if (visit_.messages.notes().wanted())
            doomed_.push_back({visit_.messages.last(), which.uid});
    }
}

// ---- deleting, and the end ----

asio::awaitable<bool> pop3_visit::remove() {
    std::size_t asked = 0;
    std::size_t answered = 0;
    load::steady_time since = steady_clock::now();
    while (answered < to_delete_.size()) {
        out_.clear();
        for (; asked < to_delete_.size() && asked - answered < at_once_; ++asked) {
            proto::append_dele(out_, to_delete_[asked]);
            parser_.expect(pop3_form::status_line);
        }
        if (!out_.empty()) {
            const bool sent = co_await visit_.connection.send(stage::remove, out_);
            if (!sent) co_return false;
        }
        while (answered < asked) {
            const pop3_event event = co_await next(stage::remove);
            if (event != pop3_event::status) co_return false;
            ++answered;
            if (accepted(stage::remove)) ++deletions_;
            visit_.connection.took(phase::remove, visit_.connection.now() - since);
            since = visit_.connection.now();
        }
    }
    co_return true;
}

// What was deleted is gone with its reply (RFC 1939 6), which may take its time.
asio::awaitable<bool> pop3_visit::say_quit() {
    visit_.connection.set_hurried(deletions_ == 0);
    for (const doomed& each : doomed_)
        visit_.messages.notes().removing(each.which, each.uid, 0);
    doomed_.clear();
    const bool fine = co_await command(stage::quit, proto::pop3_quit);
    if (!fine || !accepted(stage::quit)) co_return false;
    visit_.context.shared.counts().deleted += std::exchange(deletions_, 0);
    co_return true;
}

// ---- single commands ----

asio::awaitable<bool> pop3_visit::command(stage where, std::string_view text,
                                          std::string_view shown) {
    parser_.expect(pop3_form::status_line);
    const bool sent = co_await visit_.connection.send(where, text, shown.empty() ? text : shown);
    if (!sent) co_return false;
    const pop3_event event = co_await next(where);
    co_return event == pop3_event::status;
}

// `broken` also when the connection is; that is counted.
asio::awaitable<pop3_event> pop3_visit::next(stage where) {
    for (;;) {
        const pop3_event event = parser_.feed(visit_.connection.heard());
        if (event == pop3_event::broken) {
            visit_.connection.give_up(where, base::error_name::of(parser_.problem()),
                                      parser_.offending());
        }
        if (event == pop3_event::status) visit_.connection.response_ended();
        if (event != pop3_event::need_more) {
            if (parser_.reply_complete()) visit_.connection.answered();
            co_return event;
        }
        const bool heard = co_await visit_.connection.hear(where);
        if (!heard) co_return pop3_event::broken;
    }
}

bool pop3_visit::accepted(stage where) {
    if (parser_.status() == pop3_status::ok) return true;
    visit_.connection.refused(where, "refused", parser_.text());
    return false;
}

}  // namespace postal::rabid
