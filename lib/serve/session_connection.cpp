// What stands between the socket and the conversation: a proxy's header, who may come, TLS.
#include "serve/session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include "net/proxy_header.hpp"
#include "net/tls_check.hpp"

namespace postal::serve {

namespace asio = boost::asio;
using proto::server_stage;
using std::chrono::steady_clock;

namespace {

constexpr proto::server_reply too_many_from_there{
    421, "4.7.0", "Too many sessions from your address, try again later", "sessions-per-address"};

}  // namespace

// The specification of the PROXY protocol: those who may send a header must, nobody else is asked.
asio::awaitable<void> session::hear_proxy() {
    const auto peer = net::peer_of(connection_.native());
    const auto& proxies = context_.rules.proxies;
    const bool trusted =
        peer && std::any_of(proxies.begin(), proxies.end(),
                            [&](const auto& range) { return range.contains(peer->address); });
    if (!trusted) co_return;
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
        client_ = header.client();
        co_return;
    }
    state_ = state::over;
    if (got.why == net::fault::stopped) co_return;
    const bool broken = got.why == net::fault::none;
    tally().errors.add("connect", 0, broken ? "no_proxy_header" : net::to_text(got.why),
                       "a trusted proxy did not say whom it speaks for");
}

std::string session::client_name() const {
    return client_ ? client_->address.text() : net::peer_name(connection_.native());
}

std::optional<net::ip_address> session::client_address() const {
    const auto peer = client_ ? client_ : net::peer_of(connection_.native());
    return peer ? std::optional(peer->address) : std::nullopt;
}

// Nothing for clients that have no limits.
std::optional<net::ip_address> session::limited_origin() const {
    if (trusted_) return std::nullopt;
    const auto from = client_address();
    if (!from || (from->is_loopback() && !context_.rules.counts_loopback)) return std::nullopt;
    return from->origin();
}

bool session::may_hold_more() const {
    const held_octets* const all = context_.rules.held.get();
    return all == nullptr || !all->full(holder_.get());
}

// Whether no more are here from where this client comes than may be. A connection that begins with TLS
// could not read why.
bool session::admitted() {
    const unsigned most = context_.rules.sessions_per_address;
    const auto from = limited_origin();
    if (!from || most == 0 || slot_.count_for(*from, most)) {
        if (from && context_.rules.held) holder_ = context_.rules.held->client_of(*from);
        return true;
    }
    count_refusal(server_stage::connect, too_many_from_there);
    if (!tls_at_once_) {
        close_politely(too_many_from_there);
    } else {
        state_ = state::over;
    }
    return false;
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
    if (slot_.transcript != nullptr) {
        slot_.transcript->note(why == net::fault::none ? "TLS" : net::to_text(why));
    }
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
    if (!tls_at_once_) connection_ready();
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

}  // namespace postal::serve
