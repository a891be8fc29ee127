// SPDX-License-Identifier: GPL-3.0-or-later
// Where Prometheus, or who speaks its language, asks a running program for its counts: an HTTP
// server with one page, /metrics, in Prometheus' text format 0.0.4 or, to whom prefers it, in
// protocol buffers.
//
// It has a thread of its own and few connections, each with little time, so that nobody who asks
// slowly, or says nothing, can hold up anything; one too many takes the place of the one that has
// been there for longest without asking, so that a scraper that asks at once gets its page. The
// main thread hands over what it knows once a second; a scrape shows that. Workers know nothing of
// it. A build without it (POSTAL_METRICS) refuses every place.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/endpoint.hpp"
#include "stats/live_line.hpp"
#include "stats/run_report.hpp"

namespace postal::metrics {

// HOST:PORT, [ADDRESS]:PORT; without a port it is 9464. Fails for a Unix socket, and for a name
// that is none.
base::expected<net::endpoint> parse_place(std::string_view text);

class scrape_endpoint {
  public:
    // Port 0 is the kernel's choice. Fails with the system's reason.
    static base::expected<std::unique_ptr<scrape_endpoint>> open(const net::endpoint& place);
    ~scrape_endpoint();

    // "http://127.0.0.1:9464/metrics"
    std::string url() const;

    // In the main thread, with each time slice, and between them.
    void show(const stats::run_report& so_far, const stats::time_slice& last);
    void show(const stats::live_state& now);

  private:
    class server;
    explicit scrape_endpoint(std::unique_ptr<server> serves);

    std::unique_ptr<server> server_;
};

}  // namespace postal::metrics
