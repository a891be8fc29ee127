// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/origin_options.hpp"

#include "cli/binders.hpp"
#include "client/load_plan.hpp"

namespace postal::program {

using base::expected;

namespace {

constexpr const char* benchmark_range = "198.18.0.0/15";

}  // namespace

cli::option proxy_protocol_option(origin_choice& target) {
    return {"--proxy-protocol", "v1|v2", "",
            "begin connections with a PROXY header, as HAProxy does",
            cli::choice(target.proxy,
                        {{"v1", net::proxy_version::v1}, {"v2", net::proxy_version::v2}})};
}

cli::option client_addresses_option(origin_choice& target) {
    return {"--client-addresses", "RANGE", benchmark_range,
            "where connections say they come from, drawn at random",
            cli::parsed(target.addresses, net::parse_address_range)};
}

expected<void> check(const origin_choice& chosen) {
    if (!chosen.addresses || chosen.proxy || chosen.xclient) return {};
    return base::fail("--client-addresses: nobody is told them; give --proxy-protocol too");
}

client::origin origin_of(const origin_choice& chosen) {
    return {chosen.proxy || chosen.xclient, chosen.proxy,
            chosen.addresses ? *chosen.addresses : *net::parse_address_range(benchmark_range)};
}

cli::option proxy_trusted_option(std::vector<net::address_range>& target) {
    return {"--proxy-trusted", "RANGE[,RANGE...]", "",
            "clients from here are proxies, and begin with a PROXY header",
            cli::parsed(target, net::parse_address_ranges)};
}

}  // namespace postal::program
