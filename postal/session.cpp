#include "postal/session.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/client_commands.hpp"

namespace postal {

namespace {

namespace asio = boost::asio;
using std::chrono::nanoseconds;

constexpr unsigned opened_at_once = 100;
constexpr auto first_pause = std::chrono::milliseconds(100);
constexpr auto longest_pause = std::chrono::seconds(5);
constexpr auto patience_after_stop = std::chrono::seconds(1);  // with greetings and goodbyes
constexpr std::uint64_t how_many = 0x686f77206d616e79;  // keeps its numbers apart from others'

}  // namespace

session::session(workshop& shop, unsigned index)
    : shop_(shop),
      plan_(shop.of_run),
      target_(plan_.targets[index % plan_.targets.size()]),
      books_(shop.own),
      line_(shop.own.context()),
      exchange_(shop, index),
      place_(shop.own),
      dialer_({shop.own, shop.gate, place_, *this}, line_),
      tls_(plan_.tls,
           {static_cast<std::size_t>(phase::tls), static_cast<std::size_t>(phase::tls_resumed)}),
      random_(base::mix(plan_.seed, how_many, index)),
      index_(index) {
    const net::transcript_options& wanted = plan_.chosen.transcripts;
    if (wanted.wanted()) transcript_ = std::make_unique<net::transcript>(wanted, index);
    exchange_.set_transcript(transcript_.get());
    shop_.own.watch(*this);
}

asio::awaitable<void> session::run() {
    bool open = co_await wait_to_open();
    while (open) {
        open = co_await may_connect();
        if (!open) break;
        const bool fine = co_await converse();
        if (!fine) co_await back_off();
    }
    return_ticket();
}

// Nothing was started with it. What an open loop cannot begin any more stays in the books.
void session::return_ticket() {
    if (ticket_.what != load::pass::go) return;
    if (shop_.own.stopping() && plan_.chosen.open_loop) {
        ++shop_.own.tally().not_started;
        shop_.gate.use();
    } else {
        shop_.gate.give_back(ticket_);
    }
    ticket_ = {};
}

// Sessions open one after the other, but for the first, so that the server's accept queue does not
// overflow.
asio::awaitable<bool> session::wait_to_open() {
    const unsigned place = index_ - std::min(index_, opened_at_once);
    const double turn_s = place / plan_.chosen.connect_rate;
    const auto turn =
        std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(turn_s));
    if (turn > std::chrono::milliseconds(1)) co_await shop_.gate.pause(place_, turn);
    co_return !shop_.own.stopping();
}

// A session that keeps its connection opens it at once and is then let through from message to
// message. Others connect when they have something to send.
bool session::keeps_connections() const noexcept {
    return plan_.chosen.messages_a_connection < 0 && !plan_.chosen.open_loop;
}

asio::awaitable<bool> session::may_connect() {
    if (shop_.own.stopping()) co_return false;
    // One whose server does not answer leaves the messages to others until it does.
    const bool doubtful = failures_ > 0 && !plan_.rate && plan_.chosen.messages_a_connection != 0;
    if (keeps_connections() || doubtful) co_return !shop_.gate.over();
    if (ticket_.what == load::pass::go) co_return true;
    now_ = std::chrono::steady_clock::now();
    ticket_ = shop_.gate.try_pass(now_);
    if (ticket_.what == load::pass::wait) ticket_ = co_await shop_.gate.wait(place_);
    if (ticket_.what == load::pass::go) shop_.gate.hold();
    co_return ticket_.what == load::pass::go;
}

asio::awaitable<void> session::back_off() {
    return_ticket();
    shop_.gate.give_share_back();
    const unsigned doublings = std::min(failures_, 6U);
    ++failures_;
    co_await shop_.gate.pause(
        place_, std::min<nanoseconds>(first_pause * (1U << doublings), longest_pause));
}

// ---- one connection ----

// True when nothing is wrong with the server.
asio::awaitable<bool> session::converse() {
    const bool connected = co_await connect();
    if (!connected) co_return false;
    books_.connected();
    const bool fine = co_await talk();
    clear_deadline();
    tls_.keep_ticket(line_);
    line_.close();
    state_ = state::connecting;
    books_.disconnected();
    co_return fine;
}

asio::awaitable<bool> session::connect() {
    state_ = state::connecting;
    const load::steady_time begun = std::chrono::steady_clock::now();
    const net::fault why =
        co_await dialer_.open(target_, shop_.next_local_address(), plan_.chosen.timeouts.connect);
    if (why != net::fault::none) {
        if (why != net::fault::stopped) count_fault(stage::connect, why);
        co_return false;
    }
    now_ = std::chrono::steady_clock::now();
    books_.took(phase::connect, now_ - begun);
    if (transcript_) transcript_->begin_connection(target_.where.text);
    if (plan_.origin.proxy || plan_.chosen.origin.xclient) {
        origin_ = client::draw_origin(plan_.origin, random_);
    }
    if (!plan_.origin.proxy) co_return true;
    const net::fault sent = co_await client::send_proxy_header(line_, *plan_.origin.proxy, origin_);
    if (sent != net::fault::none) count_fault(stage::connect, sent);
    co_return sent == net::fault::none;
}

