// SPDX-License-Identifier: GPL-3.0-or-later
// A search and the programs beside it, as far as they are without a run: how they meet, and part.
#include "program/search_partners.hpp"

#include <catch2/catch.hpp>

#include "../temporary_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

#include "base/version.hpp"
#include "program/joined_search.hpp"

using namespace std::chrono_literals;
using namespace postal;
using namespace postal::program;

namespace {

using folder = test::temporary_folder;

cluster::joins reader() {
    return {.version = std::string(base::build_version),
            .program = "rabid",
            .unit = "visits",
            .share = 0.2,
            .seed = 7,
            .phases = 2,
            .due_phase = 1,
            .sessions = 4,
            .at_once = 1,
            .goals = {{.promise = "p99(session)<1s", .metric = "p99(session)"}},
            .promises = {{1s, stats::all_but_accepted}}};
}

load::trial a_trial() {
    return {.times = {.number = 1, .begin = 1s, .measured = 2s, .batch = 1s, .batches = 2},
            .messages = 12,
            .promises = reader().promises};
}

// The program that joins, by its words alone.
net::parcel_line joined(const std::string& socket, const cluster::joins& what) {
    std::optional<net::parcel_line> line;
    while (!line)
        line = std::move(net::parcel_line::connect(socket).value());
    line->send(cluster::encode(what));
    return std::move(*line);
}

cluster::word heard(net::parcel_line& from, std::size_t phases = 0) {
    std::optional<std::string> octets;
    while (!octets)
        octets = from.receive();
    return cluster::decode(*octets, phases).value();
}

}  // namespace

TEST_CASE(
    "search partners: what they promise and how much of them is due becomes part of a search") {
    const folder in;
    auto all = search_partners::open({in / "a", in / "b"});
    REQUIRE(all.has_value());
    auto one = joined(in / "a", reader());
    cluster::joins second = reader();
    second.share = 3;
    second.at_random = true;
    auto other = joined(in / "b", second);
    REQUIRE(all->assemble(10s).has_value());
    CHECK_FALSE(std::filesystem::exists(in / "a"));  // nobody else can join

    const auto flows = all->flows();
    REQUIRE(flows.size() == 2);
    CHECK(flows[0].program == "rabid");
    CHECK(flows[1].program == "rabid 2");
    CHECK(flows[0].share == 0.2);
    CHECK(flows[1].arrival == load::arrival::poisson);
    CHECK(flows[1].due_phase == 1);
    const auto goals = all->goals();
    REQUIRE(goals.size() == 2);
    CHECK(goals[0].flow == 1);
    CHECK(goals[1].flow == 2);
    CHECK(goals[1].share == 3);

    const auto start = std::chrono::steady_clock::now();
    all->start(start);
    CHECK(std::get<cluster::welcome>(heard(one)).version == base::build_version);
    CHECK(std::get<cluster::start>(heard(one)).at == start.time_since_epoch());
    all->begin_trial(1, a_trial());
    CHECK(std::get<cluster::next_trial>(heard(one)).what.messages == 12);

    // What it counts comes with its place.
    std::vector<std::size_t> from;
    std::vector<std::string> lost;
    all->attach(
        {.on_time_slice = [&](const stats::time_slice&, std::size_t flow) { from.push_back(flow); },
         .on_lost = [&](const std::string& why) { lost.push_back(why); }});
    other.send(cluster::encode(cluster::counted(2)));
    one.send(cluster::encode(cluster::counted(2)));
    all->poll();
    CHECK(from == std::vector<std::size_t>{1, 2});

    SECTION("a slice of another program's phases is garbage, and said once") {
        other.send(cluster::encode(cluster::counted(3)));
        all->poll();
        all->poll();
        CHECK(all->any_lost());
        REQUIRE(lost.size() == 1);
        CHECK_THAT(lost[0], Catch::StartsWith("rabid 2 is lost: it said ") &&
                                Catch::EndsWith("; the search ends"));
    }
    SECTION("one that ended by itself") {
        one.send(cluster::encode(cluster::stop{.why = stats::run_ending::signal}));
        all->poll();
        CHECK(lost ==
              std::vector<std::string>{"rabid is lost: it ended (signal); the search ends"});
    }
    SECTION("one that is gone") {
        { const net::parcel_line gone = std::move(one); }
        all->poll();
        CHECK(lost ==
              std::vector<std::string>{"rabid is lost: it closed its connection; the search ends"});
    }
    SECTION("the end of the search is theirs, and then nobody is missed") {
        all->end({.why = stats::run_ending::complete});
        CHECK(std::get<cluster::stop>(heard(one)).why == stats::run_ending::complete);
        { const net::parcel_line gone = std::move(one); }
        all->poll();
        CHECK(lost.empty());
        CHECK_FALSE(all->any_lost());
    }
}

