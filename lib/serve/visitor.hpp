// SPDX-License-Identifier: GPL-3.0-or-later
// Who is served: where a client comes from, by whose word, and what he may have for that.
//
// Whoever comes over a Unix socket is trusted, and has no limits; over loopback nobody is counted
// unless the rules say so. What a trusted proxy says comes before TLS. Nothing here fails but for
// memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <sys/socket.h>

#include <boost/asio/awaitable.hpp>

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
    visitor(accepted_client& who, const session_rules& rules, net::connection& over) noexcept
        : rules_(rules),
          connection_(over),
          slot_(std::move(who.where)),
          trusted_(who.socket.family == AF_UNIX),
          begins_with_tls_(who.tls) {}

    bool trusted() const noexcept { return trusted_; }
    bool begins_with_tls() const noexcept { return begins_with_tls_; }
    net::transcript* transcript() const noexcept { return slot_.transcript; }

    // A trusted proxy, that has to say first whom it speaks for; false: it has not, and that is
    // counted.
    bool speaks_for_another() const;
    boost::asio::awaitable<bool> hear_for_whom(stats::tally& counts);

    std::string name() const {
        return client_ ? client_->address.text() : net::peer_name(connection_.native());
    }
    // Nothing over a Unix socket.
    std::optional<net::ip_address> address() const {
        const auto peer = client_ ? client_ : net::peer_of(connection_.native());
        return peer ? std::optional(peer->address) : std::nullopt;
    }

    // Whether he may have a session; counts him.
    bool admitted();
    bool may_hold_more() const {
        return rules_.held == nullptr || !rules_.held->full(holder_.get());
    }
    // Of what all may hold, within what may be held for him.
    held_octets::share share_of_held() const {
        return held_octets::share(rules_.held.get(), holder_);
    }

  private:
    const session_rules& rules_;
    net::connection& connection_;
    const session_slot slot_;
    const bool trusted_;
    const bool begins_with_tls_;
    std::optional<net::ip_endpoint> client_{};       // as a proxy has it
    std::shared_ptr<held_octets::client> holder_{};  // where he is one of many
};

}  // namespace postal::serve