asio::awaitable<bool> session::talk() {
    parser_.reset();
    heard_ = {};
    state_ = state::greeting;
    tls_.choose(random_);
    step how = step::done;
    if (tls_.at_once()) how = co_await shake_hands();
    if (how == step::done) how = co_await hear_greeting();
    if (how == step::done && !shop_.own.stopping()) how = co_await say_ehlo();
    if (how == step::done && tls_.in_dialogue() && !shop_.own.stopping()) {
        how = co_await start_tls();
    }
    if (how == step::done && plan_.chosen.origin.xclient && !shop_.own.stopping()) {
        how = co_await say_xclient();
    }
    if (how != step::done || (!shop_.own.stopping() && !offers_what_is_needed())) co_return false;
    if (plan_.auth.chosen.wanted() && !shop_.own.stopping()) {
        how = co_await authenticate();
        if (how == step::refused) co_await say_quit();
    }
    if (how != step::done) co_return false;
    if (shop_.own.stopping()) {
        co_await say_quit();
        co_return true;
    }
    const std::uint64_t messages = messages_for_connection();
    exchange_.begin(offered_, messages, sender_);
    const load::ticket go = std::exchange(ticket_, {});
    if (go.what == load::pass::go) shop_.gate.use();
    if (messages > 0) {  // otherwise the connection itself was what the ticket admitted
        if (go.what == load::pass::go) exchange_.take(go);
        how = co_await exchange_mail();
    }
    if (how == step::done) {
        how = co_await say_quit();
        if (how != step::failed || exchange_.any_accepted()) failures_ = 0;
        co_return how != step::failed;
    }
    if (exchange_.any_accepted()) failures_ = 0;
    co_return false;
}

std::uint64_t session::messages_for_connection() {
    const std::int64_t most = plan_.chosen.messages_a_connection;
    if (most < 0) return std::numeric_limits<std::uint64_t>::max();
    if (most <= 1) return static_cast<std::uint64_t>(most);
    return 1 + random_.below(static_cast<std::uint64_t>(most));
}

asio::awaitable<session::step> session::hear_greeting() {
    const load::steady_time connected = now_;
    set_deadline_for(stage::banner);
    const step how = co_await read_reply(stage::banner);
    if (how != step::done) co_return how;
    books_.took(phase::banner, now_ - connected);
    co_return how;
}

// EHLO, or HELO to a server that does not know it (RFC 5321 3.2); LHLO for LMTP.
asio::awaitable<session::step> session::say_ehlo() {
    offered_ = {};
    mechanisms_ = {};
    const load::steady_time said = now_;
    step how = co_await say_hello(plan_.chosen.lmtp ? "LHLO" : "EHLO");
    if (how == step::refused && !plan_.chosen.lmtp && parser_.code_class() == 5) {
        offered_ = {};
        mechanisms_ = {};
        how = co_await say_hello("HELO");
    }
    if (how == step::refused) {
        books_.error(stage::ehlo, {parser_.code(), parser_.enhanced(), parser_.text()});
    }
    if (how != step::done) co_return how;
    books_.took(phase::ehlo, now_ - said);
    co_return step::done;
}

asio::awaitable<session::step> session::shake_hands() {
    set_deadline_for(stage::tls);
    const net::fault why = co_await tls_.shake(line_, target_.where, shop_.own.tally());
    now_ = std::chrono::steady_clock::now();
    if (why != net::fault::none) {
        count_fault(stage::tls, why);
        co_return step::failed;
    }
    if (transcript_) transcript_->note("TLS");
    co_return step::done;
}

// RFC 3207: what the server said before is forgotten. Anything behind its reply was put there by
// somebody else.
asio::awaitable<session::step> session::start_tls() {
    if (!offered_.starttls) {
        books_.error(stage::tls, "no_starttls", "the server does not offer STARTTLS");
        co_return step::failed;
    }
    step how = co_await send_text(stage::tls, proto::starttls_command);
    if (how == step::done) how = co_await read_reply(stage::tls);
    if (how == step::done) how = co_await shake_hands();
    if (how != step::done) co_return how;
    parser_.reset();
    co_return co_await say_ehlo();
}

asio::awaitable<session::step> session::say_hello(std::string_view verb) {
    std::string text;
    proto::append_greeting(text, verb, plan_.helo);
    const step how = co_await send_text(stage::ehlo, text);
    if (how != step::done) co_return how;
    co_return co_await read_reply(stage::ehlo);
}