TEST_CASE("search partners: who cannot have a part is refused with one line") {
    const folder in;
    const auto refusal = [&](const cluster::word& said) {
        auto all = search_partners::open({in / "a"});
        REQUIRE(all.has_value());
        auto line = net::parcel_line::connect(in / "a").value();
        line->send(cluster::encode(said));
        const auto met = all->assemble(10s);
        REQUIRE_FALSE(met.has_value());
        CHECK(met.error().message.find('\n') == std::string::npos);
        return met.error().message;
    };
    const std::string option = "--search-socket " + in / "a" + ": ";
    cluster::joins older = reader();
    older.version = "0.70";
    CHECK_THAT(refusal(older), Catch::StartsWith(option + "rabid there is version 0.70, this is "));
    cluster::joins eggs = reader();
    eggs.unit = "eggs";
    CHECK(refusal(eggs) == option + "who came there did not join the search");
    CHECK(refusal(cluster::ping{}) == option + "who came there did not join the search");
    cluster::joins none = reader();
    none.share = 0;
    CHECK_THAT(refusal(none), Catch::Contains("octets that are no word of this version"));
}

TEST_CASE("search partners: nobody is waited for without an end") {
    const folder in;
    auto all = search_partners::open({in / "a"});
    CHECK(all->assemble(20ms).error().message ==
          "--search-socket " + in / "a" +
              ": nobody joined within 20ms; the other program wants --join-search");
    CHECK(joined_search::join(in / "b", reader(), 20ms).error().message ==
          "--join-search " + in / "b" + ": nobody searches there within 20ms");
    // There is somebody, who does not begin.
    CHECK(joined_search::join(in / "a", reader(), 20ms).error().message ==
          "--join-search " + in / "a" + ": it did not begin within 20ms");
}

TEST_CASE("search partners: both sides meet") {
    const folder in;
    const std::string socket = in / "a";
    auto all = search_partners::open({socket});
    REQUIRE(all.has_value());
    // Signals are heard by one at a time: the other side is its words, until it has begun to wait.
    auto line = joined(socket, reader());
    REQUIRE(all->assemble(10s).has_value());
    const auto when = std::chrono::steady_clock::now() + 100ms;
    all->start(when);
    CHECK(std::get<cluster::welcome>(heard(line)).version == base::build_version);

    auto door = net::parcel_door::open(socket);
    REQUIRE(door.has_value());
    auto met = std::async(std::launch::async, [&] {
        std::optional<net::parcel_line> came;
        while (!came)
            came = door->let_in();
        came->send(cluster::encode(cluster::welcome{std::string(base::build_version)}));
        const auto said = heard(*came);
        came->send(cluster::encode(cluster::start{.at = when.time_since_epoch()}));
        return std::pair(std::get<cluster::joins>(said).share, std::move(*came));
    });
    const auto mine = joined_search::join(socket, reader(), 10s);
    REQUIRE(mine.has_value());
    CHECK((*mine)->start() == when);
    CHECK(met.get().first == 0.2);
}

TEST_CASE("search partners: a search of another version is not joined, nor one by another clock") {
    const folder in;
    const std::string socket = in / "a";
    auto door = net::parcel_door::open(socket);
    REQUIRE(door.has_value());
    const auto refusal = [&](const cluster::welcome& welcome, std::optional<cluster::start> start) {
        auto other = std::async(std::launch::async, [&] {
            std::optional<net::parcel_line> came;
            while (!came)
                came = door->let_in();
            came->send(cluster::encode(welcome));
            if (start) came->send(cluster::encode(*start));
            return std::move(*came);
        });
        const auto mine = joined_search::join(socket, reader(), 10s);
        const auto line = other.get();
        REQUIRE_FALSE(mine.has_value());
        return mine.error().message;
    };
    const std::string option = "--join-search " + socket + ": ";
    CHECK_THAT(refusal({"0.70"}, {}), Catch::StartsWith(option + "it is version 0.70, this is "));
    CHECK(refusal({std::string(base::build_version)}, cluster::start{.at = 1h * 24 * 365 * 50}) ==
          option + "it goes by another clock");
}
