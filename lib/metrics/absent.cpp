// SPDX-License-Identifier: GPL-3.0-or-later
// Endpoint and gateway of a build without metrics. Every place is refused before a run begins, so
// that nothing else here is ever called.
#include "metrics/push_gateway.hpp"
#include "metrics/scrape_endpoint.hpp"

namespace postal::metrics {

class scrape_endpoint::server {};

base::expected<net::endpoint> parse_place(std::string_view) {
    return base::fail("this build has no metrics");
}

base::expected<std::unique_ptr<scrape_endpoint>> scrape_endpoint::open(const net::endpoint&) {
    return base::fail("--metrics: this build has no metrics");
}

scrape_endpoint::~scrape_endpoint() = default;

std::string scrape_endpoint::url() const {
    return {};
}

void scrape_endpoint::show(const stats::run_report&, const stats::time_slice&) {}

void scrape_endpoint::show(const stats::live_state&) {}

base::expected<push_gateway> push_gateway::find(std::string_view, std::string_view,
                                                std::string_view) {
    return base::fail("this build has no metrics");
}

base::expected<void> push_gateway::push(const stats::run_report&) const {
    return base::fail("this build has no metrics");
}

}  // namespace postal::metrics
