// Where a client says that it comes from, so that one machine looks like many: PROXY headers (and,
// in postal, XCLIENT), with addresses drawn from a range.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <optional>

#include "base/random.hpp"
#include "net/connection.hpp"
#include "net/fault.hpp"
#include "net/ip_address.hpp"
#include "net/proxy_header.hpp"

namespace postal::client {

struct origin {
    bool wanted = false;                      // addresses are drawn at all
    std::optional<net::proxy_version> proxy;  // nothing: no header
    net::address_range addresses;
};

// An address of the range and a port above 1023, anew for each connection.
net::ip_endpoint draw_origin(const origin& from, base::random_source& random);

// The first octets of a connection; over a Unix socket the server's end is 127.0.0.1.
boost::asio::awaitable<net::fault> send_proxy_header(net::connection& line,
                                                     net::proxy_version version,
                                                     net::ip_endpoint client);

}  // namespace postal::client
