#include "rabid/line.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <utility>

namespace postal::rabid {

namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

constexpr unsigned reads_a_turn = 16;
constexpr std::size_t kept_capacity = 4096;  // what a session that waits may hold on to

}  // namespace

line::line(workshop& shop, owner whose, unsigned session)
    : shop_(shop),
      watched_(whose.watched),
      place_(whose.place),
      connection_(shop.own.context()),
      tls_(shop.of_run.tls,
           {static_cast<std::size_t>(phase::tls), static_cast<std::size_t>(phase::tls_resumed)}) {
    const net::transcript_options& wanted = shop.of_run.chosen.transcripts;
    if (wanted.wanted()) transcript_ = std::make_unique<net::transcript>(wanted, session);
}

void line::begin(const client::target& server) {
    server_ = &server;
    broken_ = false;
    heard_ = {};
    now_ = steady_clock::now();
    if (transcript_) transcript_->begin_connection(server.where.text);
}

void line::end() {
    watched_.clear_deadline();
    tls_.keep_ticket(connection_);
    connection_.close();
    heard_ = {};
    kept_ = std::string();
    packed_ = std::string();
    more_packed_ = false;
    compression_.reset();
}

asio::awaitable<bool> line::send(stage where, std::string_view text, std::string_view shown) {
    if (broken_) co_return false;
    if (transcript_) transcript_->sent(shown);
    std::string packed;
    if (compression_) compression_->compress(text, packed);
    net::gather parts;
    parts.add(compression_ ? std::string_view(packed) : text);
    watched_.set_deadline(now_ + shop_.of_run.chosen.timeout);
    net::fault why = net::fault::none;
    if (connection_.write_now(parts)) {
        why = connection_.last_fault();
    } else {
        keep();
        why = co_await connection_.write_rest(parts);
        now_ = steady_clock::now();
    }
    if (why != net::fault::none) lost(where, why);
    co_return !broken_;
}

asio::awaitable<bool> line::hear(stage where) {
    if (broken_) co_return false;
    if (kept_.capacity() > kept_capacity) kept_ = std::string();
    watched_.set_deadline(now_ + shop_.of_run.chosen.timeout);
    // A server that talks faster than we read would keep the thread to itself.
    if (something_to_hear() && ++reads_in_a_row_ % reads_a_turn == 0) {
        co_await asio::post(shop_.own.context(), asio::use_awaitable);
    }
    const net::read_result got = co_await read();
    now_ = steady_clock::now();
    if (got.size == 0) {
        lost(where, got.why);
        co_return false;
    }
    heard_ = {shop_.inbox.data(), got.size};
    if (transcript_) transcript_->received(heard_);
    co_return true;
}

asio::awaitable<net::read_result> line::read() {
    if (!compression_) co_return co_await connection_.read_some(shop_.inbox);
    for (;;) {
        const net::read_result ready = expand();
        if (ready.size != 0 || ready.why != net::fault::none) co_return ready;
        std::array<char, 4096> piece;
        const net::read_result got = co_await connection_.read_some(piece);
        if (got.size == 0) co_return got;
        packed_.append(piece.data(), got.size);
    }
}

net::read_result line::expand() {
    if (packed_.empty() && !more_packed_) return {};
    std::string_view left = packed_;
    const net::deflate::expanded got = compression_->expand(left, shop_.inbox);
    more_packed_ = got.size == shop_.inbox.size();
    std::string rest(left);
    packed_ = std::move(rest);
    return {got.size, got.broken ? net::fault::other : net::fault::none};
}

asio::awaitable<bool> line::secure() {
    if (broken_) co_return false;
    if (!heard_.empty()) {
        give_up(stage::tls, "injection", heard_);
        co_return false;
    }
    now_ = steady_clock::now();
    watched_.set_deadline(now_ + shop_.of_run.chosen.timeout);
    const net::fault why = co_await tls_.shake(connection_, server_->where, shop_.own.tally());
    now_ = steady_clock::now();
    if (why != net::fault::none) {
        lost(stage::tls, why);
    } else if (transcript_) {
        transcript_->note("TLS");
    }
    co_return !broken_;
}

// What was heard behind the agreement is compressed already.
void line::compress() {
    compression_ = net::deflate::create();
    packed_ = heard_;
    heard_ = {};
    if (!compression_) give_up(stage::login, "no_memory", "for COMPRESS=DEFLATE");
}

asio::awaitable<bool> line::pause(std::chrono::nanoseconds how_long) {
    if (broken_ || shop_.own.stopping()) co_return false;
    keep();
    watched_.clear_deadline();
    co_await shop_.gate.pause(place_, how_long);
    now_ = steady_clock::now();
    co_return !broken_ && !shop_.own.stopping();
}

asio::awaitable<bool> line::wait(std::chrono::nanoseconds how_long) {
    if (!heard_.empty() || something_to_hear()) co_return !broken_;
    connection_.when_readable([this] { shop_.gate.wake(place_); });
    const bool go_on = co_await pause(how_long);
    connection_.forget();
    co_return go_on;
}

// Before a suspension: the worker's buffer will be another session's.
void line::keep() {
    if (heard_.empty()) return;
    std::string kept(heard_);
    kept_ = std::move(kept);
    heard_ = kept_;
}

void line::give_up(stage where, std::string_view reason, std::string_view sample) {
    if (std::exchange(broken_, true)) return;
    if (transcript_) transcript_->note(reason);
    shop_.own.tally().errors.add(to_text(where), 0, reason, sample);
}

void line::refused(stage where, std::string_view reason, std::string_view said) {
    shop_.own.tally().errors.add(to_text(where), 0, reason, said);
}

void line::took(phase what, std::chrono::nanoseconds time) noexcept {
    shop_.own.tally().latency[static_cast<std::size_t>(what)].record(time);
}

void line::lost(stage where, net::fault why) {
    if (std::exchange(broken_, true)) return;
    if (transcript_) transcript_->note(net::to_text(why));
    if (why == net::fault::stopped) return;
    const client::explanation what = client::explain(why, connection_, server_->where.text);
    shop_.own.tally().errors.add(to_text(where), 0, what.reason, what.sample);
}

}  // namespace postal::rabid
