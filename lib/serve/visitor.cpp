// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/visitor.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "net/proxy_header.hpp"

namespace postal::serve {

// The specification of the PROXY protocol: those who may send a header must, nobody else is asked.
bool visitor::speaks_for_another() const {
    const auto peer = net::peer_of(connection_.native());
    return peer && std::any_of(rules_.proxies.begin(), rules_.proxies.end(),
                               [&](const auto& range) { return range.contains(peer->address); });
}

boost::asio::awaitable<bool> visitor::hear_for_whom(stats::tally& counts) {
    net::proxy_header_reader header;
    std::array<char, 1024> octets;
    net::read_result got;
    while (header.wanted() != 0 && got.why == net::fault::none) {
        const std::span<char> space(octets.data(), std::min(header.wanted(), octets.size()));
        got = co_await connection_.read_some(space);
        header.feed({octets.data(), got.size});
    }
    if (header.good()) {
        client_ = header.client();
        co_return true;
    }
    if (got.why == net::fault::stopped) co_return false;
    const bool broken = got.why == net::fault::none;
    counts.errors.add("connect", 0, broken ? "no_proxy_header" : net::to_text(got.why),
                      "a trusted proxy did not say whom it speaks for");
    co_return false;
}

// No more are here from where he comes than may be.
bool visitor::admitted() {
    const auto from = trusted_ ? std::nullopt : address();
    if (!from || (from->is_loopback() && !rules_.counts_loopback)) return true;
    const net::ip_address origin = from->origin();
    const unsigned most = rules_.sessions_per_address;
    if (most != 0 && !slot_.count_for(origin, most)) return false;
    if (rules_.held) holder_ = rules_.held->client_of(origin);
    return true;
}

}  // namespace postal::serve
