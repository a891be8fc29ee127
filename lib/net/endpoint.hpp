// SPDX-License-Identifier: GPL-3.0-or-later
// What a user writes for "where": hosts, ports, Unix sockets, and lists of them.
//
// parse_endpoint() takes one of
//   host   host:port   [2001:db8::1]:port   [2001:db8::1]   2001:db8::1   [host]port   unix:/path
// each with an optional leading `+`, which asks for a fresh name look-up at every connection.
// resolve() turns one into the addresses of the kernel; it blocks, so it is for the time before a
// run. Failures are one line that names the text and says what would be right.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace postal {
namespace asio = boost::asio;
}

namespace postal::net {

using address = asio::generic::stream_protocol::endpoint;

struct endpoint {
    std::string text;       // as the user wrote it, without the `+`
    std::string host;       // empty for a Unix socket
    std::string unix_path;  // empty for TCP
    std::uint16_t port = 0;
    bool fresh_lookup = false;

    bool is_unix() const noexcept { return !unix_path.empty(); }
};

// One endpoint; default_port is taken where the text has none.
base::expected<endpoint> parse_endpoint(std::string_view text, std::uint16_t default_port);

// A comma-separated list of at least one.
base::expected<std::vector<endpoint>> parse_endpoints(std::string_view text,
                                                      std::uint16_t default_port);

// Refuses what nobody can connect to: port 0, and a Unix socket that is not there (or is another
// kind of file). One line.
base::expected<void> check_destination(const endpoint& where);

// Every address of an endpoint, in the resolver's order; never empty when it succeeds.
base::expected<std::vector<address>> resolve(const endpoint& where);

// Local addresses for outgoing connections: like endpoints, but the port is 0 (the kernel's choice)
// unless one is written, and each must be an address that this host has.
base::expected<std::vector<address>> parse_local_addresses(std::string_view text);

// The address alone of the other end of a connected socket, such as `127.0.0.1` or `::1`; "unix"
// for a Unix socket, and "unknown" when the kernel does not say.
std::string peer_name(int socket);

// `127.0.0.1:25`, `[::1]:25`, `unix:/path`, for people to read.
std::string to_text(const address& where);

}  // namespace postal::net
