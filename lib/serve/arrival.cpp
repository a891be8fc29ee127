// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/arrival.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

#include "net/tls_check.hpp"

namespace postal::serve {
namespace {

constexpr proto::server_reply too_many_from_there{
    421, "4.7.0", "Too many sessions from your address, try again later", "sessions-per-address"};

}  // namespace

boost::asio::awaitable<void> arrival::let_in() {
    const session_rules& rules = of_.context.rules;
    const bool tls_first = of_.from.begins_with_tls();
    // A stop may have come before this coroutine first ran, when nobody could tell it; a client
    // that has to begin with TLS or a header could not read a goodbye.
    if ((tls_first || !rules.proxies.empty()) && of_.context.own.stopping()) of_.end();
    if (!of_.over() && !rules.proxies.empty()) co_await hear_proxy();
    if (!of_.over() && !of_.from.admitted()) {
        of_.counted.refused(proto::server_stage::connect, too_many_from_there);
        // Who begins with TLS could not read why.
        if (tls_first) of_.end();
        if (!of_.over()) departure_.close_politely(too_many_from_there);
    }
    if (of_.over()) co_return;
    if (tls_first) co_await secure();
    of_.read_clock();
    of_.time.begin_anew();
}

boost::asio::awaitable<void> arrival::hear_proxy() {
    if (!of_.from.speaks_for_another()) co_return;
    of_.read_clock();
    of_.wait_for_client();
    of_.waits.begin(suspension::what::reading);
    const bool heard = co_await of_.from.hear_for_whom(of_.tally());
    of_.waits.end();
    of_.read_clock();
    if (!heard) of_.end();
}

boost::asio::awaitable<void> arrival::secure() {
    of_.read_clock();
    const load::steady_time begun = of_.time.now();
    of_.wait_for_client();
    auto engine = of_.context.rules.tls->begin(net::tls_peer{});
    of_.waits.begin(suspension::what::shaking_hands);
    const net::fault why = co_await of_.connection.start_tls(std::move(engine));
    of_.waits.end();
    of_.read_clock();
    of_.note(why == net::fault::none ? "TLS" : net::to_text(why));
    if (why != net::fault::none) of_.end();
    count_handshake(why, begun);
    if (of_.over()) co_return;
    of_.machine.secured();
    of_.counted.message_dropped();
    if (!of_.from.begins_with_tls()) of_.program.connection_ready();
}

void arrival::count_handshake(net::fault why, load::steady_time begun) {
    stats::tally& counts = of_.tally();
    const session_rules& rules = of_.context.rules;
    if (why == net::fault::stopped) return;
    if (why != net::fault::none) {
        const net::tls_problem& problem = of_.connection.tls_problem();
        const bool own = why == net::fault::tls;
        counts.errors.add("tls", 0, own ? std::string_view(problem.reason) : net::to_text(why),
                          own ? std::string_view(problem.text) : "in the handshake");
        return net::end_if_broken(*rules.tls, why, problem);
    }
    const net::tls_facts agreed = of_.connection.tls();
    ++counts.tls_connections;
    counts.tls.add(
        {agreed.version, agreed.cipher, agreed.group, agreed.verification, agreed.resumed});
    counts.latency[agreed.resumed ? rules.tls_resumed_phase : rules.tls_phase].record(
        of_.time.now() - begun);
}

}  // namespace postal::serve
