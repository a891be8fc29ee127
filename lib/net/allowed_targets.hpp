// SPDX-License-Identifier: GPL-3.0-or-later
// Whom load may be sent to: machines of one's own.
//
// Without being named a host is taken for one only where nobody else's can be: loopback, private
// (RFC 1918), link-local (RFC 3927, RFC 4291 2.5.6) and unique-local (RFC 4193) addresses. A range
// that a carrier shares with its customers (RFC 6598) is none of these. A name counts by every
// address that it has. Unix sockets are always fine.
// What add() names is allowed: a host as the endpoint writes it, whatever its addresses are, an
// address, or a range of them. Failures are one line that says what would be right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "net/endpoint.hpp"
#include "net/ip_address.hpp"

namespace postal::net {

class allowed_targets {
  public:
    // "mail.example.com", "192.0.2.1", "[2001:db8::1]" or "192.0.2.0/24".
    base::expected<void> add(std::string_view text);
    bool is_empty() const noexcept { return hosts_.empty() && ranges_.empty(); }

    // Whether load may go to an endpoint with these addresses.
    bool allow(const endpoint& where, const std::vector<address>& all) const;
    // The same; the failure names the first address that may not be.
    base::expected<void> check(const endpoint& where, const std::vector<address>& all) const;

  private:
    bool names(const endpoint& where) const;
    bool covers(const address& one) const;

    std::vector<std::string> hosts_;  // folded
    std::vector<address_range> ranges_;
};

}  // namespace postal::net
