#include "client/target.hpp"

#include <utility>

namespace postal::client {

base::expected<std::vector<target>> find_targets(std::string_view text, std::uint16_t port) {
    auto servers = net::parse_endpoints(text, port);
    if (!servers) return servers.error();
    std::vector<target> result;
    for (net::endpoint& where : *servers) {
        auto found = net::resolve(where);
        if (!found) return found.error();
        if (where.fresh_lookup) found->clear();
        result.push_back({std::move(where), std::move(*found)});
    }
    return result;
}

}  // namespace postal::client
