// SPDX-License-Identifier: GPL-3.0-or-later
// The options about whom a connection is for: --proxy-protocol and --client-addresses of clients,
// --proxy-trusted of servers.
#pragma once

#include <optional>
#include <vector>

#include "cli/options.hpp"
#include "net/ip_address.hpp"
#include "net/proxy_header.hpp"

namespace postal::client {
struct origin;
}

namespace postal::program {

struct origin_choice {
    std::optional<net::proxy_version> proxy;
    std::optional<net::address_range> addresses;
    bool xclient = false;  // postal's
};

cli::option proxy_protocol_option(origin_choice& target);
cli::option client_addresses_option(origin_choice& target);
// Addresses that nobody would use are refused.
base::expected<void> check(const origin_choice& chosen);
// The range for benchmarks (RFC 2544) where none was given.
client::origin origin_of(const origin_choice& chosen);

cli::option proxy_trusted_option(std::vector<net::address_range>& target);

}  // namespace postal::program
