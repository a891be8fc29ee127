// SPDX-License-Identifier: GPL-3.0-or-later
// What trials that say nothing, too little time and an interruption leave of a search.
#include "capacity_searches.hpp"

using namespace postal::capacity;
using simulated::check_bounded;
using simulated::found;
using simulated::input;
using simulated::p99;
using simulated::server;

TEST_CASE("capacity: trials that are not valid are no failures, and name what stopped the search") {
    const bool machine = GENERATE(true, false);
    SECTION("above what the server carries: nothing is lost but time") {
        server of;
        (machine ? of.machine_most : of.generator_most) = 500;
        search one(input());
        CHECK(simulated::run(one, of, {1}).end == search_end::found);
        CHECK(one.result().limit().rate == Approx(400).epsilon(0.01));
        CHECK(one.result().ceiling_by ==
              (machine ? trial_validity::machine_full : trial_validity::generator_limited));
    }
    SECTION("below: at least so much") {
        server of;
        (machine ? of.machine_most : of.generator_most) = 350;
        search one(input());
        const auto& result = simulated::run(one, of, {1});
        CHECK(result.end == search_end::at_least);
        CHECK(*result.limit().lower <= 350);
        CHECK(*result.limit().lower >= 340);
        CHECK_THAT(found(one), Catch::Contains(machine ? "the machine was full"
                                                       : "the generator was the limit"));
    }
    SECTION("everywhere: nothing is found") {
        server of;
        (machine ? of.machine_most : of.generator_most) = 0.5;
        search one(input());
        const auto& result = simulated::run(one, of, {1});
        CHECK(result.end == (machine ? search_end::machine_full : search_end::generator_limited));
        CHECK_FALSE(result.limit().lower.has_value());
        CHECK_FALSE(result.limit().upper.has_value());
        CHECK_THAT(found(one), Catch::StartsWith("nothing was found: "));
    }
}

TEST_CASE("capacity: what cannot be tried between two bounds is not asked for without an end") {
    simulated::server of;  // 400 a second
    search_input asked;
    asked.goals = {p99()};
    search one(asked);
    std::size_t in_vain = 0;
    while (one.next()) {
        trial_output seen = simulated::perform(of, *one.next(), {1});
        const double load = one.next()->load;
        if (load > 330 && load < 600) {  // somebody else has the machine
            seen.validity = trial_validity::machine_full;
            ++in_vain;
        }
        one.add(std::move(seen));
        REQUIRE(in_vain < 40);
    }
    const search_result& found = one.result();
    CHECK(found.end == search_end::at_least);
    CHECK(*found.limit().lower <= 330);
    CHECK(*found.limit().lower >= 310);
    CHECK(sentence_of(found, one.goals()).ends_with("on the machine was full"));
}

TEST_CASE("capacity: what short trials alone have shown is no lower bound") {
    server of{.service_s = 0.001};
    std::optional<trial_validity> above;
    const auto perform = [&](search& one) {
        while (one.next()) {
            trial_output seen = simulated::perform(of, *one.next(), {1});
            // A burst hides what is too much from trials of some seconds; others fill the machine.
            const bool is_too_much = one.next()->load > 400;
            if (one.next()->load > 440 || (is_too_much && one.next()->duration_s > 10))
                seen.validity = *above;
            one.add(std::move(seen));
            REQUIRE(one.trials().size() < 150);
        }
    };
    for (const auto why : {trial_validity::machine_full, trial_validity::generator_limited}) {
        above = why;
        search one(input());
        perform(one);
        CAPTURE(found(one));
        CHECK(one.result().end == search_end::at_least);
        CHECK(*one.result().limit().lower <= 400);
        CHECK(*one.result().limit().lower >= 380);
        CHECK_FALSE(one.result().limit().by_short_trials);
        CHECK(one.result().ceiling_by == why);
    }
    // There was no time for the goal's own trials.
    auto asked = input();
    asked.most_s = 60;
    search brief(asked);
    perform(brief);
    CAPTURE(found(brief));
    CHECK(brief.result().end == search_end::out_of_time);
    CHECK(brief.result().limit().by_short_trials);
    CHECK_FALSE(brief.result().limit().conditional_throughput);
    CHECK_THAT(found(brief), Catch::Contains("by short trials alone: the time was over"));
}

