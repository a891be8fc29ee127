// SPDX-License-Identifier: GPL-3.0-or-later
// A search's record: what is written is read again, and every key is described by one list.
#include "stats/capacity/record_fields.hpp"

#include <nlohmann/json.hpp>

#include "simulated_servers.hpp"
#include "stats/json_fields.hpp"
#include "stats/json_writer.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace postal::capacity;

namespace {

std::string text_of(const search_record& of) {
    stats::json_writer to(1, {}, stats::decimals::all);
    fields<stats::json_writer>(to, of);
    return to.take();
}

}  // namespace

TEST_CASE("capacity: a search's record is read as it was written") {
    simulated::server of;
    search_input asked;
    asked.goals = {simulated::p99()};
    search one(asked);
    simulated::run(one, of, {1});
    const search_record written = record_of(one);
    CHECK(written.trials.size() == one.trials().size());
    CHECK(written.sentence == sentence_of(one.result(), one.goals()));
    CHECK_FALSE(written.max_load.has_value());

    const std::string text = text_of(written);
    const auto all = stats::json::parse(text);
    CHECK(all["trials"].size() == written.trials.size());
    CHECK(all["trials"][0]["goals"][0]["shown"] == "not_known");
    CHECK(all["result"]["end"] == "found");
    CHECK(all["max_load"].is_null());

    search_record read;
    stats::complaint problems;
    const stats::json_fields from(all, "", problems);
    fields<const stats::json_fields>(from, read);
    CHECK_FALSE(bool(problems));
    CHECK(text_of(read) == text);
}

TEST_CASE("capacity: who was beside stands in a search's record, with each trial, and is read") {
    simulated::server of, read{.service_s = 1 / 30.0};
    search_input asked;
    asked.goals = {simulated::p99(), simulated::p99()};
    asked.goals[1].flow = 1;
    asked.goals[1].share = 0.2;
    search one(asked);
    while (one.next())
        one.add(simulated::perform_together(of, read, 0.2, *one.next(), {1}, {1}));
    search_record written = record_of(one, "messages", {{"rabid", "visits", 0.2, 4}});
    const auto all = stats::json::parse(text_of(written));
    CHECK(all["beside"][0]["program"] == "rabid");
    CHECK(all["search_goals"][1]["flow"] == 1);
    CHECK_FALSE(all["search_goals"][0].contains("flow"));
    CHECK(all["trials"][0]["beside"][0]["intended"] > 0);
    CHECK_THAT(all["sentence"].get<std::string>(), Catch::Contains(" beside "));
    CHECK(busy_sessions(written) == std::vector<std::string>{"4 sessions of rabid"});

    search_record again;
    stats::complaint problems;
    const stats::json_fields from(all, "", problems);
    fields<const stats::json_fields>(from, again);
    CHECK_FALSE(bool(problems));
    CHECK(text_of(again) == all.dump(1));
}

TEST_CASE("capacity: how far the generator is from its own limit") {
    search_record of;
    of.unit = "messages";
    CHECK_FALSE(reach_of(of));
    CHECK(reach_texts(of, "postal").empty());
    const auto trial = [&](double load, std::optional<double> busy, bool counts) {
        recorded_trial one;
        one.asked.load = load;
        one.generator_busy = busy;
        if (counts) one.goals.emplace_back().said.measured = loss_class::low;
        of.trials.push_back(one);
    };
    trial(400, 0.5, true);
    trial(800, 0.25, true);
    trial(700, 0.9, true);
    trial(1600, 0.9, false);          // says nothing
    trial(1000, std::nullopt, true);  // too short to know
    trial(1000, 0.0, true);
    REQUIRE(reach_of(of));
    CHECK(reach_of(of)->load == 800);
    CHECK(reach_of(of)->rate() == 3200);
    CHECK(reach_texts(of, "postal") ==
          std::vector<std::string>{"postal could do about 3,200 messages/s or more by itself",
                                   "by a trial: 800 messages/s took 25.0 % of its busiest worker"});
    // A server takes what it can, however much is offered: that the generator waits shows nothing.
    trial(8000, 0.01, true);
    of.trials.back().goals.front().said.measured = loss_class::high;
    trial(4000, 0.01, true);
    of.trials.back().goals.front().said.growth = 0.1;
    trial(2000, 0.01, true);
    of.trials.back().goals.emplace_back().said.measured = loss_class::high;
    CHECK(reach_of(of)->rate() == 3200);
    // What was lost within the promise was not finished.
    trial(1000, 0.25, true);
    of.trials.back().goals.front().said.loss_ratio = 0.1;
    CHECK(reach_of(of)->load == Approx(900));
    CHECK(reach_of(of)->rate() == Approx(3600));
    // What was measured before the search is more than what a trial shows.
    of.alone =
        own_limit{.rate = 14200, .load = 13200, .busy = 0.93, .measured_s = 2, .left_out = {}};
    std::vector<std::string> said{"postal could do 14,200 messages/s by itself",
                                  "measured: 13,200 messages/s took 93.0 % of its busiest worker"};
    CHECK(reach_texts(of, "postal") == said);
    of.alone->left_out = "AUTH, --ledger";
    said.emplace_back("left out of that: AUTH, --ledger");
    CHECK(reach_texts(of, "postal") == said);
}

TEST_CASE("capacity: what waits in a server's queue stands with a trial where it was counted") {
    search_trial one;
    one.seen.batches.push_back({10, 7, {0}, {0}, 5});
    CHECK_FALSE(recorded(one).queued_end);
    one.seen.queue_counted = true;
    CHECK(recorded(one).queued_end == 5);
    CHECK(recorded(one).backlog_end == 7);
}
