// SPDX-License-Identifier: GPL-3.0-or-later
#include "draw.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.hpp"

namespace simulation {

namespace {

using namespace std::chrono_literals;
using postal::base::random_source;
using postal::proto::cut;
using postal::proto::server_stage;

constexpr std::uint64_t of_scenarios = 0x7363656e6172696f;  // keeps its numbers apart from others'

bool one_in(random_source& random, std::uint64_t n) {
    return random.below(n) == 0;
}

template <class Value, std::size_t Count>
Value one_of(random_source& random, const std::array<Value, Count>& values) {
    return values[random.below(Count)];
}

// As many small ones as large ones: what is special lies near the beginning of a dialogue as often
// as far into a message.
std::uint64_t up_to(random_source& random, std::uint64_t most) {
    const double drawn = std::exp2(random.uniform() * std::log2(static_cast<double>(most) + 1));
    return std::min(most, static_cast<std::uint64_t>(drawn) - 1);
}

nanoseconds time_up_to(random_source& random, nanoseconds most) {
    return nanoseconds(up_to(random, static_cast<std::uint64_t>(most.count())));
}

// None in half of the runs, else one or a few.
std::uint64_t few(random_source& random) {
    std::uint64_t number = 0;
    while (number < 6 && one_in(random, 2))
        ++number;
    return number;
}

line_number line_of(random_source& random, const scenario& run) {
    return {static_cast<std::uint32_t>(random.below(run.sessions)),
            static_cast<std::uint32_t>(few(random))};
}

void draw_load(random_source& random, scenario& run) {
    using postal::sender::pipelining;
    run.lmtp = one_in(random, 2);
    run.pipelining =
        one_of(random, std::array{pipelining::automatic, pipelining::overlap, pipelining::off});
    run.chunking = one_in(random, 2);
    run.in_flight = one_in(random, 2) ? 1 : static_cast<std::uint32_t>(1 + random.below(5));
    run.least_recipients = one_in(random, 2) ? 1 : static_cast<std::uint32_t>(1 + random.below(3));
    run.most_recipients = run.least_recipients +
                          (one_in(random, 2) ? 0 : static_cast<std::uint32_t>(random.below(3)));
    run.kind_of_messages = static_cast<std::uint32_t>(random.below(4));
    run.sessions = static_cast<std::uint32_t>(1 + few(random));
    run.messages = 1 + random.below(8) + (run.lmtp ? random.below(8) : 0);
    // Now and then so many that a connection's limits are met.
    if (one_in(random, 64)) run.messages += random.below(300);
    run.messages_a_connection = one_of(random, std::array<std::int64_t, 5>{-1, 1, 2, 4, 100});
    if (!one_in(random, 3)) return;
    run.rate = std::exp2(random.uniform() * 10);
    run.open_loop = one_in(random, 2);
}

void draw_peers(random_source& random, scenario& run) {
    run.offers_pipelining = !one_in(random, 4);
    run.offers_chunking = !one_in(random, 8);
    run.offers_8bit = !one_in(random, 8);
    run.client_timeout = one_of(random, std::array<nanoseconds, 3>{1s, 10s, 60s});
    run.server_timeout = one_of(random, std::array<nanoseconds, 3>{1s, 30s, 300s});
    run.message_time = one_of(random, std::array<nanoseconds, 3>{3s, 60s, 1h});
    run.min_data_rate = one_in(random, 2) ? 500 : 0;
    run.max_recipients = one_in(random, 8) ? 2 : 1000;
}

void draw_network(random_source& random, scenario& run) {
    // A round trip is to be possible within everybody's patience, or the run never ends.
    const nanoseconds most = std::min(run.client_timeout, run.server_timeout) / 16;
    run.latency = time_up_to(random, std::min<nanoseconds>(500ms, most));
    run.jitter = one_in(random, 2) ? nanoseconds(0) : time_up_to(random, most);
    run.chops = one_in(random, 2);
    if (one_in(random, 3)) run.room = 512 + up_to(random, 16384);
}

network_fault draw_loss(random_source& random, const scenario& run) {
    network_fault one;
    one.where = line_of(random, run);
    one.from = one_in(random, 2) ? side::client : side::server;
    // Replies of a connection are some hundred octets, messages some thousand.
    one.at = up_to(random, one.from == side::server ? 1500 : 30000);
    one.what = one_of(random, std::array{loss::closed, loss::reset, loss::silence, loss::stall});
    if (one.what == loss::stall) one.lasts = time_up_to(random, 2 * run.client_timeout);
    return one;
}

server_fault draw_refusal(random_source& random, const scenario& run) {
    static constexpr std::array stages{
        server_stage::connect, server_stage::banner, server_stage::ehlo, server_stage::mail,
        server_stage::mail,    server_stage::rcpt,   server_stage::rcpt, server_stage::rcpt,
        server_stage::data,    server_stage::end,    server_stage::end,  server_stage::end,
        server_stage::rset,    server_stage::quit};
    static constexpr std::array<std::uint16_t, 8> codes{0, 421, 450, 451, 452, 550, 552, 554};
    server_fault one;
    one.where = line_of(random, run);
    one.stage = one_of(random, stages);
    one.nth = one_in(random, 8) ? server_fault::each_time : static_cast<std::uint32_t>(few(random));
    one.code = one_of(random, codes);
    if (one_in(random, 2)) one.delay = time_up_to(random, 2 * run.client_timeout);
    if (one_in(random, 3)) one.close = one_of(random, std::array{cut::fin, cut::rst, cut::silence});
    return one;
}

lying_reply draw_lie(random_source& random, const scenario& run) {
    static constexpr std::array ways{lie::other_code, lie::swallowed,    lie::doubled,
                                     lie::garbage,    lie::endless_line, lie::endless_reply,
                                     lie::mixed_codes};
    static constexpr std::array<std::uint16_t, 8> codes{220, 250, 334, 354, 421, 450, 550, 235};
    return {line_of(random, run), static_cast<std::uint32_t>(random.below(20)),
            one_of(random, ways), one_of(random, codes)};
}

void draw_faults(random_source& random, scenario& run) {
    if (one_in(random, 2)) {
        for (std::uint64_t left = few(random); left > 0; --left)
            run.losses.push_back(draw_loss(random, run));
    }
    if (one_in(random, 2)) {
        for (std::uint64_t left = 1 + few(random); left > 0; --left)
            run.refusals.push_back(draw_refusal(random, run));
    }
    if (one_in(random, 8)) {
        for (std::uint64_t left = 1 + few(random); left > 0; --left)
            run.lies.push_back(draw_lie(random, run));
    }
    if (one_in(random, 4)) {
        static constexpr std::array harms{harm::lost, harm::twice, harm::changed, harm::elsewhere};
        for (std::uint64_t left = 1 + few(random); left > 0; --left) {
            run.harms.push_back({static_cast<std::uint32_t>(random.below(run.sessions)),
                                 random.below(4), one_of(random, harms)});
        }
    }
    if (one_in(random, 6)) run.stop_gently = time_up_to(random, 10s);
    if (one_in(random, 10)) run.stop_now = run.stop_gently.value_or(0s) + time_up_to(random, 10s);
    if (one_in(random, 10)) run.servers_stop = time_up_to(random, 10s);
}

agent_fault draw_agent_fault(random_source& random, const scenario& run) {
    static constexpr std::array ways{
        agent_way::ends,        agent_way::ends,  agent_way::is_killed,  agent_way::hangs,
        agent_way::is_stubborn, agent_way::stays, agent_way::not_started};
    static constexpr std::array<std::uint8_t, 6> statuses{0, 1, 67, 71, 75, 77};
    agent_fault one;
    one.nth = static_cast<std::uint32_t>(up_to(random, 20));
    one.how = one_of(random, ways);
    one.status = one.how == agent_way::ends ? one_of(random, statuses) : std::uint8_t{1};
    one.delivers = one.status == 0 || (one.how != agent_way::not_started && one_in(random, 4));
    one.talks = one_in(random, 2);
    one.lasts = time_up_to(random, 2 * run.agents->timeout);
    return one;
}

// In half of the runs over LMTP.
void draw_agents(random_source& random, scenario& run) {
    if (!run.lmtp || one_in(random, 2)) return;
    agent_rules rules;
    rules.slots = static_cast<std::uint32_t>(1 + few(random));
    rules.longest_queue = one_in(random, 2) ? 100 : static_cast<std::uint32_t>(few(random));
    rules.a_recipient = one_in(random, 2) ? rules.slots : 1;
    rules.longest_wait = one_of(random, std::array<nanoseconds, 3>{1s, 10s, 60s});
    rules.timeout = one_of(random, std::array<nanoseconds, 3>{1s, 30s, 300s});
    rules.lasts = time_up_to(random, 2s);
    run.agents = rules;
    if (one_in(random, 2)) return;
    for (std::uint64_t left = 1 + few(random); left > 0; --left)
        run.agent_faults.push_back(draw_agent_fault(random, run));
}

reader_visit draw_visit(random_source& random) {
    reader_visit one;
    one.when = time_up_to(random, 60s);
    one.mailbox = static_cast<std::uint32_t>(random.below(9));
    one.imap = one_in(random, 2);
    one.refused = one_in(random, 8);
    if (one_in(random, 4)) one.breaks_behind = static_cast<std::uint32_t>(few(random));
    one.download_percent = one_of(random, std::array{100U, 100U, 50U});
    one.delete_percent = one_of(random, std::array{0U, 100U, 50U});
    return one;
}

// In a quarter of the runs; in half of these all is read at the end.
void draw_readers(random_source& random, scenario& run) {
    if (!one_in(random, 4)) return;
    for (std::uint64_t left = 2 + 2 * few(random); left > 0; --left)
        run.visits.push_back(draw_visit(random));
    for (harmed_message& one : run.harms)
        if (one_in(random, 3)) one.how = harm::vanishes;
    if (one_in(random, 2)) return;
    for (std::uint32_t mailbox = 0; mailbox < 9; ++mailbox)
        run.visits.push_back({.when = 24h * 10 + mailbox * 1s, .mailbox = mailbox});
}

// What came later than the rest, so that the seeds of before draw the same besides.
void draw_more(random_source& random, scenario& run) {
    run.poisson = run.rate > 0 && one_in(random, 4);
    for (server_fault& one : run.refusals)
        one.no_memory = one_in(random, 12);
    draw_agents(random, run);
    run.tight_limits = one_in(random, 4);
    draw_readers(random, run);
}

}  // namespace

scenario draw(std::uint64_t seed) {
    random_source random(postal::base::mix(of_scenarios, seed, 0));
    scenario run;
    run.seed = seed;
    draw_load(random, run);
    draw_peers(random, run);
    draw_network(random, run);
    draw_faults(random, run);
    draw_more(random, run);
    return run;
}

}  // namespace simulation
