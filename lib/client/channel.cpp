// SPDX-License-Identifier: GPL-3.0-or-later
#include "client/channel.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <span>
#include <utility>

#include "base/release.hpp"

namespace postal::client {

namespace {

constexpr unsigned reads_a_turn = 16;
constexpr auto patience_after_stop = std::chrono::seconds(1);  // with greetings and goodbyes
constexpr char tls_alert = 0x15;                               // RFC 8446 5.1: the type of a record
constexpr std::size_t longest_sample = 200;                    // of a problem
constexpr std::size_t kept_capacity = 4096;  // what a session that waits may hold on to
constexpr std::size_t packed_at_once = 4096;

// An address of the range and a port above 1023, anew for each connection.
net::ip_endpoint draw_origin(const origin& from, base::random_source& random) {
    constexpr std::uint64_t first_port = 1024;
    const net::ip_address address = from.addresses.draw(random);
    return {address, static_cast<std::uint16_t>(first_port + random.below(65536 - first_port))};
}

// The first octets of a connection; over a Unix socket the server's end is 127.0.0.1.
asio::awaitable<net::fault> send_proxy_header(net::connection& line, net::proxy_version version,
                                              net::ip_endpoint client) {
    auto server = net::peer_of(line.native());
    if (!server) server = net::ip_endpoint{*net::parse_ip("127.0.0.1"), 25};
    std::string header;
    net::append_proxy_header(header, version, client, *server);
    net::gather parts;
    parts.add(header);
    if (line.write_now(parts)) co_return line.last_fault();
    co_return co_await line.write_rest(parts);
}

}  // namespace

channel::channel(worker_context& shared, owner whose, unsigned session, phases counted)
    : shared_(shared),
      whose_(whose),
      connection_(shared.own.context()),
      dialer_({shared.own, shared.gate, whose.place, whose.watched}, connection_),
      tls_(shared.of_run.tls, counted.tls),
      connect_phase_(counted.connect) {
    const net::transcript_options& wanted = shared.of_run.transcripts;
    if (wanted.wanted()) transcript_ = std::make_unique<net::transcript>(wanted, session);
}

void channel::begin(const target& server) {
    server_ = &server;
    broken_ = parting_ = false;
    heard_ = {};
    hearing_.answered();
    first_problem_.clear();
    if (transcript_) transcript_->begin_connection(server.where.text);
}

asio::awaitable<bool> channel::open(const target& server, base::random_source& random) {
    const load::steady_time begun = read_clock();
    begin(server);
    const net::fault why = co_await connect(server, random);
    read_clock();
    if (why != net::fault::none) {
        lost(stage::connect, why);
        end();
        co_return false;
    }
    tls_.choose(random);
    ++shared_.counts().connections;
    shared_.own.connection_opened();
    open_ = true;
    took(connect_phase_, now_ - begun);
    co_return true;
}

asio::awaitable<net::fault> channel::connect(const target& server, base::random_source& random) {
    const load_plan& plan = shared_.of_run;
    connecting_ = true;
    net::fault why =
        co_await dialer_.open(server, shared_.next_local_address(), plan.patience.connect);
    connecting_ = false;
    if (why != net::fault::none || !plan.origin.wanted) co_return why;
    origin_ = draw_origin(plan.origin, random);
    if (plan.origin.proxy) {
        why = co_await send_proxy_header(connection_, *plan.origin.proxy, origin_);
    }
    co_return why;
}

void channel::end() {
    whose_.watched.clear_deadline();
    tls_.keep_ticket(connection_);
    connection_.close();
    if (std::exchange(open_, false)) shared_.own.connection_closed();
    heard_ = {};
    base::release(kept_);
    base::release(packed_);
    more_packed_ = false;
    compression_.reset();
}

// Gently: a dialogue comes to its end by itself; one that waits for nothing in particular is woken
// by the gate.
void channel::on_stop(load::stop_kind how) {
    if (how == load::stop_kind::finish_due) return;
    if (how == load::stop_kind::now || connecting_) {
        connection_.cancel(net::cancelled_by::stop);
    } else if (hurried_ && !shared_.of_run.open_loop) {
        const auto latest = std::chrono::steady_clock::now() + patience_after_stop;
        whose_.watched.set_deadline(std::min(whose_.watched.deadline(), latest));
    }
}

std::chrono::nanoseconds channel::patience_with(stage where) const noexcept {
    const std::chrono::nanoseconds patience = shared_.of_run.patience.of(where);
    if (!hurried_ || !shared_.own.stopping() || shared_.of_run.open_loop) return patience;
    return std::min<std::chrono::nanoseconds>(patience, patience_after_stop);
}

void channel::set_deadline_for(stage where) {
    hearing_.answered();
    whose_.watched.set_deadline(now_ + patience_with(where));
    step_ = where;
}

std::size_t channel::session_state() const noexcept {
    if (connecting_) return session_state_at(stage::connect);
    const bool waits = whose_.watched.deadline() != load::steady_time::max();
    return waits ? session_state_at(step_) : pausing_state;
}

asio::awaitable<bool> channel::send(stage where, std::string_view text, std::string_view shown) {
    if (broken_) co_return false;
    if (transcript_) transcript_->sent(shown);
    std::string packed;
    if (compression_) compression_->compress(text, packed);
    net::gather parts;
    parts.add(compression_ ? std::string_view(packed) : text);
    set_deadline_for(where);
    net::fault why = net::fault::none;
    if (connection_.write_now(parts)) {
        why = connection_.last_fault();
    } else {
        keep();
        why = co_await connection_.write_rest(parts);
        read_clock();
    }
    if (why != net::fault::none) lost(where, why);
    co_return !broken_;
}

asio::awaitable<bool> channel::hear(stage where) {
    if (broken_) co_return false;
    const load::steady_time begun = read_clock();
    const std::uint64_t before = connection_.octets_in;
    whose_.watched.set_deadline(begun + hearing_.left(patience_with(where)));
    step_ = where;
    const bool fine = co_await hear_more(where);
    hearing_.heard(now_ - begun, connection_.octets_in - before);
    co_return fine;
}

asio::awaitable<bool> channel::hear_more(stage where) {
    if (broken_) co_return false;
    if (kept_.capacity() > kept_capacity) base::release(kept_);
    // A server that talks faster than we read would keep the thread to itself.
    if (something_to_hear() && ++reads_in_a_row_ % reads_a_turn == 0) {
        co_await asio::post(shared_.own.context(), asio::use_awaitable);
    }
    const net::read_result got = co_await read();
    read_clock();
    if (got.size == 0) {
        lost(where, got.why);
        co_return false;
    }
    heard_ = {shared_.inbox.data(), got.size};
    shared_.own.heard_somebody();
    // No line, and so no greeting, would ever end: the server begins with TLS.
    if (where == stage::banner && heard_.front() == tls_alert && !connection_.secure()) {
        give_up(where, "garbage", heard_);
        co_return false;
    }
    if (!hurried_ && !fruitless_) shared_.own.made_progress();
    if (transcript_) transcript_->received(heard_);
    co_return true;
}

asio::awaitable<net::read_result> channel::read() {
    if (!compression_) co_return co_await connection_.read_some(shared_.inbox);
    for (;;) {
        const net::read_result ready = expand();
        if (ready.size != 0 || ready.why != net::fault::none) co_return ready;
        const std::span<char> piece = std::span(shared_.inbox).first(packed_at_once);
        const net::read_result got = co_await connection_.read_some(piece);
        if (got.size == 0) co_return got;
        packed_.append(piece.data(), got.size);
    }
}

net::read_result channel::expand() {
    if (packed_.empty() && !more_packed_) return {};
    std::string_view left = packed_;
    const net::deflate::expanded got = compression_->expand(left, shared_.inbox);
    more_packed_ = got.size == shared_.inbox.size();
    std::string rest(left);
    packed_ = std::move(rest);
    return {got.size, got.broken ? net::fault::other : net::fault::none};
}

asio::awaitable<bool> channel::secure() {
    if (broken_) co_return false;
    if (!heard_.empty()) {
        give_up(stage::tls, "injection", heard_);
        co_return false;
    }
    read_clock();
    set_deadline_for(stage::tls);
    const net::fault why = co_await tls_.shake(connection_, server_->where, shared_.counts());
    read_clock();
    if (why != net::fault::none) {
        lost(stage::tls, why);
    } else if (transcript_) {
        transcript_->note("TLS");
    }
    co_return !broken_;
}

// What was heard behind the agreement is compressed already.
void channel::compress() {
    compression_ = net::deflate::create();
    packed_ = heard_;
    heard_ = {};
    if (!compression_) give_up(stage::login, "no_memory", "for COMPRESS=DEFLATE");
}

bool channel::begin_pause() {
    if (broken_ || shared_.own.stopping()) return false;
    keep();
    whose_.watched.clear_deadline();
    hearing_.answered();  // what comes meanwhile is no answer
    return true;
}

bool channel::end_pause() noexcept {
    read_clock();
    return !broken_ && !shared_.own.stopping();
}

asio::awaitable<bool> channel::pause(std::chrono::nanoseconds how_long) {
    if (!begin_pause()) co_return false;
    co_await shared_.gate.pause(whose_.place, how_long);
    co_return end_pause();
}

asio::awaitable<bool> channel::wait(std::chrono::nanoseconds how_long) {
    if (!heard_.empty() || something_to_hear()) co_return !broken_;
    if (!begin_pause()) co_return false;
    connection_.when_readable([this] { shared_.gate.wake(whose_.place); });
    co_await shared_.gate.pause(whose_.place, how_long);
    connection_.forget();
    co_return end_pause();
}

// Before a suspension: the worker's buffer will be another session's.
void channel::keep() {
    if (heard_.empty()) return;
    std::string kept(heard_);
    kept_ = std::move(kept);
    heard_ = kept_;
}

void channel::give_up(stage where, base::error_name reason, std::string_view sample) {
    if (std::exchange(broken_, true)) return;
    if (transcript_) transcript_->note(reason);
    count_error(where, reason, sample);
}

void channel::refused(stage where, base::error_name reason, std::string_view said) {
    count_error(where, reason, said);
}

void channel::lost(stage where, net::fault why) {
    if (std::exchange(broken_, true)) return;
    if (transcript_) transcript_->note(net::to_text(why));
    stopped_ = why == net::fault::stopped;
    // That nobody greets or says goodbye in the last second of a run is no fault of the server's.
    if (stopped_ || parting_ || (hurried_ && shared_.own.stopping())) return;
    const explanation what = explain(why, connection_, server_->where.text);
    count_error(where, what.reason, what.sample);
}

void channel::count_error(stage where, std::string_view reason, std::string_view sample) {
    shared_.counts().errors.add(to_text(where), 0, reason, sample, server_->where.text);
    if (!first_problem_.empty()) return;
    first_problem_.append(to_text(where)).append(" ").append(reason);
    if (!sample.empty()) first_problem_.append(": ").append(sample.substr(0, longest_sample));
}

}  // namespace postal::client
