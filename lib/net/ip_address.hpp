// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses as numbers, and ranges of them to draw clients from (CIDR, RFC 4632).
//
// An IPv4 address is kept mapped into IPv6 (RFC 4291 2.5.5.2), so that there is one kind to
// compare, to mask and to look up, whatever a dual-stack socket calls it. Asio's own address is two
// kinds, and its header would bring Asio into those of options and plans, which are without it.
// Failures are one line that names the text and says what would be right.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"

struct sockaddr;

namespace postal::net {

struct ip_address {
    std::array<std::uint8_t, 16> octets{};

    bool is_v4() const noexcept;
    bool is_loopback() const noexcept;
    // Where it comes from, for limits: the address itself, or an IPv6 network of 64 bits by its
    // first address, since who has one of those has all.
    ip_address origin() const noexcept;
    std::string text() const;   // "192.0.2.1", "2001:db8::1"
    std::string text6() const;  // the same, with an IPv4 address as "::ffff:192.0.2.1"
    auto operator<=>(const ip_address&) const = default;
};

struct ip_endpoint {
    ip_address address;
    std::uint16_t port = 0;
    bool operator==(const ip_endpoint&) const = default;
};

// "192.0.2.1" or "2001:db8::1"; nothing else.
std::optional<ip_address> parse_ip(std::string_view text);

// Nothing for a socket address that is none of IP.
std::optional<ip_endpoint> ip_endpoint_of(const sockaddr& raw) noexcept;

// The other end of a connected TCP socket; nothing for a Unix socket.
std::optional<ip_endpoint> peer_of(int socket);
// This end of it.
std::optional<ip_endpoint> own_end_of(int socket);

class address_range {
  public:
    bool contains(const ip_address& one) const noexcept;
    // Any of its addresses, each as likely as the others.
    ip_address draw(base::random_source& random) const noexcept;
    bool operator==(const address_range&) const = default;

  private:
    friend base::expected<address_range> parse_address_range(std::string_view text);

    ip_address first_;
    unsigned fixed_bits_ = 128;
};

// "198.18.0.0/15", "2001:db8::/32", or one address.
base::expected<address_range> parse_address_range(std::string_view text);
// Several, separated by commas.
base::expected<std::vector<address_range>> parse_address_ranges(std::string_view text);

}  // namespace postal::net
