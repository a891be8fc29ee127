// SPDX-License-Identifier: GPL-3.0-or-later
// What a command line of postal-compare asks for, and what of it is refused.
#include "postal-compare/options.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace std::chrono_literals;
using compare::options;

namespace {

options parsed(const std::vector<std::string>& words) {
    options given;
    const auto done = compare::parse_options(given, words);
    if (!done) FAIL(done.error().message);
    return given;
}

experiment::experiment two_variants() {
    experiment::experiment made;
    made.offered.programs = {{.name = "p", .run = {.words = {"postal"}}}};
    made.variants = {{.name = "a"}, {.name = "b=c"}};
    return made;
}

std::string refusal(const std::vector<std::string>& words) {
    options given;
    const auto done = compare::parse_options(given, words);
    if (!done) return done.error().message;
    auto to = two_variants();
    const auto applied = compare::apply(given, to);
    return applied ? "" : applied.error().message;
}

}  // namespace

TEST_CASE("postal-compare options: names and values around the right equals sign") {
    const options given = parsed(
        {"--set", "options=barrier=0", "--set", "disk=", "--expect", "b=c=slower", "x.toml"});
    const experiment::overrides set{{"options", "barrier=0"}, {"disk", ""}};
    CHECK(given.set == set);
    CHECK(given.expect == experiment::overrides{{"b=c", "slower"}});
    CHECK(parsed({"--until-width", "2%", "x"}).until_width == Approx(0.02));
    CHECK(parsed({"--until-width", "2.5%", "x"}).until_width == Approx(0.025));
}

TEST_CASE("postal-compare options: durations and blocks of the command line are the last word") {
    struct row {
        std::vector<std::string> words;
        std::chrono::nanoseconds duration;
        std::chrono::nanoseconds warmup;
        std::uint64_t blocks;
    };
    const std::vector<row> table{
        {{}, 5min, 30s, 6},
        {{"--quick"}, 30s, 5s, 6},
        {{"--classic"}, 20min, 1min, 6},
        {{"--quick", "--duration", "1m"}, 1min, 5s, 6},
        {{"--warmup", "0s", "--blocks", "9"}, 5min, 0s, 9},
        {{"--until-width", "5%", "--max-blocks", "40"}, 5min, 30s, 40},
    };
    for (auto [words, duration, warmup, blocks] : table) {
        words.emplace_back("x.toml");
        auto to = two_variants();
        REQUIRE(compare::apply(parsed(words), to).has_value());
        CHECK(to.offered.duration == duration);
        CHECK(to.offered.warmup == warmup);
        CHECK(to.offered.blocks == blocks);
        CHECK_FALSE(to.offered.seed.has_value());
    }
    auto to = two_variants();
    REQUIRE(compare::apply(parsed({"--seed", "0", "x"}), to).has_value());
    CHECK(to.offered.seed == 0);
}

TEST_CASE("postal-compare options: what is refused, in one line") {
    struct row {
        std::vector<std::string> words;
        std::string named;
    };
    const std::vector<row> table{
        {{}, "EXPERIMENT is missing"},
        {{"x", "y"}, "one argument too many"},
        {{"--verify", "d", "x"}, "leave the experiment out"},
        {{"--check", "--plan", "x"}, "exclude each other"},
        {{"--resume", "--check", "x"}, "exclude each other"},
        {{"--quick", "--classic", "x"}, "exclude each other"},
        {{"--max-blocks", "3", "x"}, "--max-blocks: is for --until-width"},
        {{"--set", "x", "x"}, "is not NAME=VALUE"},
        {{"--set", "=x", "x"}, "is not NAME=VALUE"},
        {{"--expect", "faster", "x"}, "is not VARIANT=VERDICT"},
        {{"--expect", "b=c=fast", "x"}, "\"fast\" is no verdict"},
        {{"--expect", "a=faster", "x"}, "there is no verdict on \"a\""},
        {{"--expect", "c=none", "x"}, "there is no verdict on \"c\""},
        {{"--until-width", "0", "x"}, "is no width"},
        {{"--until-width", "101%", "x"}, "is no width"},
        {{"--until-width", "nan", "x"}, "is no width"},
        {{"--blocks", "0", "x"}, "--blocks"},
        {{"--blocks", "1001", "x"}, "--blocks"},
        {{"--until-width", "2%", "--max-blocks", "1001", "x"}, "--max-blocks"},
        {{"--gate", "announced_p50<+5%", "x"},
         "--gate: announced_p50 is told by a ledger; [load] wants ledger = true"},
        {{"--gate", "rate>-5%", "--gate", "idle_cpu<+5%", "x"},
         "--gate: idle_cpu is of sessions that wait, where each program is rabid with --watch"},
        {{"--gate", "flushes<+5%", "x"}, "--gate: flushes is of the device of [storage], which"},
        {{"--duration", "20s", "x"}, "--warmup: 30s is no shorter than the run of 20s"},
    };
    for (const auto& [words, named] : table) {
        INFO(named);
        const std::string said = refusal(words);
        INFO(said);
        CHECK(said.find(named) != std::string::npos);
        CHECK(said.find('\n') == std::string::npos);
    }
    CHECK(refusal({"--expect", "b=c=none", "x"}).empty());
}

