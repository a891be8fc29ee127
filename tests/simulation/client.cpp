#include "client.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/smtp/client_commands.hpp"

namespace simulation {

namespace {

using namespace std::chrono_literals;
using postal::load::pass;
using postal::proto::reply_event;
using postal::sender::hearing;

constexpr std::size_t read_at_once = 64 * 1024;
constexpr auto long_idle = 1s;
constexpr nanoseconds first_pause = 100ms;
constexpr nanoseconds longest_pause = 5s;
constexpr std::uint64_t of_clients = 0x636c69656e747321;  // keeps its numbers apart from others'

}  // namespace

client::client(client_house& house, std::uint32_t session)
    : house_(house),
      exchange_(house.plan, house.maker, house.outcomes, session),
      random_(postal::base::mix(house.of.seed, of_clients, session)),
      next_{session, 0} {
    place_.who = this;
}

void client::act() {
    while (state_ != state::over && step())
        house_.time.exert();
    if (state_ != state::over && deadline_ != steady_time::max())
        house_.time.wake(*this, deadline_);
}

bool client::step() {
    switch (state_) {
        case state::resting:
            return begin();
        case state::awaiting_ticket:
            return await_ticket();
        case state::banner:
            return hear_banner();
        case state::hello:
            return hear_hello();
        case state::mail:
            return exchange_mail();
        case state::awaiting_next:
            return await_next();
        case state::quit:
            return hear_goodbye();
        case state::over:
            break;
    }
    return false;
}

// ---- connections ----

// A session that keeps its connection opens it at once; others connect when they have something to
// send.
bool client::begin() {
    if (house_.stopping || house_.gate.over()) return leave();
    if (house_.time.now() < since_) {
        house_.time.wake(*this, since_);
        return false;
    }
    const bool keeps = house_.of.messages_a_connection < 0 && !house_.of.open_loop;
    if (keeps || in_hand()) return connect();
    ticket_ = house_.gate.try_pass(exchange_.wanted());
    if (in_hand()) return connect();
    if (ticket_.what == pass::over) return leave();
    place_.connected = false;
    place_.wanted = exchange_.wanted();
    state_ = state::awaiting_ticket;
    house_.gate.wait(place_);
    return false;
}

bool client::await_ticket() {
    if (place_.is_linked()) return false;
    ticket_ = std::move(place_.got);
    return in_hand() ? connect() : leave();
}

bool client::connect() {
    const dialled got = house_.dial(next_);
    house_.shown.note(next_, got.line == nullptr ? "is refused" : "connects");
    ++next_.connection;
    line_ = got.line;
    truth_ = got.truth;
    fine_ = says_helo_ = writing_ = false;
    if (line_ == nullptr) return part();
    line_->attach(side::client, *this);
    truth_->first_sequence = begun_;
    parser_.reset();
    unsaid_.clear();
    be_patient();
    state_ = state::banner;
    return true;
}

bool client::hear_banner() {
    const answer heard = read_reply();
    if (heard == answer::nothing_yet) return false;
    if (heard == answer::failed || parser_.code() == 421) return part();
    if (heard == answer::negative || house_.stopping) return say_quit(heard == answer::positive);
    return say_hello(house_.of.lmtp ? "LHLO" : "EHLO");
}

bool client::say_hello(std::string_view verb) {
    offered_ = {};
    first_line_ = true;
    std::string text;
    postal::proto::append_greeting(text, verb, house_.plan.helo);
    return say(text, state::hello);
}

// HELO to a server that does not know EHLO (RFC 5321 3.2).
bool client::hear_hello() {
    const answer heard = read_reply();
    if (heard == answer::nothing_yet) return false;
    if (heard == answer::failed || parser_.code() == 421) return part();
    if (heard == answer::positive) {
        if (house_.stopping) return say_quit(true);
        begin_mail();
        return true;
    }
    const bool knows_no_ehlo = parser_.code() >= 500 && !house_.of.lmtp;
    if (knows_no_ehlo && !std::exchange(says_helo_, true)) return say_hello("HELO");
    return say_quit(false);
}

bool client::say(std::string_view command, state then) {
    unsaid_ = command;
    state_ = then;
    be_patient();
    return true;
}

bool client::say_quit(bool fine) {
    fine_ = fine;
    return say(postal::proto::quit_command, state::quit);
}

// What was said before the goodbye counts, whatever becomes of that.
bool client::hear_goodbye() {
    if (read_reply() == answer::nothing_yet) return false;
    return part();
}

// The rest of the command, and then one reply to the end of its last line.
client::answer client::read_reply() {
    while (!unsaid_.empty()) {
        const std::size_t left = line_->write(side::client, unsaid_);
        if (left == 0) break;
        unsaid_.erase(0, left);
    }
    for (;;) {
        std::string_view heard = read();
        if (heard.empty()) return trouble() == fault::none ? answer::nothing_yet : answer::failed;
        while (!heard.empty()) {
            const reply_event event = parser_.feed(heard);
            if (event == reply_event::malformed) return answer::failed;
            if (event == reply_event::need_more) continue;
            if (state_ == state::hello && !std::exchange(first_line_, false))
                offered_.add(parser_.text());
            if (event == reply_event::line) continue;
            if (!heard.empty()) return answer::failed;
            return parser_.code() >= 400       ? answer::negative
                   : parser_.code() / 100 == 2 ? answer::positive
                                               : answer::failed;
        }
    }
}

std::string_view client::read() {
    const std::string_view got = line_->read(side::client, read_at_once);
    if (got.empty()) return got;
    truth_->heard.push_back({line_->from(side::server).octets_read(), house_.time.now()});
    house_.shown.octets(line_->number(), "client <-", got);
    return got;
}

client::fault client::trouble() const {
    if (house_.stopped_now) return fault::stopped;
    if (line_->is_reset(side::client)) return fault::reset;
    if (line_->has_ended(side::client)) return fault::closed;
    return house_.time.now() >= deadline_ ? fault::timeout : fault::none;
}

// ---- mail ----

void client::begin_mail() {
    offered_.pipelining = offered_.pipelining && house_.of.offers_pipelining;
    offered_.chunking = offered_.chunking && house_.of.offers_chunking;
    offered_.eight_bit_mime = offered_.eight_bit_mime && house_.of.offers_8bit;
    truth_->takes_8bit = offered_.eight_bit_mime;
    state_ = state::mail;
    exchange_.begin(offered_, messages_for_connection());
    if (!in_hand()) return;
    house_.gate.use(ticket_.messages);
    take(std::exchange(ticket_, {}));
}

std::uint64_t client::messages_for_connection() {
    const std::int64_t most = house_.of.messages_a_connection;
    if (most < 0) return std::numeric_limits<std::uint64_t>::max();
    if (most <= 1) return static_cast<std::uint64_t>(most);
    return 1 + random_.below(static_cast<std::uint64_t>(most));
}

// Each ticket that the exchange is given begins one transaction.
void client::take(postal::load::ticket&& got) {
    exchange_.take(std::move(got));
    ++begun_;
    ++truth_->begun;
}

bool client::exchange_mail() {
    if (house_.stopped_now) return give_up(fault::stopped);
    if (!writing_) {
        compose();
        output_ = &exchange_.gather_output();
        writing_ = !output_->empty();
        if (writing_) be_patient();
        if (!writing_ && exchange_.idle()) return end_mail();
    }
    if (writing_ && !write()) return state_ != state::mail;
    return hear_replies();
}

// Says as much as there are tickets for.
void client::compose() {
    compose_once();
    while (exchange_.wants_ticket()) {
        postal::load::ticket got = house_.gate.try_pass(exchange_.wanted());
        if (got.what == pass::over) exchange_.no_more_tickets();
        if (got.what != pass::go) return;
        house_.gate.use(got.messages);
        take(std::move(got));
        compose_once();
    }
}

// A message that ends as it begins is one that the server does not take.
void client::compose_once() {
    const std::uint64_t failed = house_.counts.failed;
    exchange_.compose(now(), octets_out());
    if (house_.counts.failed != failed) truth_->left_out.push_back(truth_->begun - 1);
}

// False while the network takes no more, or when it is broken.
bool client::write() {
    while (!output_->empty()) {
        const iovec& part = output_->left().front();
        const std::string_view octets(static_cast<const char*>(part.iov_base), part.iov_len);
        const std::size_t left = line_->write(side::client, octets);
        if (left == 0) {
            const fault why = line_->is_reset(side::client) || house_.time.now() >= deadline_
                                  ? trouble()
                                  : fault::none;
            if (why != fault::none) give_up(why);
            return false;
        }
        house_.shown.octets(line_->number(), "client ->", octets.substr(0, left));
        output_->take_away(left);
        exchange_.octets_left(octets_out(), house_.time.now());
    }
    exchange_.output_written();
    writing_ = false;
    be_patient();
    return true;
}

bool client::hear_replies() {
    const std::string_view got = read();
    if (got.empty()) {
        const fault why = trouble();
        return why != fault::none && give_up(why);
    }
    const auto heard = exchange_.hear(got, now());
    if (heard.what == hearing::go_on) {
        if (heard.replies > 0) be_patient();
        return true;
    }
    return break_off(heard.what);
}

// The server has said that it closes, or makes no sense.
bool client::break_off(hearing what) {
    postal::base::error_name others;
    if (what == hearing::closing) others = "closed";
    exchange_.lost({others, "server", octets_out()}, now());
    return part();
}

// Nothing is under way.
bool client::end_mail() {
    if (exchange_.finished() || house_.stopping) return say_quit(true);
    place_.connected = true;
    place_.wanted = exchange_.wanted();
    since_ = house_.time.now();
    deadline_ = steady_time::max();
    state_ = state::awaiting_next;
    house_.gate.wait(place_);
    return !place_.is_linked();
}

// Between two messages of a paced run: the connection is kept, and may be lost meanwhile.
bool client::await_next() {
    if (house_.stopped_now) {
        place_.unlink();
        return give_up(fault::stopped);
    }
    if (place_.is_linked()) return false;
    postal::load::ticket got = std::move(place_.got);
    if (got.what != pass::go) return say_quit(true);
    state_ = state::mail;
    be_patient();
    const bool quiet =
        !line_->may_have_gone(side::client) && line_->from(side::server).unread() == 0;
    if (house_.time.now() - since_ > long_idle && !quiet) {
        ticket_ = std::move(got);
        return give_up(fault::closed);
    }
    house_.gate.use(got.messages);
    take(std::move(got));
    return true;
}

// What the server said before it closed says more than the failure.
bool client::give_up(fault why) {
    while (why == fault::reset || why == fault::closed) {
        const std::string_view last_words = read();
        if (last_words.empty()) break;
        const auto heard = exchange_.hear(last_words, now());
        if (heard.what != hearing::go_on) return break_off(heard.what);
    }
    static constexpr std::string_view names[] = {"", "closed", "reset", "timeout", "stopped"};
    const std::string_view name = names[static_cast<std::size_t>(why)];
    house_.shown.note(line_->number(), "the client gives up: {}", name);
    if (!exchange_.idle() || exchange_.anything_open()) {
        exchange_.lost({postal::base::error_name::of(name), "server", octets_out()}, now());
    }
    return part();
}

bool client::part() {
    if (line_ != nullptr) line_->close(side::client);
    if (fine_ || exchange_.any_accepted()) failures_ = 0;
    deadline_ = steady_time::max();
    since_ = house_.time.now();
    state_ = state::resting;
    if (fine_) return true;
    if (in_hand()) house_.gate.give_back(std::exchange(ticket_, {}));
    since_ += std::min(first_pause * (1U << std::min(failures_++, 6U)), longest_pause);
    return true;
}

bool client::leave() {
    if (in_hand()) house_.gate.give_back(std::exchange(ticket_, {}));
    deadline_ = steady_time::max();
    state_ = state::over;
    return false;
}

}  // namespace simulation
