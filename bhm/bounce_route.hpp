// SPDX-License-Identifier: GPL-3.0-or-later
// Which way bounces go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/endpoint.hpp"

namespace postal::bhm {

struct bounce_route {
    std::string text;                     // of the endpoint, for people
    std::vector<net::address> addresses;  // tried in this order
    std::string host_name;                // ours: in EHLO, and whom bounces are from
    std::uint64_t run = 0;
};

}  // namespace postal::bhm
