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

enum class state : std::uint8_t { idle, transaction, content, delivery, delayed, replies, tls };
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
      machine_(context.rules.server, host_name, context.rules.judges_stages ? this : nullptr),
      tls_at_once_(who.tls) {
    context_.own.watch(*this);
    if (trusted_) machine_.trust_client();
    const net::fault why = connection_.adopt(std::move(who.socket));
    if (why != net::fault::none) {
        tally().errors.add("connect", 0, net::to_text(why), "cannot use an accepted socket");
        closing_ = true;
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
        if (!closing_) co_await converse();
        co_await finish_work();
    } catch (const std::bad_alloc&) {
        closing_ = true;
        output_.give_back();
        connection_.close();
        whatever_happens([this] { stop_now(); });
        count_no_memory(tally());
    }
    whatever_happens([this] { count_unheard(); });
    whatever_happens([this] { message_dropped(); });
}

asio::awaitable<void> session::converse() {
    // A stop may have come before this coroutine first ran, when nobody could tell it; a client
    // that has to begin with TLS or a header could not read a goodbye.
    const bool client_begins = tls_at_once_ || !context_.rules.proxies.empty();
    if (client_begins && context_.own.stopping()) closing_ = true;
    if (!closing_ && !context_.rules.proxies.empty()) co_await hear_proxy();
    if (!closing_ && !admitted()) co_return;
    if (tls_at_once_ && !closing_) co_await secure();
    if (!closing_) co_await greet();
    commands_left_ = commands_a_turn;
    while (!closing_) {
        if (context_.own.stopping() && !machine_.in_transaction()) {
            close_politely(closing_for_stop);
            break;
        }
        if (read_rate_ != 0 && read_at_once_ != 0) co_await read_no_faster();
        if (closing_) break;
        be_patient();
        reading_ = true;
        if (!connection_.something_to_read()) {
            co_await connection_.wait_to_read();
            commands_left_ = commands_a_turn;
        } else if (++reads_in_a_row_ % reads_a_turn == 0) {
            co_await let_others_run();
        }
        reading_ = false;
        if (!read_input()) continue;
        for (;;) {
            const next what = process();
            const bool ends = what == next::close || what == next::stop || what == next::cut ||
                              what == next::secure;
            if (!send_now(ends ? closing_after::yes : closing_after::no)) co_await send_slowly();
            if (closing_ || what == next::read) break;
            if (what == next::stop) {
                close_politely(closing_for_stop);
            } else if (what == next::close) {
                hang_up();
            } else if (what == next::cut) {
                co_await cut_off();
            } else if (what == next::others) {
                keep_input();
                co_await let_others_run();
                now_ = steady_clock::now();
            } else if (what == next::hold) {
                co_await hold_back();
            } else if (what == next::answers) {
                co_await wait_for_answers();
            } else if (what == next::secure) {
                co_await secure();
            }
            if (closing_) break;
        }
    }
}

// A client that sends faster than we read would keep the thread to itself.
asio::awaitable<void> session::let_others_run() {
    co_await asio::post(context_.own.context(), asio::use_awaitable);
    commands_left_ = commands_a_turn;
}

asio::awaitable<void> session::greet() {
    now_ = steady_clock::now();
    message_time_.restart(now_, context_.rules.message_time);
    if (context_.rules.judges_stages) judge_stage(server_stage::connect, {}, {});
    next what = in_time(server_stage::connect, 0, next::read);
    if (what == next::hold) {
        co_await pause(hold_for_);
        what = std::exchange(then_, next::read);
    }
    if (what == next::cut && !closing_) co_await cut_off();
    if (closing_) co_return;
    connection_ready();
    const proto::server_step step = machine_.greet(output_->text);
    if (!step.reply.positive()) count_refusal(step.stage, step.reply);
    const bool refused = step.event == server_event::close;
    what = in_time(step.stage, 0, refused ? next::close : next::read);
    if (what == next::hold) {
        co_await hold_back();
        what = std::exchange(then_, next::read);
    }
    if (closing_) co_return;
    if (!send_now(what == next::read ? closing_after::no : closing_after::yes)) {
        co_await send_slowly();
    }
    if (closing_) co_return;
    if (what == next::close) hang_up();
    if (what == next::cut) co_await cut_off();
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
    message_time_.restart(now_, context_.rules.message_time);
    if (stopped_now_) co_return lost(net::fault::stopped);
    give_answers();
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
    sleeping_ = &timer;
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    sleeping_ = nullptr;
}

void session::wake() {
    if (sleeping_ != nullptr) sleeping_->cancel();
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
    writing_ = true;
    const net::fault why = co_await connection_.write_rest(rest);
    base::release(unsent_);
    now_ = steady_clock::now();
    if (why != net::fault::none) lost(why);
    writing_ = false;
}

