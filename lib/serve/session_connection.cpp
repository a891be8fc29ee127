// What stands between the socket and the conversation: a proxy's header, TLS.
#include "serve/session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include "net/proxy_header.hpp"
#include "net/tls_check.hpp"

namespace postal::serve {

namespace asio = boost::asio;
using std::chrono::steady_clock;

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
        reading_ = true;
        const std::span<char> space(octets.data(), std::min(header.wanted(), octets.size()));
        got = co_await connection_.read_some(space);
        reading_ = false;
        header.feed({octets.data(), got.size});
    }
    now_ = steady_clock::now();
    if (header.good()) {
        client_ = header.client();
        co_return;
    }
    closing_ = true;
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

asio::awaitable<void> session::secure() {
    now_ = steady_clock::now();
    const load::steady_time begun = now_;
    wait_for_client();
    auto engine = context_.rules.tls->begin(net::tls_peer{});
    reading_ = shaking_hands_ = true;
    const net::fault why = co_await connection_.start_tls(std::move(engine));
    reading_ = shaking_hands_ = false;
    now_ = steady_clock::now();
    if (slot_.transcript != nullptr) {
        slot_.transcript->note(why == net::fault::none ? "TLS" : net::to_text(why));
    }
    if (why != net::fault::none) {
        closing_ = true;
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
session::next session::begin_tls(std::size_t before) {
    if (input_.empty()) return next::secure;
    output_->text.resize(before);
    proto::append_reply(output_->text, proto::replies::tls_injection);
    tally().errors.add("tls", 0, "injection", "the client said more behind STARTTLS");
    return next::close;
}

}  // namespace postal::serve
