#include "serve/session.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <utility>

#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/release.hpp"

namespace postal::serve {
namespace {

namespace asio = boost::asio;
using proto::server_event;
using proto::server_stage;
using std::chrono::steady_clock;

constexpr unsigned reads_a_turn = 16;
constexpr unsigned commands_a_turn = 256;
constexpr unsigned most_last_reads = 64;
constexpr std::size_t output_full = 64 * 1024;
constexpr std::size_t kept_capacity = 4096;  // what an idle session may hold on to

enum class shown : std::uint8_t { idle, transaction, content, delivery, delayed, replies, tls };
constexpr std::array state_names{"idle",    "transaction", "content", "delivery",
                                 "delayed", "replies",     "tls"};

// Octets that are read at once at a rate: those of a fifth of a second, and never nothing.
std::size_t room_for(std::uint64_t rate, std::size_t most) {
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(rate / 5, 1, most));
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
    return {state_names.begin(), state_names.end()};
}

session::session(worker_context& context, accepted_client&& who, std::string_view host_name)
    : context_(context),
      slot_(std::move(who.where)),
      trusted_(who.socket.family == AF_UNIX),
      connection_(context.own.context()),
      output_(context.output),
      machine_(context.rules.server, host_name),
      holds_back_(context.rules.may_hold_back()),
      patience_(context.rules, trusted_),
      tls_at_once_(who.tls) {
    context_.own.watch(*this);
    if (trusted_) machine_.trust_client();
    const net::fault why = connection_.adopt(std::move(who.socket));
    if (why != net::fault::none) {
        tally().errors.add("connect", 0, net::to_text(why), "cannot use an accepted socket");
        state_ = state::over;
    }
    if (slot_.transcript != nullptr) slot_.transcript->begin_connection("a client");
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
                if (read_rate_ != 0 && read_at_once_ != 0) co_await read_no_faster();
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
                keep_input();
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
    const bool client_begins = tls_at_once_ || !context_.rules.proxies.empty();
    if (client_begins && context_.own.stopping()) state_ = state::over;
    if (!over() && !context_.rules.proxies.empty()) co_await hear_proxy();
    if (over() || !admitted()) co_return;
    if (tls_at_once_) co_await secure();
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
    keep_input();
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
    let_go();
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
    keep_input();
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
    std::span<char> room = context_.input;
    if (read_rate_ != 0) room = room.first(room_for(read_rate_, room.size()));
    const net::read_result got = connection_.read_ready(room);
    if (got.why != net::fault::none) lost(got.why);
    // What came before a rate was set was read as it came.
    read_at_once_ = read_rate_ == 0 ? 0 : got.size;
    const load::steady_time before = std::exchange(now_, steady_clock::now());
    if (machine_.content_begun()) patience_.content_waited(now_ - before);
    input_ = {context_.input.data(), got.size};
}

void session::wait_for_client() {
    set_deadline(patience_.of_silence(now_));
}

void session::be_patient() {
    if (machine_.in_line()) return;
    set_deadline(patience_.of_client(now_, machine_, read_rate_ != 0));
}

// Before a suspension: the thread's buffer will be another session's.
void session::keep_input() {
    const auto begins = [](std::string_view first, std::string_view then) {
        return std::less_equal<>()(first.data(), then.data());
    };
    const std::string_view behind(kept_.data() + kept_.size(), 0);
    if (begins(kept_, input_) && begins(input_, behind)) return;  // there already
    std::string kept(input_);
    kept_.swap(kept);
    input_ = kept_;
}

session::next session::process() {
    if (then_ != next::read) return std::exchange(then_, next::read);
    if (cut_ != cut::no) return next::cut;
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
        const was_reading before_it = machine_.reading_content() ? was_reading::content
                                      : machine_.in_auth()       ? was_reading::secrets
                                                                 : was_reading::commands;
        const proto::server_step step = machine_.consume(input_, output());
        if (slot_.transcript != nullptr && step.consumed != 0) {
            write_down(input_.substr(0, step.consumed), before_it);
        }
        input_.remove_prefix(step.consumed);
        if (step.event == server_event::need_more) {
            if (kept_.capacity() > kept_capacity) base::release(kept_);
            if (held_.capacity() > kept_capacity) base::release(held_);
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
    if (about.stage == server_stage::mail && !may_hold_more()) return too_much_in_hand;
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
            message_begins();
            // Of a chunk the reply follows its octets.
            if (step.replies == 0) return next::read;
            break;
        case server_event::message_end:
            message_ends();
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
    if (what != next::hold && !unsaid()) answers_due_now();
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

// A command stands in the transcript when it is whole, so that what AUTH must hide can be seen.
void session::write_down(std::string_view taken, was_reading before) {
    constexpr std::size_t longest_shown = 4096;
    if (before == was_reading::content) return slot_.transcript->received_data(taken);
    half_secret_ = half_secret_ || before == was_reading::secrets;
    half_line_.append(taken.substr(0, longest_shown));
    if (machine_.in_line()) return half_line_.resize(std::min(half_line_.size(), longest_shown));
    const std::string line = std::exchange(half_line_, {});
    const bool secret = std::exchange(half_secret_, false);
    slot_.transcript->received(secret ? "***" : proto::without_secret(line));
}

void session::act_on_reply(const proto::server_step& step) {
    const bool nested = !step.reply.positive() && machine_.in_transaction();
    if (step.stage == server_stage::mail && !nested) sender_comes();
    if (step.reply.positive() && step.stage == server_stage::ehlo) greeted(step.text);
    command_answered(step.stage, step.reply);
}

// True when all of the output is on its way, or the connection has failed.
bool session::send_now(closing_after close) {
    if (output_->text.empty()) return true;
    if (slot_.transcript != nullptr) slot_.transcript->sent(output_->text);
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
    if (reads && (idle || cut_ == cut::silence)) connection_.cancel(net::cancelled_by::stop);
}

std::optional<std::size_t> session::session_state() const noexcept {
    const auto at = [](shown what) { return static_cast<std::size_t>(what); };
    switch (state_) {
        case state::shaking_hands:
            return at(shown::tls);
        case state::sending:
            return at(shown::replies);
        case state::held_back:
            return at(shown::delayed);
        case state::awaiting_answers:
            return at(shown::delivery);
        case state::at_work:
        case state::reading:
        case state::over:
            break;
    }
    return at(machine_.reading_content()  ? shown::content
              : machine_.in_transaction() ? shown::transaction
                                          : shown::idle);
}

// Nothing is under way, and no message waits for its answer.
bool session::at_rest() const {
    return !machine_.in_transaction() && machine_.answers_due() == 0 && !outcome_pending();
}

}  // namespace postal::serve