TEST_CASE("capacity: one trial that is not valid is tried again") {
    server of;
    search one(input());
    int left = 0;
    while (one.next()) {
        auto seen = simulated::perform(of, *one.next(), {1});
        if (one.trials().size() % 5 == 3) {
            seen.validity = trial_validity::machine_full;
            ++left;
        }
        one.add(seen);
    }
    CHECK(left > 3);
    CHECK(one.result().end == search_end::found);
    CHECK_FALSE(one.result().ceiling.has_value());
}

TEST_CASE("capacity: a trial that began with a backlog does not count") {
    server of;
    search one(input());
    const double load = one.next()->load;
    for (int i = 0; i < 2; ++i) {
        auto seen = simulated::perform(of, *one.next(), {1});
        seen.began_with_backlog = true;
        one.add(seen);
        REQUIRE(one.next().has_value());
        CHECK(one.next()->load == load);
        CHECK(one.trials().back().judgements.empty());
    }
    auto seen = simulated::perform(of, *one.next(), {1});
    seen.began_with_backlog = true;
    one.add(seen);
    CHECK_FALSE(one.next().has_value());
    CHECK(one.result().end == search_end::queue_stays);
    CHECK(found(one) == "nothing was found: the server did not get rid of its queue");
}

TEST_CASE("capacity: two trials of which nothing ends, well or not, are enough") {
    const bool is_there = GENERATE(true, false);
    server of;
    search one(input());
    for (int i = 0; i < 2; ++i) {
        REQUIRE(one.next().has_value());
        auto seen = simulated::perform(of, *one.next(), {1});
        seen.began_with_backlog = is_there && i > 0;
        seen.failed_to_connect = !is_there;
        for (goal_losses& of_goal : seen.goals)
            of_goal = {.not_started = of_goal.due() / 2,
                       .not_finished = of_goal.due() - of_goal.due() / 2};
        one.add(seen);
    }
    CHECK_FALSE(one.next().has_value());
    CHECK(one.result().end == search_end::nothing_ended);
    CHECK(found(one).ends_with(": nothing of two trials ended in time"));
}

TEST_CASE("capacity: what an interrupted search had no more use for was not tried") {
    server of;
    search one(input());
    while (one.next() && one.next()->step != trial_step::confirm)
        one.add(simulated::perform(of, *one.next(), {1}));
    REQUIRE(one.next().has_value());
    one.interrupt();
    REQUIRE_FALSE(one.result().confirmation.empty());
    for (const confirmation_result& each : one.result().confirmation)
        CHECK((each.why == untried::ended || each.why == untried::above_most));
    CHECK(confirmation_text(one.result(), "messages").empty());
}

TEST_CASE("capacity: a search that has no more time, or trials, says what it knows") {
    SECTION("time") {
        server of;
        auto asked = input();
        asked.most_s = 100;
        search one(asked);
        CHECK(simulated::run(one, of, {1}).end == search_end::out_of_time);
        check_bounded(one);
        CHECK_THAT(
            found(one),
            Catch::EndsWith(" messages/s, not closer, by short trials alone: the time was over"));
        CHECK(one.result().limit().end == goal_end::unfinished);
    }
    SECTION("trials") {
        server of;
        auto asked = input();
        asked.most_trials = 5;
        search one(asked);
        CHECK(simulated::run(one, of, {1}).end == search_end::out_of_trials);
        check_bounded(one);
        CHECK_THAT(found(one), Catch::StartsWith("at least 1"));
    }
    SECTION("in the confirmation") {
        server of;
        search whole(input());
        simulated::run(whole, of, {1});
        server again;
        auto asked = input();
        asked.most_trials = whole.trials().size() - 4;
        search one(asked);
        CHECK(simulated::run(one, again, {1}).end == search_end::found);
        CHECK_FALSE(one.result().confirmed);
        CHECK_THAT(found(one), Catch::EndsWith(", not confirmed"));
    }
}
