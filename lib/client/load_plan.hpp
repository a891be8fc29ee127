// What the sessions of a client do alike, whatever they say to their servers: how many there are,
// at which pace they come, where from, how secured, and how patient they are.
//
// Made before the run (program/client_options.hpp); shared by all threads and only read, but for the
// tickets.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/auth.hpp"
#include "client/origin.hpp"
#include "client/security.hpp"
#include "client/timeouts.hpp"
#include "load/admission.hpp"
#include "load/pace.hpp"
#include "load/run_tickets.hpp"
#include "net/endpoint.hpp"
#include "net/transcript.hpp"

namespace postal::client {

struct load_plan {
    // nullopt: as many tickets as are asked for.
    explicit load_plan(std::optional<std::uint64_t> limit) : tickets(limit) {}

    unsigned sessions = 1;  // over all servers
    unsigned workers = 1;
    double connect_rate = 2000;            // sessions opened at the start, a second
    std::optional<load::rate_curve> rate;  // nothing: as fast as servers answer
    load::arrival arrival = load::arrival::constant;
    bool open_loop = false;
    load::run_tickets tickets;
    std::uint64_t seed = 0;
    std::uint64_t run = 0;  // its number, in messages and ledgers
    std::vector<net::address> local_addresses;
    security tls;
    client::origin origin;
    auth_plan auth;
    timeouts patience;
    net::transcript_options transcripts;

    load::pacing pacing() const {
        if (!rate) return {};
        return {load::schedule(*rate, arrival, seed), open_loop};
    }
};

}  // namespace postal::client
