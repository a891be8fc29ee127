// SPDX-License-Identifier: GPL-3.0-or-later
// Where the counts and results of a run go when it is over: a Pushgateway of Prometheus, or who
// takes an HTTP PUT of Prometheus' text format 0.0.4 as that does.
//
// It blocks, with a bound, and belongs to the main thread, when the workers have ended. A build
// without metrics (POSTAL_METRICS) refuses every place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "metrics/beside_report.hpp"
#include "net/endpoint.hpp"
#include "stats/run_report.hpp"

namespace postal::metrics {

class push_gateway {
  public:
    // "http://PLACE[:PORT]", which gets what is pushed as the group
    // /metrics/job/PROGRAM/instance/HOST, or with a path, which names the group. Without a port it
    // is 9091. Looks the name up. Fails with what is wrong with it.
    static base::expected<push_gateway> find(std::string_view url, std::string_view program,
                                             std::string_view host);

    void note(const stats::time_slice& last) { beside_.add(last); }

    // Replaces what the group had. Fails with the place and the system's reason, or with what was
    // answered; within ten seconds for each address, and at once when it is interrupted.
    [[nodiscard]] base::expected<void> push(const stats::run_report& ended) const;

  private:
    push_gateway() = default;

    std::string url_;        // as people see it, with its path
    std::string authority_;  // of the URL
    std::string path_;
    std::vector<net::address> addresses_;
    beside_report beside_;
};

}  // namespace postal::metrics