// The server greets anew, as if that client had connected.
asio::awaitable<session::step> session::say_xclient() {
    if (!offered_.xclient) {
        books_.error(stage::xclient, "no_xclient", "the server does not offer XCLIENT ADDR");
        co_return step::failed;
    }
    std::string text;
    const std::string address = origin_.address.text();
    proto::append_xclient(text, origin_.address.is_v4() ? address : "IPV6:" + address);
    step how = co_await send_text(stage::xclient, text);
    if (how == step::done) how = co_await read_reply(stage::xclient);
    if (how != step::done) co_return how;
    co_return co_await say_ehlo();
}

// Mail that the server does not take must not be sent to it (RFC 6152 3, RFC 6531 3.1).
bool session::offers_what_is_needed() {
    std::string_view missing;
    if (plan_.needs_8bit_mime && !offered_.eight_bit_mime) missing = "no_8bitmime";
    if (plan_.needs_smtputf8 && !offered_.smtputf8) missing = "no_smtputf8";
    // Without it the mail goes all the same; that is said once a run.
    const bool no_dsn = plan_.chosen.dsn.wanted && !offered_.dsn;
    if (no_dsn && !shop_.of_run.said_no_dsn.exchange(true)) {
        books_.error(stage::ehlo, "no_dsn", "the server does not offer DSN: --dsn is left out");
    }
    if (missing.empty()) return true;
    books_.error(stage::ehlo, missing, "the server does not offer what the messages need");
    return false;
}

// ---- single commands ----

asio::awaitable<session::step> session::say_quit() {
    state_ = state::quitting;
    const step sent = co_await send_text(stage::quit, proto::quit_command);
    if (sent != step::done) co_return sent;
    const step how = co_await read_reply(stage::quit);
    co_return how;
}

asio::awaitable<session::step> session::send_text(stage where, std::string_view text,
                                                  std::string_view shown) {
    net::gather parts;
    parts.add(text);
    if (transcript_) transcript_->sent(shown);
    set_deadline_for(where);
    net::fault why = net::fault::none;
    if (line_.write_now(parts)) {
        why = line_.last_fault();
    } else {
        why = co_await line_.write_rest(parts);
    }
    if (why == net::fault::none) co_return step::done;
    count_fault(where, why);
    co_return step::failed;
}

// One reply, to the end of its last line.
asio::awaitable<session::step> session::read_reply(stage where) {
    bool first_line = true;
    for (;;) {
        if (heard_.empty()) {
            const net::read_result got = co_await line_.read_some(inbox_);
            if (got.size == 0) {
                count_fault(where, got.why);
                co_return step::failed;
            }
            heard_ = {inbox_.data(), got.size};
            if (transcript_) transcript_->received(heard_);
        }
        const proto::reply_event event = parser_.feed(heard_);
        if (event == proto::reply_event::need_more) continue;
        if (event == proto::reply_event::malformed) {
            books_.error(where, parser_.problem(), parser_.offending());
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
    now_ = std::chrono::steady_clock::now();
    const refusal said{parser_.code(), parser_.enhanced(), parser_.text()};
    const bool ready = where == stage::banner || where == stage::tls;
    const bool wanted = ready                  ? said.code == 220
                        : where == stage::auth ? said.code == 235 || said.code == 334
                                               : parser_.code_class() == 2;
    if (wanted && !heard_.empty() && where != stage::quit) {
        books_.error(where, where == stage::tls ? "injection" : "unexpected_reply", heard_);
        return step::failed;
    }
    if (wanted) return step::done;
    if (said.code < 400) {
        books_.error(where, {said.code, "unexpected_code", said.text});
        return step::failed;
    }
    if (where != stage::ehlo && where != stage::auth) books_.error(where, said);
    return step::refused;
}

// ---- deadlines and stops ----

void session::set_deadline_for(stage what) {
    const phase_timeouts& timeouts = plan_.chosen.timeouts;
    nanoseconds patience = timeouts.command;
    if (what == stage::banner) patience = timeouts.greeting;
    if (what == stage::tls) patience = timeouts.tls;
    if (what == stage::data) patience = timeouts.data;
    if (what == stage::end) patience = timeouts.final_reply;
    if (state_ != state::exchanging && shop_.own.stopping()) {
        patience = std::min<nanoseconds>(patience, patience_after_stop);
    }
    set_deadline(now_ + patience);
}

void session::on_stop(load::stop_kind how) {
    if (how == load::stop_kind::now || state_ == state::connecting) {
        line_.cancel(net::cancelled_by::stop);
    } else if (state_ == state::greeting || state_ == state::quitting) {
        set_deadline(std::min(deadline(), std::chrono::steady_clock::now() + patience_after_stop));
    }
}

void session::count_fault(stage where, net::fault why) {
    if (transcript_) transcript_->note(net::to_text(why));
    // That nobody greets or says goodbye in the last second of a run is no fault of the server's.
    const bool cut_short = shop_.own.stopping() && state_ != state::exchanging;
    if (why == net::fault::stopped || cut_short) return;
    const client::explanation what = client::explain(why, line_, target_.where.text);
    books_.error(where, what.reason, what.sample);
}

}  // namespace postal
