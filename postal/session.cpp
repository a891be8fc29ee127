// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/session.hpp"

#include <limits>
#include <new>
#include <string>

#include "postal/phases.hpp"
#include "proto/smtp/client_commands.hpp"

namespace postal::sender {

namespace {

constexpr std::uint64_t how_many = 0x686f77206d616e79;  // keeps its numbers apart from others'

constexpr client::channel::phases counted{
    static_cast<std::size_t>(phase::connect),
    {static_cast<std::size_t>(phase::tls), static_cast<std::size_t>(phase::tls_resumed)}};

}  // namespace

session::session(worker_context& of, unsigned index)
    : context_(of),
      shared_(of.shared),
      plan_(of.of_run),
      target_(plan_.targets[index % plan_.targets.size()]),
      opening_(shared_, index),
      channel_(shared_, {*this, opening_.place()}, index, counted),
      exchange_(plan_, of.maker, of.outcomes, index),
      random_(base::mix(plan_.load.seed, how_many, index)) {
    exchange_.set_transcript(channel_.transcript());
    exchange_.set_server(target_.where.text);
    channel_.connection().tell(this);
    shared_.own.watch(*this);
}

asio::awaitable<void> session::run() {
    try {
        co_await go_on();
    } catch (const std::bad_alloc&) {
        abandon();
        throw;
    }
}

// Memory has run out, which ends the run: what was under way is accounted for all the same, for a
// server may have taken it.
void session::abandon() noexcept {
    try {
        net::connection& line = channel_.connection();
        line.settle();
        exchange_.lost({"resources", target_.where.text, line.octets_out},
                       context_.at(channel_.read_clock()));
    } catch (const std::bad_alloc&) {
    }
}

asio::awaitable<void> session::go_on() {
    bool open = co_await opening_.wait_for_turn();
    while (open) {
        open = co_await may_connect();
        if (!open) break;
        const bool fine = co_await converse();
        if (!fine) co_await opening_.back_off();
    }
    opening_.return_ticket();
}

// A session that keeps its connection opens it at once and is then let through from message to
// message. Others connect when they have something to send; one whose server does not answer
// leaves the messages to others until it does.
bool session::connects_without_ticket() const noexcept {
    const bool keeps = plan_.chosen.messages_a_connection < 0 && !plan_.load.open_loop;
    const bool doubtful =
        opening_.failing() && !plan_.load.rate && plan_.chosen.messages_a_connection != 0;
    return keeps || doubtful;
}

asio::awaitable<bool> session::may_connect() {
    if (stopping()) co_return false;
    if (connects_without_ticket()) co_return !shared_.gate.over();
    const bool connection_alone = plan_.chosen.messages_a_connection == 0;
    co_return co_await opening_.wait_for_ticket(connection_alone ? 1 : exchange_.wanted());
}

// ---- one connection ----

// True when nothing is wrong with the server.
asio::awaitable<bool> session::converse() {
    channel_.set_hurried(true);
    looked_at_ = on_the_way_ = 0;
    const bool connected = co_await channel_.open(target_, random_);
    if (!connected) co_return false;
    parser_.reset();
    const bool fine = co_await talk();
    channel_.end();
    co_return fine;
}

asio::awaitable<bool> session::talk() {
    step how = co_await introduce();
    if (how == step::refused) co_await part();
    if (how == step::done && !stopping() && plan_.load.auth.chosen.wanted()) {
        how = co_await authenticate();
        if (how == step::refused) co_await say_quit();
    }
    if (how != step::done) co_return false;
    if (stopping()) {
        co_await say_quit();
        co_return true;
    }
    const std::uint64_t messages = messages_for_connection();
    exchange_.begin(offered_, messages, sender_);
    load::ticket go = opening_.use();
    if (messages > 0) {  // otherwise the connection itself was what the ticket admitted
        const std::string left_out = exchange_.left_out();
        if (!left_out.empty()) shared_.counts().not_offered.add(left_out);
        if (go.what == load::pass::go) exchange_.take(std::move(go));
        how = co_await exchange_mail();
    }
    bool fine = how == step::done;
    if (fine) {
        how = co_await say_quit();
        fine = how != step::failed;
    }
    if (fine || exchange_.any_accepted()) opening_.succeeded();
    co_return fine;
}

// Up to where mail or AUTH may be said; a stop leaves out what is left.
asio::awaitable<session::step> session::introduce() {
    if (channel_.tls().at_once()) {
        const bool secured = co_await channel_.secure();
        if (!secured) co_return step::failed;
    }
    step how = co_await hear_greeting();
    if (how == step::done && !stopping()) how = co_await say_ehlo();
    if (how == step::done && channel_.tls().in_dialogue() && !stopping()) {
        how = co_await start_tls();
    }
    if (how == step::done && plan_.chosen.origin.xclient && !stopping()) {
        how = co_await say_xclient();
    }
    if (how == step::done && !stopping()) miss_dsn_once();
    co_return how;
}

std::uint64_t session::messages_for_connection() {
    const std::int64_t most = plan_.chosen.messages_a_connection;
    if (most < 0) return std::numeric_limits<std::uint64_t>::max();
    if (most <= 1) return static_cast<std::uint64_t>(most);
    return 1 + random_.below(static_cast<std::uint64_t>(most));
}

asio::awaitable<session::step> session::hear_greeting() {
    const load::steady_time connected = channel_.now();
    channel_.set_deadline_for(stage::banner);
    const step how = co_await read_reply(stage::banner);
    if (how != step::done) co_return how;
    channel_.took(phase::banner, channel_.now() - connected);
    channel_.greeted(said().text);
    co_return how;
}

// EHLO, or HELO to a server that does not know it (RFC 5321 3.2); LHLO for LMTP.
asio::awaitable<session::step> session::say_ehlo() {
    const load::steady_time begun = channel_.now();
    step how = co_await say_hello(plan_.chosen.lmtp ? "LHLO" : "EHLO");
    if (how == step::refused && !plan_.chosen.lmtp && said().permanent()) {
        how = co_await say_hello("HELO");
    }
    if (how == step::refused) context_.outcomes.error(stage::ehlo, said(), target_.where.text);
    if (how == step::done) channel_.took(phase::ehlo, channel_.now() - begun);
    co_return how;
}

asio::awaitable<session::step> session::say_hello(std::string_view verb) {
    offered_ = {};
    mechanisms_ = {};
    std::string text;
    proto::append_greeting(text, verb, plan_.helo);
    co_return co_await ask(stage::ehlo, text);  // which must not outlive the text
}

// RFC 3207: what the server said before is forgotten. Anything behind its reply was put there by
// somebody else.
asio::awaitable<session::step> session::start_tls() {
    if (!offered_.starttls) {
        miss("no_starttls");
        channel_.refused(stage::tls, "no_starttls", "the server does not offer STARTTLS");
        co_return step::refused;
    }
    const step how = co_await ask(stage::tls, proto::starttls_command);
    if (how != step::done) co_return how;
    const bool secured = co_await channel_.secure();
    if (!secured) co_return step::failed;
    parser_.reset();
    co_return co_await say_ehlo();
}

// The server greets anew, as if that client had connected.
asio::awaitable<session::step> session::say_xclient() {
    if (!offered_.xclient) {
        miss("no_xclient");
        channel_.refused(stage::xclient, "no_xclient", "the server does not offer XCLIENT ADDR");
        co_return step::refused;
    }
    std::string text;
    const net::ip_address& origin = channel_.origin().address;
    proto::append_xclient(text, origin.is_v4() ? origin.text() : "IPV6:" + origin.text());
    const step how = co_await ask(stage::xclient, text);
    if (how != step::done) co_return how;
    co_return co_await say_ehlo();
}

void session::miss(std::string_view what) {
    if (channel_.transcript() != nullptr) channel_.transcript()->note(what);
}

// Without it the mail goes all the same.
void session::miss_dsn_once() {
    const bool no_dsn = plan_.chosen.dsn.wanted && !offered_.dsn;
    if (no_dsn && !context_.of_run.said_no_dsn.exchange(true)) {
        channel_.refused(stage::ehlo, "no_dsn", "the server does not offer DSN: --dsn is left out");
    }
}

// ---- single commands ----

asio::awaitable<session::step> session::say_quit() {
    channel_.set_hurried(true);
    co_return co_await ask(stage::quit, proto::quit_command);
}

// Behind a refusal that ends the dialogue (RFC 5321 4.1.1.10); a server that has said 421 is gone.
asio::awaitable<void> session::part() {
    constexpr int service_not_available = 421;
    if (parser_.code() == service_not_available) co_return;
    channel_.part();
    channel_.set_hurried(true);
    const bool said = co_await channel_.send(stage::quit, proto::quit_command, proto::quit_command);
    if (said) co_await channel_.hear_more(stage::quit);
}

asio::awaitable<session::step> session::ask(stage where, std::string_view command,
                                            std::string_view shown) {
    const bool sent = co_await channel_.send(where, command, shown);
    if (!sent) co_return step::failed;
    co_return co_await read_reply(where);
}

// One reply, to the end of its last line.
asio::awaitable<session::step> session::read_reply(stage where) {
    bool first_line = true;
    for (;;) {
        std::string_view& heard = channel_.heard();
        if (heard.empty()) {
            const bool fine = co_await channel_.hear_more(where);
            if (!fine) co_return step::failed;
        }
        const proto::reply_event event = parser_.feed(heard);
        if (event == proto::reply_event::need_more) continue;
        if (event == proto::reply_event::malformed) {
            channel_.give_up(where, base::error_name::of(parser_.problem()), parser_.offending());
            co_return step::failed;
        }
        if (where == stage::ehlo && !first_line) {
            offered_.add(parser_.text());
            mechanisms_ |= sasl::parse_mechanisms(proto::auth_mechanisms(parser_.text()));
        }
        first_line = false;
        if (event == proto::reply_event::reply) co_return judge(where);
    }
}

// Whether a reply is what its stage wants. A refusal of EHLO is not counted yet: HELO may do; one
// of AUTH is counted with the mechanism's name.
session::step session::judge(stage where) {
    const reply answer = said();
    const std::string_view behind = channel_.heard();
    const bool ready = where == stage::banner || where == stage::tls;
    const bool wanted = ready                  ? answer.code == 220
                        : where == stage::auth ? answer.code == 235 || answer.code == 334
                                               : answer.positive();
    if (wanted && !behind.empty() && where != stage::quit) {
        base::error_name reason = "unexpected_reply";
        if (where == stage::tls) reason = "injection";
        channel_.give_up(where, reason, behind);
        return step::failed;
    }
    if (wanted) return step::done;
    if (!answer.negative()) {
        context_.outcomes.error(where, {answer.code, "unexpected_code", answer.text},
                                target_.where.text);
        return step::failed;
    }
    if (where != stage::ehlo && where != stage::auth)
        context_.outcomes.error(where, answer, target_.where.text);
    return step::refused;
}

}  // namespace postal::sender
