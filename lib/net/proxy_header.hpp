// SPDX-License-Identifier: GPL-3.0-or-later
// What a proxy says of the client in front of a connection: HAProxy's PROXY protocol, versions 1
// (text) and 2 (binary), as its specification of 2020 has them.
//
// append_proxy_header() writes one for TCP over IPv4, or over IPv6 when either end has such an
// address. proxy_header_reader reads one and not an octet more, so that what follows, a TLS
// handshake perhaps, is left to whoever comes next:
//
//   proxy_header_reader reader;
//   while (reader.wanted() != 0) feed it with at most so many octets: reader.feed(octets)
//   reader.good(), reader.client()
//
// A header that breaks a rule is not good; reading ends there. Limits: 107 octets for version 1,
// 16 + 512 for version 2, whose further fields (TLV) are passed over. Nothing here fails otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/ip_address.hpp"

namespace postal::net {

enum class proxy_version : std::uint8_t { v1, v2 };

void append_proxy_header(std::string& out, proxy_version version, const ip_endpoint& client,
                         const ip_endpoint& server);

class proxy_header_reader {
  public:
    // How many octets may be fed now; 0 at the end.
    std::size_t wanted() const noexcept { return wanted_; }
    void feed(std::string_view octets);

    bool good() const noexcept { return good_; }
    // Nothing when the proxy speaks for itself (LOCAL), or says UNKNOWN.
    const std::optional<ip_endpoint>& client() const noexcept { return client_; }

  private:
    void read_text();
    void read_binary();
    void end(bool good) noexcept;

    std::string header_;
    std::size_t wanted_ = 15;  // of "PROXY UNKNOWN\r\n", the shortest of all
    std::optional<ip_endpoint> client_;
    bool good_ = false;
};

}  // namespace postal::net
