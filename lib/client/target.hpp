// The servers of a run, as the command line names them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "net/endpoint.hpp"

namespace postal::client {

struct target {
    net::endpoint where;
    std::vector<net::address> addresses;  // empty when the name is looked up for each connection
};

// Each of a comma-separated list, resolved; with a `+` only to see that the name exists, and anew
// for each connection. The failure does not name the option.
base::expected<std::vector<target>> find_targets(std::string_view text, std::uint16_t port);

}  // namespace postal::client
