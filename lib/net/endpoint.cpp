// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/endpoint.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include <cerrno>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "net/ip_address.hpp"

namespace postal::net {

namespace {

using asio::ip::tcp;

constexpr std::string_view forms =
    "give host, host:port, [IPv6 address]:port, [host]port or unix:/path";

base::expected<std::uint16_t> parse_port(std::string_view digits, std::string_view whole) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value > 65535) {
        return base::fail("'{}': '{}' is not a port; give a number from 0 to 65535", whole, digits);
    }
    return static_cast<std::uint16_t>(value);
}

base::expected<endpoint> parse_unix(std::string_view path, endpoint result) {
    if (path.empty())
        return base::fail("'{}': the path of the Unix socket is missing", result.text);
    if (path.size() >= sizeof(sockaddr_un::sun_path)) {
        return base::fail("'{}': the path of a Unix socket has at most {} octets", result.text,
                          sizeof(sockaddr_un::sun_path) - 1);
    }
    result.unix_path = path;
    result.fresh_lookup = false;  // a path has no name to look up
    return result;
}

// [host]port and [host]:port; the part behind the bracket may be missing.
base::expected<endpoint> parse_bracketed(std::string_view text, endpoint result) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) {
        return base::fail("'{}': the bracket is not closed; {}", text, forms);
    }
    result.host = text.substr(1, close - 1);
    std::string_view rest = text.substr(close + 1);
    if (rest.starts_with(':')) rest.remove_prefix(1);
    if (!rest.empty()) {
        auto port = parse_port(rest, text);
        if (!port) return port.error();
        result.port = *port;
    }
    return result;
}

base::expected<endpoint> parse_plain(std::string_view text, endpoint result) {
    const auto colon = text.find(':');
    const bool one_colon = colon != std::string_view::npos && text.rfind(':') == colon;
    result.host = one_colon ? text.substr(0, colon) : text;
    if (one_colon) {
        auto port = parse_port(text.substr(colon + 1), text);
        if (!port) return port.error();
        result.port = *port;
    }
    return result;
}

bool is_nowhere(const ip_address& one) {
    const bool is_low = std::all_of(one.octets.begin(), one.octets.begin() + 12,
                                    [](std::uint8_t octet) { return octet == 0; });
    return is_low && !one.is_loopback() && one != ip_address{};
}

// An IPv6 address with a port behind it and no brackets is another address, or none. Nothing lives
// in ::/96, but for ::1 and :: itself.
base::expected<void> refuse_bare_port(std::string_view host) {
    const std::size_t colon = host.rfind(':');
    if (colon == host.npos || host.find(':') == colon) return {};
    const std::string_view port = host.substr(colon + 1);
    const bool is_number = port.size() > 1 && std::all_of(port.begin(), port.end(), base::is_digit);
    const std::string_view address = host.substr(0, colon);
    if (!is_number || !parse_ip(address)) return {};
    const auto whole = parse_ip(host);
    if (whole && !is_nowhere(*whole)) return {};
    return base::fail("'{}': an IPv6 address with a port stands in brackets; write [{}]:{}", host,
                      address, port);
}

bool is_host_character(char c) noexcept {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_' || c == ':' || c == '%';
}

// Appends what the text means to `result`: an address type that converts from anything does not go
// well into a result<>.
base::expected<void> parse_local_address(std::string_view text, std::vector<address>& result) {
    auto where = parse_endpoint(text, 0);
    if (!where) return where.error();
    if (where->is_unix()) return base::fail("'{}': a local address is an IP address", text);
    auto found = resolve(*where);
    if (!found) return found.error();
    asio::io_context context;
    asio::generic::stream_protocol::socket probe(context);
    boost::system::error_code error;
    probe.open(found->front().protocol(), error);
    address without_port = found->front();
    if (where->port != 0) {
        const tcp::endpoint any_port(asio::ip::make_address(where->host, error), 0);
        if (!error) without_port = any_port;
    }
    if (!error) probe.bind(without_port, error);
    if (error) {
        return base::fail("'{}' is not an address of this host ({}); `ip address` lists them", text,
                          error.message());
    }
    result.push_back(found->front());
    return {};
}

}  // namespace

