// SPDX-License-Identifier: GPL-3.0-or-later
// What the options of postal and rabid become in their plan.
#include "program/client_options.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace std::chrono_literals;

TEST_CASE("client options: what only its tickets end is given up when nothing moves") {
    struct {
        std::optional<std::uint64_t> tickets;
        std::chrono::nanoseconds duration;
        std::chrono::nanoseconds timeout;
        std::optional<std::chrono::nanoseconds> given;
        std::chrono::nanoseconds wanted;
        std::string_view reason;
    } const rows[] = {
        {30, 0s, 60s, {}, 60s, "a dead server would keep it for ever"},
        {30, 0s, 1s, {}, 60s, "a server that comes back is worth a minute"},
        {30, 0s, 5min, {}, 5min, "a server may take the time that it has"},
        {30, 10s, 60s, {}, 0s, "it has an end"},
        {{}, 0s, 60s, {}, 0s, "it is for somebody to end"},
        {{}, 0s, 60s, 2s, 2s, "asked for"},
        {30, 0s, 60s, 0s, 0s, "asked for never"},
    };
    for (const auto& row : rows) {
        INFO(row.reason);
        client::load_plan plan(row.tickets);
        plan.patience = client::timeouts::all(row.timeout);
        program::client_options chosen;
        chosen.run.duration = row.duration;
        chosen.give_up = row.given;
        REQUIRE(program::prepare(plan, chosen).has_value());
        CHECK(plan.give_up == row.wanted);
    }
}