TEST_CASE("postal-compare options: what no run could answer is refused") {
    struct row {
        void (*change)(experiment::experiment&);
        std::string gate;
        std::string said;
    };
    const auto watch = [](experiment::experiment& one) {
        one.offered.programs = {{.name = "r", .run = {.words = {"rabid", "--watch"}}}};
    };
    const std::vector<row> table{
        {[](auto&) {}, "rate>-5%", ""},
        {[](auto& one) { one.variants[1].same_as = 0; }, "rate>-5%",
         "--gate: compares variants with the first one, and x has no other, or only one that is"},
        {[](auto& one) { one.variants.pop_back(); }, "rate>-5%",
         "--gate: compares variants with the first one, and x has no other, or only one that is"},
        {[](auto& one) { one.verdict.about = experiment::metric::announced_p99; }, "",
         "x: [verdict] metric: announced_p99 is told by a ledger; [load] wants ledger = true"},
        {[](auto& one) { one.offered.ledger = true; }, "announced_p99<+5%", ""},
        {watch, "idle_memory<+5%", ""},
        {[](auto& one) { one.variants[0].on.wanted = true; }, "written<+5%",
         "--gate: written is of the device of [storage]"},
        {[](auto& one) { one.variants[0].on.wanted = one.variants[1].on.wanted = true; },
         "written<+5%", ""},
        {[](auto& one) {
             one.offered.search.emplace();
             one.verdict.about = experiment::metric::capacity;
             one.offered.warmup = {};
         },
         "p99<+5%", "--gate: p99 is of runs at one rate, and [capacity] searches"},
        {[](auto& one) {
             one.variants.resize(200);
             one.offered.blocks = 501;
         },
         "", "501 blocks of 200 variants are more than 100,000 runs"},
    };
    for (const auto& [change, gate, said] : table) {
        auto to = two_variants();
        to.file = "x";
        change(to);
        std::vector<std::string> words{"x"};
        if (!gate.empty()) words.insert(words.end(), {"--gate", gate});
        const auto applied = compare::apply(parsed(words), to);
        INFO(said);
        CHECK(applied.has_value() == said.empty());
        if (!applied) CHECK(applied.error().message.find(said) == 0);
    }
}

TEST_CASE("postal-compare options: a search has no warm-up and no length of its own") {
    for (const std::string word : {"--quick", "--classic", "--warmup=5s"}) {
        auto to = two_variants();
        to.offered.search.emplace();
        const auto applied = compare::apply(parsed({word, "x"}), to);
        REQUIRE_FALSE(applied.has_value());
        CHECK(applied.error().message.find(word.substr(0, word.find('=')) + ": is for runs at") ==
              0);
    }
    auto to = two_variants();
    to.offered.search.emplace();
    to.offered.warmup = {};
    to.verdict.about = experiment::metric::capacity;
    REQUIRE(compare::apply(parsed({"--duration", "3m", "x"}), to).has_value());
    CHECK(to.offered.duration == 3min);
}

TEST_CASE("postal-compare options: the folder of results is named after the experiment") {
    CHECK(results_folder(parsed({"/etc/mail.toml"})) == "mail.results");
    CHECK(results_folder(parsed({"a.b.toml"})) == "a.b.results");
    CHECK(results_folder(parsed({"--out", "/tmp/x", "mail.toml"})) == "/tmp/x");
}
