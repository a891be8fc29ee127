// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/population_recipe.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace postal;
using namespace postal::rabid;

namespace {

std::string refusal_of(const std::string& words) {
    const auto read = read_population(words, 1);
    return read ? std::string() : read.error().message;
}

}  // namespace

TEST_CASE("population_recipe: words say what there is") {
    const auto read = read_population(
        "messages=300,folders=5,years=2,until=2025-07-01,seen=50%,zipf=1.5,size=lognormal:2K,1,8K,"
        "body=ascii=90,8bit=10,verify=0.25,threads=off,spread=zipf:1.1",
        9);
    REQUIRE(read.has_value());
    CHECK(read->messages == 300);
    CHECK(read->plan.seed == 9);
    CHECK(read->plan.folders.size() == 5);
    CHECK(read->plan.folders.front() == "INBOX");
    CHECK(read->plan.zipf == 1.5);
    CHECK_FALSE(read->plan.threads);
    CHECK(read->plan.flags.front().flag == "\\Seen");
    CHECK(read->plan.flags.front().share == 0.5);
    CHECK(read->sizes.largest() == 8192);
    CHECK(read->bodies.has(mail::body_kind::eight_bit));
    CHECK(read->verify == 0.25);
    CHECK(read->spread.exponent == 1.1);
    CHECK(read->plan.until == std::chrono::sys_days(std::chrono::year{2025} / 7 / 1));
}

TEST_CASE("population_recipe: what cannot be is refused, and says why") {
    struct row {
        const char* words;
        const char* said;
    };
    const row rows[] = {
        {"messages=", "messages"},
        {"messages=-1", "messages"},
        {"messages=900001", "at most 900000"},
        {"folders=0", "folders"},
        {"folders=1001", "give 1 to 1000"},
        {"years=0", "years"},
        {"years=50,until=1995-01-01", "before 1970"},
        {"until=2026-02-30", "no day"},
        {"until=today", "no day"},
        {"seen=120%", "seen"},
        {"seen=1.5", "seen"},
        {"threads=maybe", "neither"},
        {"size=huge=1", "size"},
        {"body=poems=1", "body"},
        {"mesages=5", "mesages is no key"},
        {"messages=5,messages=6", "twice"},
        {"messages=5,more", "no value"},
        {"/nonexistent/recipe.toml", "recipe.toml"},
    };
    for (const row& one : rows) {
        INFO(one.words);
        CHECK_THAT(refusal_of(one.words), Catch::Contains(one.said));
    }
}

TEST_CASE("population_recipe: a file names folders and keywords") {
    const auto read = parse_population_file(
        "messages = 40\nfolders = [\"inbox\", \"Work/New\", \"Old mail\"]\nuntil = 2024-01-01\n"
        "seen = 0.9\n[keywords]\n\"$Forwarded\" = \"3%\"\nwork = 0.5\n",
        "own.toml", 1);
    REQUIRE(read.has_value());
    CHECK(read->plan.folders == std::vector<std::string>{"INBOX", "Work/New", "Old mail"});
    CHECK(read->plan.flags.size() == 5);
    for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
             {"folders = [\"a.b\"]", "own.toml:1: folders: \"a.b\" is no folder"},
             {"folders = [\"a\", \"a\"]", "twice"},
             {"folders = [\"Work\", \"work\"]", "\"Work\" and \"work\" differ in case alone"},
             {"folders = [1]", "list of names"},
             {"\nkeywords = 3", "own.toml:2: keywords"},
             {"[keywords]\n\"a b\" = 1", "no keyword"},
             {"colour = 1", "colour is no key"},
             {"messages = true", "must be a number"},
             {"messages = [", "own.toml:1"}}) {
        INFO(text);
        const auto refused = parse_population_file(text, "own.toml", 1);
        REQUIRE_FALSE(refused.has_value());
        CHECK_THAT(refused.error().message, Catch::Contains(said));
    }
}

TEST_CASE("population_recipe: INBOX is INBOX in whatever case, and so is what lies below it") {
    const auto read =
        parse_population_file("folders = [\"iNBox\", \"Inbox/x\", \"Inboxes\"]", "own.toml", 1);
    REQUIRE(read.has_value());
    CHECK(read->plan.folders == std::vector<std::string>{"INBOX", "INBOX/x", "Inboxes"});
    const auto twice = parse_population_file("folders = [\"INBOX/x\", \"inbox/x\"]", "own.toml", 1);
    REQUIRE_FALSE(twice.has_value());
    CHECK_THAT(twice.error().message, Catch::Contains("twice"));
}

TEST_CASE("population_recipe: another recipe, or another seed, is another population") {
    const auto run_of = [](const std::string& words, std::uint64_t seed) {
        return read_population(words, seed)->run();
    };
    const std::uint64_t one = run_of("messages=10", 1);
    CHECK(one == run_of("messages=10", 1));
    CHECK(one == run_of("messages=10,verify=10%", 1));
    for (const char* other : {"messages=11", "messages=10,folders=2", "messages=10,seen=1%",
                              "messages=10,size=fixed:4K", "messages=10,body=ascii"})
        CHECK(one != run_of(other, 1));
    CHECK(one != run_of("messages=10", 2));
}

TEST_CASE("population_recipe: messages are spread over the accounts, and none goes without") {
    const auto alike = read_population("messages=10", 1);
    CHECK(alike->messages_of(3) == std::vector<std::uint64_t>{10, 10, 10});
    const auto by_zipf = read_population("messages=100,spread=zipf:1", 1);
    const auto all = by_zipf->messages_of(1000);
    CHECK(std::accumulate(all.begin(), all.end(), std::uint64_t{0}) ==
          Approx(100'000).epsilon(0.01));
    CHECK(all[0] == Approx(2.0 * static_cast<double>(all[1])).epsilon(0.01));
    CHECK(all.back() >= 1);
}