// ---- bytes ----

// False when nothing came, or the session is over.
bool session::read_input() {
    std::span<char> room = context_.input;
    if (read_rate_ != 0) room = room.first(room_for(read_rate_, room.size()));
    const net::read_result got = connection_.read_ready(room);
    if (got.why != net::fault::none) lost(got.why);
    // What came before a rate was set was read as it came.
    read_at_once_ = read_rate_ == 0 ? 0 : got.size;
    const load::steady_time before = std::exchange(now_, steady_clock::now());
    if (machine_.content_begun()) content_time_.waited(now_ - before);
    input_ = {context_.input.data(), got.size};
    return got.size != 0;
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
    if (std::exchange(answers_first_, false)) return next::answers;
    if (then_ != next::read) return std::exchange(then_, next::read);
    for (;;) {
        if (machine_.answers_due() != 0) return next::answers;
        // A client that pipelines is between two transactions only here.
        if (context_.own.stopping() && at_rest()) return next::stop;
        const std::size_t before = output_->text.size();
        const was_reading before_it = machine_.reading_content() ? was_reading::content
                                      : machine_.in_auth()       ? was_reading::secrets
                                                                 : was_reading::commands;
        const proto::server_step step = machine_.consume(input_, output_->text);
        if (slot_.transcript != nullptr && step.consumed != 0) {
            write_down(input_.substr(0, step.consumed), before_it);
        }
        input_.remove_prefix(step.consumed);
        if (step.event == server_event::need_more) {
            if (kept_.capacity() > kept_capacity) base::release(kept_);
            return next::read;
        }
        const next what = act_on(step, before);
        if (what != next::read) return what;
        if (output_->text.size() > output_full) return next::flush;
        if (step.event != server_event::content && --commands_left_ == 0) return next::others;
    }
}

// One step of the machine; `before` is how long the output was before its reply.
session::next session::act_on(const proto::server_step& step, std::size_t before) {
    next what = next::read;
    switch (step.event) {
        case server_event::content:
            take_content(step.text);
            return next::read;
        case server_event::sender: {
            sender_comes();
            const proto::server_reply judged = may_hold_more() ? judge_sender() : too_much_in_hand;
            machine_.answer_sender(judged, output_->text);
            command_answered(step.stage, judged);
            what = end_if_closing(judged);
            break;
        }
        case server_event::recipient: {
            const proto::server_reply judged = judge_recipient();
            machine_.answer_recipient(judged, output_->text);
            command_answered(step.stage, judged);
            what = end_if_closing(judged);
            break;
        }
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
            what = begin_tls(before);
            break;
        case server_event::close:
            sent_away(step);
            what = next::close;
            break;
        case server_event::go_on:
        case server_event::need_more:
            return next::read;
    }
    what = in_time(step.stage, before, what);
    if (what != next::hold && !unsaid_) answers_due_now();
    return what;
}

session::next session::answer_auth(const proto::server_step& step) {
    const auth_answer answer = judge_auth(step);
    if (answer.asks) {
        machine_.ask_auth(answer.challenge, output_->text);
        return next::read;
    }
    const bool last_error = machine_.answer_auth(answer.reply, output_->text);
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
    said_ += output_->text.size();
    if (accepted_in_output_ != 0) note_accepted();
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
    closing_ = true;
    if (!connection_.is_open()) return;
    connection_.shutdown_output();
    for (unsigned rounds = 0; rounds < most_last_reads; ++rounds) {
        if (connection_.read_now(context_.input) == 0) break;
    }
}

// Unless the client is in the middle of replies that it does not read.
void session::close_politely(const proto::server_reply& last_words) {
    closing_ = true;
    if (!connection_.is_open() || writing_) return;
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
        if (pausing_ != nullptr) pausing_->cancel();
        connection_.cancel(net::cancelled_by::stop);
        return;
    }
    stop_gently();
    const bool idle = at_rest() || shaking_hands_;
    if (idle && pausing_ != nullptr) pausing_->cancel();
    if ((idle || cut_ == cut::silence) && reading_) connection_.cancel(net::cancelled_by::stop);
}

std::optional<std::size_t> session::session_state() const noexcept {
    const state now = shaking_hands_               ? state::tls
                      : writing_                   ? state::replies
                      : pausing_ != nullptr        ? state::delayed
                      : sleeping_ != nullptr       ? state::delivery
                      : machine_.reading_content() ? state::content
                      : machine_.in_transaction()  ? state::transaction
                                                   : state::idle;
    return static_cast<std::size_t>(now);
}

// Nothing is under way, and no message waits for its answer.
bool session::at_rest() const {
    return !machine_.in_transaction() && machine_.answers_due() == 0 && !outcome_pending();
}

}  // namespace postal::serve
