// SPDX-License-Identifier: GPL-3.0-or-later
// What of a client's plan is a rank's own, and what is the whole run's.
#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "program/client_options.hpp"
#include "program/worker_sessions.hpp"

using namespace postal;
using namespace std::chrono_literals;
using load::run_share;

namespace {

struct fake_plan {
    client::load_plan load;
    std::set<unsigned> numbers{};
};

struct fake_context {
    fake_context(fake_plan& plan, load::worker&, ledger::writer*) : of(plan) {}
    fake_plan& of;
};

struct fake_session {
    fake_session(fake_context& context, unsigned number) {
        CHECK(context.of.numbers.insert(number).second);
    }
    boost::asio::awaitable<void> run() { co_return; }
};

}  // namespace

TEST_CASE("ranks: each session of the run is carried once, whatever the workers") {
    constexpr unsigned all = 23;
    for (const std::uint64_t ranks : {1ULL, 2ULL, 4ULL, 23ULL}) {
        std::set<unsigned> numbers;
        for (std::uint64_t rank = 0; rank < ranks; ++rank) {
            fake_plan plan{.load = client::load_plan(std::nullopt, run_share{rank, ranks})};
            plan.load.sessions = static_cast<unsigned>(plan.load.share.part_of(all));
            const unsigned workers = rank % 2 == 0 ? 1 : 3;
            for (unsigned index = 0; index < workers; ++index) {
                load::worker own(
                    {.index = index, .of = workers, .phases = 1},
                    [](load::worker&, std::chrono::nanoseconds, const stats::tally&, bool) {});
                program::worker_sessions<fake_plan, fake_context, fake_session> sessions(plan, own,
                                                                                         nullptr);
            }
            CHECK(plan.numbers.size() == plan.load.sessions);
            numbers.merge(plan.numbers);
            CHECK(plan.numbers.empty());  // nobody else had one of them
        }
        CHECK(numbers.size() == all);
        CHECK(*numbers.rbegin() == all - 1);
    }
}

TEST_CASE("ranks: tickets, rates and identity of a plan") {
    const program::run_identity who{.seed = 42, .run = 7, .share = {1, 3}};
    client::load_plan plan(100, who.share);
    program::client_options chosen;
    chosen.rate = base::rate{10};
    REQUIRE(program::prepare(plan, chosen, who).has_value());
    CHECK(plan.tickets.has(32));
    CHECK_FALSE(plan.tickets.has(33));
    CHECK(plan.seed == 42);
    CHECK(plan.run == 7);
    const load::pacing pacing = plan.pacing();
    CHECK(pacing.part.rank == 1);
    CHECK(pacing.part.of == 3);
    CHECK(plan.connect_rate == 2000);
    chosen.seed = 5;
    REQUIRE(program::prepare(plan, chosen, who).has_value());
    CHECK(plan.seed == 5);
    CHECK_FALSE(client::load_plan(std::nullopt, who.share).tickets.limited());
}

TEST_CASE("ranks: sessions of one rank, and totals that cannot be shared") {
    struct {
        std::optional<unsigned> total;
        run_share share;
        unsigned wanted;
        std::string refusal;
    } const rows[] = {
        {{}, {0, 1}, 12, ""},
        {{}, {3, 4}, 12, ""},
        {10, {0, 1}, 10, ""},
        {10, {1, 4}, 3, ""},
        {10, {2, 4}, 2, ""},
        {4, {3, 4}, 1, ""},
        {3, {0, 4}, 0, "--sessions-total: 3 are too few for 4 ranks; give at least 4"},
        {2'000'000,
         {0, 1},
         0,
         "--sessions-total: 2000000 are more than 1000000 a rank; give fewer"},
        {2'000'000, {0, 2}, 1'000'000, ""},
    };
    for (const auto& row : rows) {
        program::client_options chosen;
        chosen.sessions_total = row.total;
        const auto own = program::own_sessions(chosen, row.share, 12);
        if (row.refusal.empty()) {
            REQUIRE(own.has_value());
            CHECK(*own == row.wanted);
        } else {
            REQUIRE_FALSE(own.has_value());
            CHECK(own.error().message == row.refusal);
        }
    }
}

TEST_CASE("ranks: what a cap asks of one is its share") {
    stats::run_description whole;
    CHECK_FALSE(program::describe_share(whole, {0, 2}).asked);
    whole.asked = [](double seconds) { return 10 * seconds; };
    CHECK(program::describe_share(whole, {}).asked(2.05) == Approx(20.5));
    CHECK(program::describe_share(whole, {0, 2}).asked(2.05) == Approx(10.5));
    CHECK(program::describe_share(whole, {1, 2}).asked(2.05) == Approx(10));
}

TEST_CASE("ranks: the first alone decides when to start, and not too late") {
    program::client_options chosen;
    client::load_plan first(std::nullopt, {0, 2});
    REQUIRE(program::plan_start(first, chosen).has_value());
    CHECK_FALSE(first.start_at);
    chosen.start_at = std::chrono::system_clock::now() + 1h;
    client::load_plan second(std::nullopt, {1, 2});
    REQUIRE(program::plan_start(second, chosen).has_value());
    CHECK_FALSE(second.start_at);
    REQUIRE(program::plan_start(first, chosen).has_value());
    REQUIRE(first.start_at.has_value());
    CHECK(*first.start_at > std::chrono::steady_clock::now() + 59min);
    chosen.start_at = std::chrono::system_clock::now() - 2s;
    const auto late = program::plan_start(first, chosen);
    REQUIRE_FALSE(late.has_value());
    CHECK_THAT(late.error().message, Catch::StartsWith("--start-at: 20") &&
                                         Catch::Contains("was over by 2.00 s before the run"));
}
