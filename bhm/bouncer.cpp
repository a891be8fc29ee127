// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/bouncer.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <new>
#include <utility>

#include "base/random.hpp"
#include "mail/message.hpp"
#include "proto/smtp/client_commands.hpp"

namespace postal::bhm {
namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

constexpr auto patience = std::chrono::minutes(1);
constexpr std::array<std::chrono::seconds, 2> pauses{std::chrono::seconds(1),
                                                     std::chrono::seconds(5)};

constexpr std::array<std::string_view, 2> greetings{"EHLO", "HELO"};

bool needs_smtputf8(const bounce& one) noexcept {
    return !mail::is_ascii(one.forward_path);
}

// RFC 5321 4.5.2, with the final dot. The text ends in CRLF.
std::string stuffed(std::string_view text) {
    std::string out;
    out.reserve(text.size() + 64);
    while (!text.empty()) {
        if (text.front() == '.') out += '.';
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end == text.npos ? end : end + 1);
        out += line;
        text.remove_prefix(line.size());
    }
    return out.append(proto::end_of_data);
}

}  // namespace

bouncer::bouncer(const bounce_route& route, load::worker& own)
    : route_(route), own_(own), line_(own.context()), timer_(own.context()) {
    own_.watch(*this);
}

std::uint64_t bouncer::fresh_number() noexcept {
    return base::mix(route_.run, own_.index(), ++made_);
}

void bouncer::add(bounce one) {
    if (stopped_ || waiting_.size() == most_waiting || octets_ + one.text.size() > most_octets) {
        why_ = stopped_ ? failure{0, "stopped", "the run had ended"}
                        : failure{0, "full", "too many bounces wait for " + route_.text};
        return count_failed();
    }
    const std::size_t size = one.text.size();
    waiting_.push_back(std::move(one));
    octets_ += size;
    if (std::exchange(running_, true)) return;
    try {
        own_.spawn(run());
    } catch (const std::bad_alloc&) {
        running_ = false;
        fail_for_memory();
    }
}

// ---- the conversation ----

asio::awaitable<void> bouncer::run() {
    bool no_memory = false;
    try {
        co_await send_all();
    } catch (const std::bad_alloc&) {
        no_memory = true;
    }
    if (no_memory) fail_for_memory();
    clear_deadline();
    line_.close();
    open_ = false;
    running_ = false;
}

// Until there is none left, also of those that come while it says goodbye.
asio::awaitable<void> bouncer::send_all() {
    while (!waiting_.empty()) {
        while (!waiting_.empty()) {
            co_await send_first();
        }
        if (open_) co_await quit();
    }
}

asio::awaitable<void> bouncer::send_first() {
    attempt how = co_await try_first();
    for (const auto how_long : pauses) {
        if (how != attempt::not_now || stopped_) break;
        co_await pause(how_long);
        if (!stopped_) how = co_await try_first();
    }
    ended(how);
}

asio::awaitable<bouncer::attempt> bouncer::try_first() {
    if (!open_) {
        const bool opened = co_await open();
        if (!opened) co_return attempt::not_now;
    }
    const attempt how = co_await say_mail();
    if (how == attempt::sent || !open_) co_return how;
    // What is left of a transaction that was refused must not be taken for the next one's.
    failure why = why_;
    co_await ask(proto::rset_command);
    why_ = std::move(why);
    co_return how;
}

asio::awaitable<bool> bouncer::open() {
    bool fine = co_await connect();
    if (fine) fine = co_await greet();
    if (fine) co_return true;
    clear_deadline();
    line_.close();
    open_ = false;
    co_return false;
}

asio::awaitable<bool> bouncer::connect() {
    net::fault why = net::fault::stopped;
    for (const net::address& one : route_.addresses) {
        if (stopped_) break;
        set_deadline(steady_clock::now() + patience);
        why = co_await line_.open(one, std::nullopt);
        if (why == net::fault::none) break;
    }
    parser_.reset();
    heard_ = {};
    open_ = why == net::fault::none;
    co_return open_ || lost(why);
}

// RFC 5321 3.1, 3.2.
asio::awaitable<bool> bouncer::greet() {
    set_deadline(steady_clock::now() + patience);
    const bool greeted = co_await hear();
    if (!greeted) co_return false;
    if (parser_.code() != 220) {
        refused_now();
        co_return false;
    }
    for (const std::string_view verb : greetings) {
        std::string text;
        proto::append_greeting(text, verb, route_.host_name);
        offered_ = {};
        hearing_ehlo_ = true;
        const bool answered = co_await ask(text);
        hearing_ehlo_ = false;
        if (!answered) co_return false;
        if (parser_.code() == 250) co_return true;
        refused_now();
        if (parser_.code() < 500) break;
    }
    co_return false;
}

