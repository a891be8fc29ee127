// SPDX-License-Identifier: GPL-3.0-or-later
#include "client/handshaker.hpp"

#include <chrono>
#include <utility>

#include "net/tls_check.hpp"

namespace postal::client {

void handshaker::choose(base::random_source& random) {
    wanted_ = of_run_.percent > 0 && random.below(100) < of_run_.percent;
    resume_ = wanted_ && of_run_.resume_percent > 0 && random.below(100) < of_run_.resume_percent;
}

asio::awaitable<net::fault> handshaker::shake(net::connection& line, const net::endpoint& server,
                                              stats::tally& counts) {
    const auto begun = std::chrono::steady_clock::now();
    server_ = &server;
    const auto ticket = resume_ ? take_ticket(server) : nullptr;
    const net::tls_peer peer{of_run_.server_name.empty() ? server.host : of_run_.server_name,
                             ticket.get()};
    auto engine = of_run_.context->begin(peer);
    const net::fault why = co_await line.start_tls(std::move(engine));
    if (why != net::fault::none) {
        net::end_if_broken(*of_run_.context, why, line.tls_problem());
        co_return why;
    }
    const net::tls_facts agreed = line.tls();
    ++counts.tls_connections;
    counts.tls.add(
        {agreed.version, agreed.cipher, agreed.group, agreed.verification, agreed.resumed});
    const std::size_t phase = agreed.resumed ? phases_.resumed : phases_.full;
    counts.latency[phase].record(std::chrono::steady_clock::now() - begun);
    co_return net::fault::none;
}

// The latest is the best: older ones may have been used or have expired.
void handshaker::keep_ticket(net::connection& line) {
    if (of_run_.resume_percent == 0 || !line.secure()) return;
    auto given = line.tls_ticket_given();
    if (!given) return;
    take_ticket(*server_);
    tickets_.push_back({server_, std::move(given)});
}

// Servers are few: one, or one for POP3 and one for IMAP.
std::unique_ptr<net::tls_ticket> handshaker::take_ticket(const net::endpoint& server) {
    for (kept_ticket& one : tickets_) {
        if (one.server != &server) continue;
        auto taken = std::move(one.ticket);
        one = std::move(tickets_.back());
        tickets_.pop_back();
        return taken;
    }
    return nullptr;
}

explanation explain(net::fault why, const net::connection& line, std::string_view otherwise) {
    if (why == net::fault::tls) return {line.tls_problem().reason, line.tls_problem().text};
    return {net::to_text(why), otherwise};
}

}  // namespace postal::client
