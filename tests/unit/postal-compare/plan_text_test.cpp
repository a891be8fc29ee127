// SPDX-License-Identifier: GPL-3.0-or-later
// What --plan says, and the live line.
#include "postal-compare/plan_text.hpp"
#include "experiment/live_console.hpp"
#include "experiment/plan.hpp"

#include "base/text.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace std::chrono_literals;

namespace {

experiment::experiment some(std::size_t variants) {
    experiment::experiment made;
    for (std::size_t i = 0; i < variants; ++i)
        made.variants.push_back({.name = "v" + std::to_string(i)});
    return made;
}

// Below "6, planned".
std::string planned_row(const experiment::experiment& of) {
    const std::string text = compare::plan_text(of, 1);
    for (const auto line : base::split(text, '\n'))
        if (line.find("6, planned") != line.npos) return std::string(line);
    return {};
}

}  // namespace

TEST_CASE("plan: runs, their time and their order, which follows from the seed") {
    const auto of = some(3);
    const std::string text = compare::plan_text(of, 7);
    CHECK_THAT(
        text, Catch::StartsWith("6 blocks of 3 variants: 18 runs of 5m, of which 30s are left out\n"
                                "At least 1h30m, "));
    CHECK(text == compare::plan_text(of, 7));
    CHECK(text != compare::plan_text(of, 8));
    CHECK_THAT(text, Catch::Contains("Order with --seed 7; without it, another one"));
    auto seeded = of;
    seeded.offered.seed = 7;
    CHECK_THAT(compare::plan_text(seeded, 7), Catch::Contains("Order, from seed 7"));
    for (std::uint64_t block = 1; block <= 6; ++block) {
        std::string order;
        for (const auto& one : experiment::runs_of_block(7, block, 3))
            order += (order.empty() ? "" : " ") + std::to_string(one.variant + 1);
        CHECK_THAT(text, Catch::Contains(order));
    }
    for (const char c : text)
        CHECK((c == '\n' || static_cast<unsigned char>(c) >= ' '));
}

TEST_CASE("plan: searches take so long at most") {
    auto of = some(3);
    of.offered.search.emplace();
    CHECK_THAT(
        compare::plan_text(of, 7),
        Catch::StartsWith("6 blocks of 3 variants: 18 runs, searches of 5m at most\n"
                          "At most 1h30m, and what file systems and servers take to start") &&
            Catch::Contains("time at most"));
}

TEST_CASE("plan: no difference within the margin is shown") {
    auto of = some(2);
    of.offered.blocks = 100;
    of.verdict.margin = 0.04;
    const std::string text = compare::plan_text(of, 1);
    CHECK_THAT(text, Catch::Contains("4 %"));
    CHECK_THAT(text, !Catch::Contains("0.15 %"));
}

TEST_CASE("plan: fewer comparisons show smaller differences, and a twin of the first is none") {
    auto twin = some(3);
    twin.variants[2].same_as = 0;
    CHECK(planned_row(twin) != planned_row(some(3)));
    // With as many comparisons, whatever the time; behind the first figure.
    const auto differences = [](const std::string& row) { return row.substr(row.find('%')); };
    CHECK(differences(planned_row(twin)) == differences(planned_row(some(2))));
    auto of_another = some(3);
    of_another.variants[2].same_as = 1;
    CHECK(planned_row(of_another) == planned_row(some(3)));
    auto few = some(2);
    few.offered.blocks = 2;
    CHECK_THAT(compare::plan_text(few, 1), Catch::Contains("no verdict"));
    CHECK_THAT(compare::plan_text(some(1), 1), Catch::StartsWith("6 blocks of 1 variant: 6 runs"));
}

TEST_CASE("console: the live line fits a terminal and cannot write elsewhere on it") {
    CHECK(experiment::live_line("block 2/6  a", "load", 75s, 3725s) ==
          "block 2/6  a  load 1:15  1:02:05 left");
    CHECK(experiment::live_line("b", "setup", std::nullopt, -1s) == "b  setup  0:00 left");
    const std::string hostile =
        experiment::live_line("x\r\n\x1b[2J" + std::string(300, 'y'), "s", 0s, 0s);
    CHECK(hostile.size() < 80);
    for (const char c : hostile)
        CHECK(static_cast<unsigned char>(c) >= ' ');
}
