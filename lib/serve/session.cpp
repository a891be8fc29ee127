// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/release.hpp"
#include "net/proxy_header.hpp"
#include "net/tls_check.hpp"

namespace postal::serve {
namespace {

namespace asio = boost::asio;
using proto::server_event;
using proto::server_stage;
using std::chrono::steady_clock;

constexpr proto::server_reply closing_for_silence{421, "4.4.2", "Timeout, closing"};
constexpr proto::server_reply too_many_from_there{
    421, "4.7.0", "Too many sessions from your address, try again later", "sessions-per-address"};

constexpr unsigned reads_a_turn = 16;
constexpr unsigned commands_a_turn = 256;
constexpr unsigned most_last_reads = 64;
constexpr std::size_t output_full = 64 * 1024;
constexpr std::size_t kept_capacity = 4096;  // what an idle session may hold on to

std::string_view to_text(cut how) {
    return how == cut::fin ? "closed" : how == cut::rst ? "reset" : "silence";
}

// At the end of a session, whose other steps must not be left out for want of memory in this one.
template <class Step>
void whatever_happens(Step step) noexcept {
    try {
        step();
    } catch (const std::bad_alloc&) {
    }
}

}  // namespace

std::vector<std::string> session_states() {
    return {"idle", "transaction", "content", "delivery", "delayed", "replies", "tls"};
}

session::session(worker_context& context, accepted_client&& who, std::string_view host_name)
    : context_(context),
      connection_(context.own.context()),
      visitor_(who, context.rules, connection_),
      output_(context.output),
      machine_(context.rules.server, host_name),
      input_(context.input, visitor_.transcript()),
      reply_(context.rules.may_hold_back()),
      books_(context.own, context.rules, machine_),
      patience_(context.rules, visitor_.trusted()) {
    context_.own.watch(*this);
    if (visitor_.trusted()) machine_.trust_client();
    const net::fault why = connection_.adopt(std::move(who.socket));
    if (why != net::fault::none) {
        tally().errors.add("connect", 0, net::to_text(why), "cannot use an accepted socket");
        state_ = state::over;
    }
    if (auto* shown = visitor_.transcript()) shown->begin_connection("a client");
    context_.own.connection_opened();
    ++tally().connections;
}

session::~session() {
    context_.own.connection_closed();
    connection_.close();
}

// ---- the conversation ----

asio::awaitable<void> session::run() {
    try {
        if (!over()) co_await converse();
        co_await finish_work();
    } catch (const std::bad_alloc&) {
        state_ = state::over;
        output_.give_back();
        connection_.close();
        whatever_happens([this] { stop_now(); });
        count_no_memory(tally());
    }
    whatever_happens([this] { count_unheard(); });
    whatever_happens([this] { message_dropped(); });
}

asio::awaitable<void> session::converse() {
    co_await let_in();
    commands_left_ = commands_a_turn;
    while (!over()) {
        const next what = process();
        const bool ends =
            what == next::close || what == next::stop || what == next::cut || what == next::secure;
        if (!send_now(ends ? closing_after::yes : closing_after::no)) co_await send_slowly();
        if (over()) co_return;
        switch (what) {
            case next::read:
                if (context_.own.stopping() && !machine_.in_transaction()) {
                    close_politely(closing_for_stop);
                    co_return;
                }
                // What was read last takes its time.
                if (const auto takes = input_.take_time(); takes.count() != 0)
                    co_await pause(takes);
                if (over()) co_return;
                be_patient();
                state_ = state::reading;
                if (!connection_.something_to_read()) {
                    co_await connection_.wait_to_read();
                    commands_left_ = commands_a_turn;
                } else if (++reads_in_a_row_ % reads_a_turn == 0) {
                    co_await let_others_run();
                }
                state_ = state::at_work;
                read_input();
                break;
            case next::flush:
                break;
            case next::others:
                input_.keep();
                co_await let_others_run();
                now_ = steady_clock::now();
                break;
            case next::hold:
                co_await hold_back();
                break;
            case next::answers:
                co_await wait_for_answers();
                break;
            case next::secure:
                co_await secure();
                break;
            case next::cut:
                co_await cut_off();
                break;
            case next::close:
                hang_up();
                break;
            case next::stop:
                close_politely(closing_for_stop);
                break;
        }
    }
}

// Who has to say who he is, or to begin with TLS, does so before he hears anything.
asio::awaitable<void> session::let_in() {
    // A stop may have come before this coroutine first ran, when nobody could tell it; a client
    // that has to begin with TLS or a header could not read a goodbye.
    const bool client_begins = visitor_.begins_with_tls() || !context_.rules.proxies.empty();
    if (client_begins && context_.own.stopping()) state_ = state::over;
    if (!over() && !context_.rules.proxies.empty()) co_await hear_proxy();
    if (!over() && !visitor_.admitted()) {
        count_refusal(server_stage::connect, too_many_from_there);
        // Who begins with TLS could not read why.
        if (visitor_.begins_with_tls()) state_ = state::over;
        if (!over()) close_politely(too_many_from_there);
    }
    if (over()) co_return;
    if (visitor_.begins_with_tls()) co_await secure();
    now_ = steady_clock::now();
    patience_.begin_anew(now_);
}

// A client that sends faster than we read would keep the thread to itself.
asio::awaitable<void> session::let_others_run() {
    co_await asio::post(context_.own.context(), asio::use_awaitable);
    commands_left_ = commands_a_turn;
}

// The whole message is here. Whether the client waits for the answers decides only what is begun.
asio::awaitable<void> session::wait_for_answers() {
    input_.keep();
    clear_deadline();
    bool told = false;
    while (!answers_ready()) {
        if (!told && client_has_left()) {
            told = true;
            client_left();
            continue;
        }
        connection_.forget();
        watch_for_leaving();
        co_await sleep_until_woken();
    }
    connection_.forget();
    now_ = steady_clock::now();
    patience_.begin_anew(now_);
    if (stopped_now_) co_return lost(net::fault::stopped);
    give_answers();
    reply_.let_go(output_->text);
}

asio::awaitable<void> session::finish_work() {
    if (!work_left()) co_return;
    clear_deadline();
    connection_.close();
    client_left();
    while (work_left()) {
        co_await sleep_until_woken();
    }
}

asio::awaitable<void> session::sleep_until_woken() {
    asio::steady_timer timer(context_.own.context(), asio::steady_timer::time_point::max());
    timer_ = &timer;
    state_ = state::awaiting_answers;
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    state_ = state::at_work;
    timer_ = nullptr;
}

void session::wake() {
    if (state_ == state::awaiting_answers) timer_->cancel();
}

// The socket is full: nothing more is read or answered until the client has read.
asio::awaitable<void> session::send_slowly() {
    unsent_.clear();
    for (const iovec& part : output_->parts.left()) {
        unsent_.append(static_cast<const char*>(part.iov_base), part.iov_len);
    }
    output_.give_back();
    input_.keep();
    net::gather rest;
    rest.add(unsent_);
    wait_for_client();
    state_ = state::sending;
    const net::fault why = co_await connection_.write_rest(rest);
    state_ = state::at_work;
    now_ = steady_clock::now();
    if (why != net::fault::none) lost(why);
    base::release(unsent_);
}

// ---- bytes ----

// Nothing may have come, or the session be over.
void session::read_input() {
    const net::read_result got = input_.read(connection_);
    if (got.why != net::fault::none) lost(got.why);
    const load::steady_time before = std::exchange(now_, steady_clock::now());
    if (machine_.content_begun()) patience_.content_waited(now_ - before);
}

void session::wait_for_client() {
    set_deadline(patience_.of_silence(now_));
}

void session::be_patient() {
    if (machine_.in_line()) return;
    set_deadline(patience_.of_client(now_, machine_, input_.slow()));
}

session::next session::process() {
    if (then_ != next::read) return std::exchange(then_, next::read);
    if (reply_.ending() != cut::no) return next::cut;
    if (opening_ != opening::done) {
        const next what = open();
        if (what != next::read) return what;
    }
    return consume();
}

// What stands before the client's first word: the stage without a reply, then the banner.
session::next session::open() {
    if (std::exchange(opening_, opening::banner) == opening::connect) {
        if (context_.rules.server.judges_stages)
            judge({.event = server_event::ask, .stage = server_stage::connect});
        const next what = in_time(server_stage::connect, next::read);
        if (what != next::read) return what;
    }
    opening_ = opening::done;
    connection_ready();
    const proto::server_step step = machine_.greet(output());
    return step.event == server_event::ask ? greet(machine_.answer(judge(step), output()))
                                           : greet(step);
}

session::next session::greet(const proto::server_step& step) {
    if (!step.reply.positive()) count_refusal(step.stage, step.reply);
    return in_time(step.stage, step.event == server_event::close ? next::close : next::read);
}

session::next session::consume() {
    for (;;) {
        if (machine_.answers_due() != 0) return next::answers;
        // A client that pipelines is between two transactions only here.
        if (context_.own.stopping() && at_rest()) return next::stop;
        const auto what_comes = client_input::next_of(machine_);
        const proto::server_step step = machine_.consume(input_.left(), output());
        input_.took(step.consumed, what_comes, machine_);
        if (step.event == server_event::need_more) {
            input_.give_back(kept_capacity);
            reply_.give_back(kept_capacity);
            return next::read;
        }
        const next what = step.event == server_event::ask
                              ? act_on(machine_.answer(asked(step), output()))
                              : act_on(step);
        if (what != next::read) return what;
        if (output_->text.size() > output_full) return next::flush;
        if (step.event != server_event::content && --commands_left_ == 0) return next::others;
    }
}

std::optional<proto::server_reply> session::asked(const proto::server_step& about) {
    if (about.stage == server_stage::mail && !visitor_.may_hold_more()) return too_much_in_hand;
    return judge(about);
}

// One step of the machine, whose reply is written.
session::next session::act_on(const proto::server_step& step) {
    next what = next::read;
    switch (step.event) {
        case server_event::content:
            take_content(step.text);
            return next::read;
        case server_event::auth_begin:
        case server_event::auth_line:
            what = answer_auth(step);
            break;
        case server_event::message_begin:
            books_.message_begins(now_);
            patience_.content_begins();
            begin_message();
            // Of a chunk the reply follows its octets.
            if (step.replies == 0) return next::read;
            break;
        case server_event::message_end:
            books_.message_ends(now_);
            patience_.begin_anew(now_);
            end_message();
            break;
        case server_event::message_refused:
            message_refused(step);
            break;
        case server_event::reply:
            act_on_reply(step);
            break;
        case server_event::start_tls:
            what = begin_tls();
            break;
        case server_event::close:
            sent_away(step);
            what = next::close;
            break;
        case server_event::ask:
        case server_event::go_on:
        case server_event::need_more:
            return next::read;
    }
    what = in_time(step.stage, what);
    if (what != next::hold && !reply_.unsaid()) answers_due_now();
    return what;
}

session::next session::answer_auth(const proto::server_step& step) {
    const auth_answer answer = judge_auth(step);
    if (answer.asks) {
        machine_.ask_auth(answer.challenge, output());
        return next::read;
    }
    const bool last_error = machine_.answer_auth(answer.reply, output());
    if (!answer.reply.positive()) count_refusal(step.stage, answer.reply);
    if (!last_error) return next::read;
    count_refusal(step.stage, proto::replies::too_many_errors);
    return next::close;
}

void session::act_on_reply(const proto::server_step& step) {
    const bool nested = !step.reply.positive() && machine_.in_transaction();
    if (step.stage == server_stage::mail && !nested) {
        books_.sender_comes(now_);
        patience_.mail_comes(now_);
    }
    if (step.reply.positive() && step.stage == server_stage::ehlo) greeted(step.text);
    command_answered(step.stage, step.reply);
}

// True when all of the output is on its way, or the connection has failed.
bool session::send_now(closing_after close) {
    if (output_->text.empty()) return true;
    if (auto* shown = visitor_.transcript()) shown->sent(output_->text);
    heard_.said(output_->text.size());
    if (heard_.has_news()) heard_.sending(client_may_have_gone(), connection_.octets_out);
    output_->parts.add(output_->text);
    const bool done = (close == closing_after::no && connection_.write_soon(output_->parts)) ||
                      connection_.write_now(output_->parts);
    if (!output_->answered.empty()) count_answered();
    if (!done) return false;
    output_->parts.clear();
    output_->text.clear();
    if (connection_.last_fault() != net::fault::none) lost(connection_.last_fault());
    return true;
}

// Closing with octets unread would reset the connection and could take the last reply with it.
void session::hang_up() {
    state_ = state::over;
    if (!connection_.is_open()) return;
    connection_.shutdown_output();
    for (unsigned rounds = 0; rounds < most_last_reads; ++rounds) {
        if (connection_.read_now(context_.input) == 0) break;
    }
}

// Unless the client is in the middle of replies that it does not read.
void session::close_politely(const proto::server_reply& last_words) {
    state_ = state::over;
    if (!connection_.is_open() || !unsent_.empty()) return;
    proto::append_reply(output_->text, last_words);
    if (!send_now(closing_after::yes)) {
        output_->parts.clear();
        output_->text.clear();
    }
    hang_up();
}

// ---- who comes, and TLS ----

asio::awaitable<void> session::hear_proxy() {
    if (!visitor_.speaks_for_another()) co_return;
    now_ = steady_clock::now();
    wait_for_client();
    net::proxy_header_reader header;
    std::array<char, 1024> octets;
    net::read_result got;
    while (header.wanted() != 0 && got.why == net::fault::none) {
        state_ = state::reading;
        const std::span<char> space(octets.data(), std::min(header.wanted(), octets.size()));
        got = co_await connection_.read_some(space);
        state_ = state::at_work;
        header.feed({octets.data(), got.size});
    }
    now_ = steady_clock::now();
    if (header.good()) {
        visitor_.stands_for(header.client());
        co_return;
    }
    state_ = state::over;
    if (got.why == net::fault::stopped) co_return;
    const bool broken = got.why == net::fault::none;
    tally().errors.add("connect", 0, broken ? "no_proxy_header" : net::to_text(got.why),
                       "a trusted proxy did not say whom it speaks for");
}

asio::awaitable<void> session::secure() {
    now_ = steady_clock::now();
    const load::steady_time begun = now_;
    wait_for_client();
    auto engine = context_.rules.tls->begin(net::tls_peer{});
    state_ = state::shaking_hands;
    const net::fault why = co_await connection_.start_tls(std::move(engine));
    state_ = state::at_work;
    now_ = steady_clock::now();
    if (auto* shown = visitor_.transcript())
        shown->note(why == net::fault::none ? "TLS" : net::to_text(why));
    if (why != net::fault::none) {
        state_ = state::over;
        const net::tls_problem& problem = connection_.tls_problem();
        const bool own = why == net::fault::tls;
        if (why == net::fault::stopped) co_return;
        tally().errors.add("tls", 0, own ? std::string_view(problem.reason) : net::to_text(why),
                           own ? std::string_view(problem.text) : "in the handshake");
        net::end_if_broken(*context_.rules.tls, why, problem);
        co_return;
    }
    const net::tls_facts agreed = connection_.tls();
    ++tally().tls_connections;
    tally().tls.add(
        {agreed.version, agreed.cipher, agreed.group, agreed.verification, agreed.resumed});
    const std::size_t phase =
        agreed.resumed ? context_.rules.tls_resumed_phase : context_.rules.tls_phase;
    tally().latency[phase].record(now_ - begun);
    machine_.secured();
    message_dropped();
    if (!visitor_.begins_with_tls()) connection_ready();
}

// What stands behind STARTTLS already was not said over TLS and must not be taken for it (RFC 3207
// 6; CVE-2011-0411).
session::next session::begin_tls() {
    if (input_.empty()) {
        proto::append_reply(output(), proto::replies::start_tls);
        return next::secure;
    }
    proto::append_reply(output(), proto::replies::tls_injection);
    tally().errors.add("tls", 0, "injection", "the client said more behind STARTTLS");
    return next::close;
}

// ---- what is done to a client on purpose ----

// What is to be done behind the reply that was written last; now, or when its delay is over.
session::next session::in_time(server_stage stage, next what) {
    if (!reply_.may_wait()) return what;
    const stage_effect effect = reply_.settle();
    if (effect.close != cut::no) {
        what = next::cut;
        // What is refused is one error, though the connection ends with it.
        if (!effect.reply || effect.reply->positive())
            tally().errors.add(proto::to_text(stage), 0, to_text(reply_.ending()), effect.why);
    }
    const auto delay = context_.rules.delays[static_cast<std::size_t>(stage)] + effect.delay;
    // What is cut behind a reply that is still to come: process() cuts it then.
    const bool answers_first = what == next::cut && !reply_.unsaid() && !answers_ready();
    const bool nothing_to_delay =
        reply_.empty() && what == next::read && stage != server_stage::connect;
    if (!answers_first && (delay.count() <= 0 || nothing_to_delay)) {
        reply_.let_go(output_->text);
        return what;
    }
    hold_for_ = delay;
    then_ = answers_first ? next::answers : what;
    return next::hold;
}

asio::awaitable<void> session::pause(std::chrono::nanoseconds how_long) {
    if (stopped_now_) co_return lost(net::fault::stopped);
    clear_deadline();
    asio::steady_timer timer(context_.own.context(), how_long);
    timer_ = &timer;
    state_ = state::held_back;
    boost::system::error_code cancelled;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    state_ = state::at_work;
    timer_ = nullptr;
    const load::steady_time before = std::exchange(now_, steady_clock::now());
    patience_.held_back(now_ - before);
    if (cancelled) co_return lost(net::fault::stopped);
    // converse() sets none while a line has begun.
    wait_for_client();
}

// What was written last waits for its time; what stood before it has been sent.
asio::awaitable<void> session::hold_back() {
    input_.keep();
    co_await pause(hold_for_);
    if (over()) co_return;
    reply_.let_go(output_->text);
    reply_.give_back(0);
    if (!reply_.unsaid()) answers_due_now();
}

// On purpose: of what is under way the client hears nothing more.
asio::awaitable<void> session::cut_off() {
    if (auto* shown = visitor_.transcript()) shown->note(to_text(reply_.ending()));
    if (reply_.ending() == cut::silence) {
        input_.forget();
        wait_for_client();
        while (!context_.own.stopping() && connection_.is_open()) {
            state_ = state::reading;
            if (connection_.something_to_read()) {
                co_await let_others_run();
            } else {
                co_await connection_.wait_to_read();
            }
            state_ = state::at_work;
            if (connection_.read_ready(context_.input).why != net::fault::none) break;
        }
    }
    state_ = state::over;
    reply_.ending() == cut::rst ? connection_.reset() : hang_up();
}

// ---- what is counted ----

// After the machine has taken it in.
void session::command_answered(server_stage stage, const proto::server_reply& reply) {
    // What strikes a limit does not follow from anything else.
    if (!reply.positive() && (!reply.limit.empty() || !books_.follows_refusal(stage)))
        count_refusal(stage, reply);
    if (stage == server_stage::mail) return books_.sender_answered(reply, !input_.empty());
    if (stage == server_stage::rcpt) return books_.recipient_answered(reply, !input_.empty());
    const unsigned refused = stage == server_stage::data ? books_.content_answered(reply) : 0;
    if (machine_.in_transaction()) return;
    message_dropped();
    books_.refused_with(refused);
}

void session::message_refused(const proto::server_step& step) {
    patience_.begin_anew(now_);
    books_.message_refused(step.reply.code);
    drop_message();
    for (std::uint32_t i = 0; i < step.replies; ++i)
        count_refusal(step.stage, step.reply);
}

// The connection ends with this reply, and with it what is under way.
void session::sent_away(const proto::server_step& step) {
    quit_ = step.stage == server_stage::quit;
    if (step.stage == server_stage::end) {
        message_refused(step);
    } else if (!step.reply.positive()) {
        command_answered(step.stage, step.reply);
    }
    if (!quit_) books_.refused_with(step.reply.code);
}

// Whatever was begun and has no outcome yet.
void session::message_dropped() {
    const bool in_doubt = outcome_pending();
    const std::uint32_t units = books_.dropped(in_doubt);
    drop_message();
    for (std::uint32_t i = 0; stopped_now_ && i < units; ++i) {
        tally().errors.add(in_doubt ? "end" : "data", 0, net::to_text(net::fault::stopped),
                           "a message was abandoned when the server stopped");
    }
}

void session::count_refusal(server_stage stage, const proto::server_reply& reply) {
    tally().errors.add(proto::to_text(stage), reply.code, reply.enhanced, reply.text);
    if (!reply.limit.empty()) tally().limits.add(reply.limit);
}

// Their replies have been handed to the kernel.
void session::count_answered() {
    const load::steady_time sent = steady_clock::now();
    for (const load::steady_time begun : output_->answered) {
        tally().latency[context_.rules.message_phase].record(sent - begun);
    }
    output_->answered.clear();
}

void session::count_unheard() {
    if (connection_.is_open()) connection_.settle();
    tally().unheard += heard_.unheard(connection_.octets_out, quit_);
    doubtful_answers(quit_);
}

// The session ends without QUIT.
void session::lost(net::fault why) {
    if (over()) return;
    state_ = state::over;
    if (auto* shown = visitor_.transcript()) shown->note(net::to_text(why));
    if (why == net::fault::closed && leaves_idle()) {
        ++tally().idle_closes;
        return;
    }
    // Of a message that may still be delivered its client must not be told otherwise.
    if (why == net::fault::stopped && outcome_pending()) return hang_up();
    if (why == net::fault::stopped) return close_politely(closing_for_stop);
    if (why == net::fault::timeout && !patience_.silence()) {
        const auto [stage, words] = patience_.of_end(machine_);
        count_refusal(stage, words);
        return close_politely(words);
    }
    const std::string_view stage = outcome_pending()            ? "end"
                                   : machine_.reading_content() ? "data"
                                                                : "quit";
    const bool left = why == net::fault::closed;
    if (why == net::fault::tls) {
        tally().errors.add(stage, 0, connection_.tls_problem().reason,
                           connection_.tls_problem().text);
        return;
    }
    tally().errors.add(stage, 0, left ? "no_quit" : net::to_text(why),
                       left ? "the client closed the connection without QUIT"
                            : "the session did not end with QUIT");
    if (why == net::fault::timeout) close_politely(closing_for_silence);
}

// ---- how a client leaves ----

void session::watch_for_leaving() {
    connection_.when_readable([this] {
        if (connection_.peer_has_ended()) return wake();
        watch_for_leaving();
    });
}

// A reset, or a closed Unix socket, is certain: nobody is there. Of TCP the kernel shows a close
// and a client that has only shut its sending side in the same way, as an end of what the client
// says. RFC 5321 (4.1.1.10) has clients say QUIT before they close, and wait for the reply: so an
// end without QUIT is a client that has left, and one with QUIT behind what is to be answered still
// waits. Who leaves is answered all the same; a client that shuts its side down without QUIT and
// reads on is told what became of its mail.
bool session::client_has_left() {
    if (!connection_.peer_has_ended()) return false;
    return connection_.peer_is_deaf() || !input_.ends_in_quit(connection_);
}

// Its last transaction is over and answered, and it has had the answer: clients that keep
// connections for the next message, as Postfix does, close them so when none comes.
bool session::leaves_idle() {
    connection_.settle();
    return books_.had_transaction() && books_.begun() == 0 && at_rest() &&
           heard_.all(connection_.octets_out) && !machine_.in_line() && !machine_.in_auth();
}

// ---- the worker's calls ----

void session::on_deadline() {
    connection_.cancel(net::cancelled_by::deadline);
}

// In a gentle stop, a transaction that is under way may end; see run() for what comes then.
void session::on_stop(load::stop_kind how) {
    stopped_now_ = how == load::stop_kind::now;
    if (stopped_now_) {
        stop_now();
        if (state_ == state::held_back) timer_->cancel();
        connection_.cancel(net::cancelled_by::stop);
        return;
    }
    stop_gently();
    const bool idle = at_rest() || state_ == state::shaking_hands;
    if (idle && state_ == state::held_back) timer_->cancel();
    const bool reads = state_ == state::reading || state_ == state::shaking_hands;
    if (reads && (idle || reply_.ending() == cut::silence))
        connection_.cancel(net::cancelled_by::stop);
}

// Their places in session_states().
std::optional<std::size_t> session::session_state() const noexcept {
    if (state_ >= state::awaiting_answers)
        return 3 + static_cast<std::size_t>(state_) -
               static_cast<std::size_t>(state::awaiting_answers);
    return machine_.reading_content() ? 2 : machine_.in_transaction() ? 1 : 0;
}

// Nothing is under way, and no message waits for its answer.
bool session::at_rest() const {
    return !machine_.in_transaction() && machine_.answers_due() == 0 && !outcome_pending();
}

}  // namespace postal::serve