asio::awaitable<bouncer::attempt> bouncer::say_mail() {
    const bounce& one = waiting_.front();  // which stays where it is when others come
    if (needs_smtputf8(one) && !offered_.smtputf8) {
        why_ = failure{0, "no_smtputf8", route_.text + " does not offer SMTPUTF8"};
        co_return attempt::refused;
    }
    std::string text;
    proto::append_mail(text, "",
                       {.eight_bit_mime = needs_smtputf8(one) && offered_.eight_bit_mime,
                        .smtputf8 = needs_smtputf8(one)});
    bool answered = co_await ask(text);
    if (!answered) co_return attempt::not_now;
    if (parser_.code() != 250) co_return refused_now();
    text.clear();
    proto::append_rcpt(text, one.forward_path);
    answered = co_await ask(text);
    if (!answered) co_return attempt::not_now;
    if (parser_.code() / 100 != 2) co_return refused_now();
    answered = co_await ask(proto::data_command);
    if (!answered) co_return attempt::not_now;
    if (parser_.code() != 354) co_return refused_now();
    text = stuffed(one.text);
    answered = co_await ask(text);
    if (!answered) co_return attempt::not_now;
    co_return parser_.code() / 100 == 2 ? attempt::sent : refused_now();
}

// Whatever it is answered, nothing depends on it.
asio::awaitable<void> bouncer::quit() {
    co_await ask(proto::quit_command);
    clear_deadline();
    line_.close();
    open_ = false;
}

asio::awaitable<void> bouncer::pause(std::chrono::nanoseconds how_long) {
    clear_deadline();
    timer_.expires_after(how_long);
    boost::system::error_code ignored;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

// ---- octets ----

asio::awaitable<bool> bouncer::ask(std::string_view command) {
    set_deadline(steady_clock::now() + patience);
    net::gather parts;
    parts.add(command);
    const net::fault why = co_await line_.write_rest(parts);
    if (why != net::fault::none) co_return lost(why);
    co_return co_await hear();
}

// One reply, to the end of its last line. A 421 says that the relay closes (RFC 5321 3.8).
asio::awaitable<bool> bouncer::hear() {
    bool first_line = true;
    for (;;) {
        if (heard_.empty()) {
            const net::read_result got = co_await line_.read_some(inbox_);
            if (got.size == 0) co_return lost(got.why);
            heard_ = {inbox_.data(), got.size};
        }
        const proto::reply_event event = parser_.feed(heard_);
        if (event == proto::reply_event::need_more) continue;
        if (event == proto::reply_event::malformed) {
            lost(net::fault::other);
            why_ = failure{0, std::string(parser_.problem()), std::string(parser_.offending())};
            co_return false;
        }
        if (hearing_ehlo_ && !first_line) offered_.add(parser_.text());
        first_line = false;
        if (event != proto::reply_event::reply) continue;
        if (parser_.code() != 421) co_return true;
        refused_now();
        line_.close();
        open_ = false;
        co_return false;
    }
}

// ---- what became of it ----

// By the last reply: for now, unless it is 5xx.
bouncer::attempt bouncer::refused_now() {
    why_ = failure{parser_.code(), std::string(parser_.enhanced()), std::string(parser_.text())};
    return parser_.code() >= 500 ? attempt::refused : attempt::not_now;
}

// Always false: the connection is of no more use.
bool bouncer::lost(net::fault why) {
    why_ = failure{0, std::string(net::to_text(why)), route_.text};
    clear_deadline();
    line_.close();
    open_ = false;
    return false;
}

void bouncer::ended(attempt how) {
    if (waiting_.empty()) return;
    octets_ -= waiting_.front().text.size();
    waiting_.pop_front();
    if (how == attempt::sent) {
        ++own_.tally().bounces_sent;
    } else {
        count_failed();
    }
}

void bouncer::count_failed() {
    ++own_.tally().bounces_failed;
    own_.tally().errors.add("bounce", why_.code, why_.detail, why_.text);
}

void bouncer::fail_for_memory() {
    why_ = failure{0, std::string(net::to_text(net::fault::resources)), "no memory"};
    while (!waiting_.empty())
        ended(attempt::not_now);
}

// ---- the worker's calls ----

void bouncer::on_deadline() {
    line_.cancel(net::cancelled_by::deadline);
}

// Gently: what waits is sent.
void bouncer::on_stop(load::stop_kind how) {
    if (how != load::stop_kind::now) return;
    stopped_ = true;
    timer_.cancel();
    line_.cancel(net::cancelled_by::stop);
}

}  // namespace postal::bhm
