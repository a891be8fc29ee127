#include "client/origin.hpp"

#include <string>

namespace postal::client {

namespace asio = boost::asio;

net::ip_endpoint draw_origin(const origin& from, base::random_source& random) {
    constexpr std::uint64_t first_port = 1024;
    const net::ip_address address = from.addresses.draw(random);
    return {address, static_cast<std::uint16_t>(first_port + random.below(65536 - first_port))};
}

asio::awaitable<net::fault> send_proxy_header(net::connection& line, net::proxy_version version,
                                              net::ip_endpoint client) {
    auto server = net::peer_of(line.native());
    if (!server) server = net::ip_endpoint{*net::parse_ip("127.0.0.1"), 25};
    std::string header;
    net::append_proxy_header(header, version, client, *server);
    net::gather parts;
    parts.add(header);
    if (line.write_now(parts)) co_return line.last_fault();
    co_return co_await line.write_rest(parts);
}

}  // namespace postal::client
