// SPDX-License-Identifier: GPL-3.0-or-later
// Who is served: where a client comes from, by whose word, and what he may have for that.
//
// Whoever comes over a Unix socket is trusted, and has no limits; over loopback nobody is counted
// unless the rules say so. Nothing here fails but for memory.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <sys/socket.h>

#include "net/connection.hpp"
#include "net/ip_address.hpp"
#include "net/transcript.hpp"
#include "serve/accepted_client.hpp"
#include "serve/held_octets.hpp"
#include "serve/worker_context.hpp"

namespace postal::serve {

class visitor {
  public:
    // Leaves the socket where it is; `rules` and `over` outlive it.
    visitor(accepted_client& who, const session_rules& rules, const net::connection& over) noexcept
        : rules_(rules),
          connection_(over),
          slot_(std::move(who.where)),
          trusted_(who.socket.family == AF_UNIX),
          begins_with_tls_(who.tls) {}

    bool trusted() const noexcept { return trusted_; }
    bool begins_with_tls() const noexcept { return begins_with_tls_; }
    net::transcript* transcript() const noexcept { return slot_.transcript; }

    // The specification of the PROXY protocol: those who may send a header must, nobody else is
    // asked.
    bool speaks_for_another() const {
        const auto peer = net::peer_of(connection_.native());
        return peer &&
               std::any_of(rules_.proxies.begin(), rules_.proxies.end(),
                           [&](const auto& range) { return range.contains(peer->address); });
    }
    void stands_for(const std::optional<net::ip_endpoint>& another) { client_ = another; }

    std::string name() const {
        return client_ ? client_->address.text() : net::peer_name(connection_.native());
    }
    // Nothing over a Unix socket.
    std::optional<net::ip_address> address() const {
        const auto peer = client_ ? client_ : net::peer_of(connection_.native());
        return peer ? std::optional(peer->address) : std::nullopt;
    }

    // Whether no more are here from where he comes than may be; counts him.
    bool admitted() {
        const auto from = trusted_ ? std::nullopt : address();
        if (!from || (from->is_loopback() && !rules_.counts_loopback)) return true;
        const net::ip_address origin = from->origin();
        const unsigned most = rules_.sessions_per_address;
        if (most != 0 && !slot_.count_for(origin, most)) return false;
        if (rules_.held) holder_ = rules_.held->client_of(origin);
        return true;
    }
    bool may_hold_more() const {
        return rules_.held == nullptr || !rules_.held->full(holder_.get());
    }
    // Of what all may hold, within what may be held for him.
    held_octets::share share_of_held() const {
        return held_octets::share(rules_.held.get(), holder_);
    }

  private:
    const session_rules& rules_;
    const net::connection& connection_;
    const session_slot slot_;
    const bool trusted_;
    const bool begins_with_tls_;
    std::optional<net::ip_endpoint> client_{};       // as a proxy has it
    std::shared_ptr<held_octets::client> holder_{};  // where he is one of many
};

}  // namespace postal::serve