base::expected<endpoint> parse_endpoint(std::string_view text, std::uint16_t default_port) {
    endpoint result;
    result.port = default_port;
    result.fresh_lookup = text.starts_with('+');
    if (result.fresh_lookup) text.remove_prefix(1);
    result.text = text;
    if (text.starts_with("unix:")) return parse_unix(text.substr(5), std::move(result));
    auto parsed = text.starts_with('[') ? parse_bracketed(text, std::move(result))
                                        : parse_plain(text, std::move(result));
    if (!parsed) return parsed.error();
    if (parsed->host.empty()) return base::fail("'{}': the host is missing; {}", text, forms);
    if (std::all_of(parsed->host.begin(), parsed->host.end(), base::is_digit))
        return base::fail("'{}': {} alone is no host; {}", text, parsed->host, forms);
    for (char c : parsed->host) {
        if (!is_host_character(c)) return base::fail("'{}' is not a host; {}", text, forms);
    }
    if (!text.starts_with('[')) {
        const auto clear = refuse_bare_port(parsed->host);
        if (!clear) return clear.error();
    }
    return parsed;
}

base::expected<std::vector<endpoint>> parse_endpoints(std::string_view text,
                                                      std::uint16_t default_port) {
    std::vector<endpoint> result;
    for (const std::string_view item : base::split(text, ',')) {
        auto one = parse_endpoint(item, default_port);
        if (!one) return one.error();
        result.push_back(std::move(*one));
    }
    return result;
}

base::expected<void> check_destination(const endpoint& where) {
    if (!where.is_unix()) {
        if (where.port != 0) return {};
        return base::fail("'{}': port 0 is no place to connect to; give a number from 1 to 65535",
                          where.text);
    }
    struct stat found {};
    if (::stat(where.unix_path.c_str(), &found) != 0)
        return base::fail("'{}': {}; is its server running?", where.text,
                          base::system_message(errno));
    if (!S_ISSOCK(found.st_mode)) return base::fail("'{}': is not a socket", where.text);
    return {};
}

base::expected<std::vector<address>> resolve(const endpoint& where) {
    std::vector<address> result;
    if (where.is_unix()) {
        result.emplace_back(asio::local::stream_protocol::endpoint(where.unix_path));
        return result;
    }
    asio::io_context context;
    tcp::resolver resolver(context);
    boost::system::error_code error;
    const auto found = resolver.resolve(where.host, std::to_string(where.port),
                                        tcp::resolver::numeric_service, error);
    for (const auto& entry : found) {
        const address one(entry.endpoint());
        if (std::find(result.begin(), result.end(), one) == result.end()) result.push_back(one);
    }
    if (error || result.empty()) {
        return base::fail("'{}': the name has no address: {}", where.text, error.message());
    }
    return result;
}

base::expected<std::vector<address>> parse_local_addresses(std::string_view text) {
    std::vector<address> result;
    for (const std::string_view item : base::split(text, ',')) {
        auto taken = parse_local_address(item, result);
        if (!taken) return taken.error();
    }
    return result;
}

std::string peer_name(int socket) {
    if (const auto peer = peer_of(socket)) return peer->address.text();
    sockaddr other{};
    socklen_t size = sizeof other;
    const bool known = ::getpeername(socket, &other, &size) == 0;
    return known && other.sa_family == AF_UNIX ? "unix" : "unknown";
}

std::string to_text(const address& where) {
    const auto ip = ip_endpoint_of(*where.data());
    if (!ip)
        return fmt::format("unix:{}", reinterpret_cast<const sockaddr_un*>(where.data())->sun_path);
    return where.protocol().family() == AF_INET6
               ? fmt::format("[{}]:{}", ip->address.text6(), ip->port)
               : fmt::format("{}:{}", ip->address.text(), ip->port);
}

}  // namespace postal::net
