// SPDX-License-Identifier: GPL-3.0-or-later
// Searches on servers whose truth is known; tests/truth has thousands of them.
#include "base/words.hpp"
#include "stats/capacity/record.hpp"
#include "stats/capacity/search.hpp"

#include "simulated_servers.hpp"

#include <catch2/catch.hpp>

using namespace postal::capacity;
using simulated::p99;
using simulated::server;

namespace {

search_input input(std::uint64_t seed = 1) {
    search_input made;
    made.goals = {p99()};
    made.loads.start = 10 + 0.1 * static_cast<double>(seed);
    made.seed = seed;
    return made;
}

// What every search keeps to, whatever the server is.
void check_bounded(const search& of) {
    CHECK(of.trials().size() <= of.input().most_trials);
    for (const search_trial& one : of.trials()) {
        CHECK(one.asked.load >= of.input().loads.min);
        CHECK(one.asked.load <= of.input().loads.max);
        CHECK(one.start_s + one.asked.settle_s + one.asked.duration_s <= of.input().most_s);
    }
    CHECK_FALSE(of.next().has_value());
    CHECK(of.because().empty());
}

std::string found(const search& of) {
    return sentence_of(of.result(), of.goals());
}

}  // namespace

TEST_CASE("capacity: the rate of a token bucket is found within 1 %, and confirmed") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        server of{.places = seed % 2 == 0 ? 1U : 4U, .service_s = seed % 2 == 0 ? 0.0025 : 0.01};
        search one(input(seed));
        const auto& result = simulated::run(one, of, {1});
        CAPTURE(seed, found(one));
        check_bounded(one);
        CHECK(result.end == search_end::found);
        CHECK(result.confirmed);
        CHECK(result.limit().rate == Approx(400).epsilon(0.01));
        CHECK(*result.limit().lower <= 400 * 1.0015);  // 1 in 1,000 may stay behind
        CHECK(*result.limit().upper >= 400);
        CHECK(*result.limit().upper <= *result.limit().lower * 1.0201);
        CHECK(*result.limit().conditional_throughput == Approx(*result.limit().lower));
        CHECK(result.took_s < 600);
    }
}

TEST_CASE("capacity: who puts up with too much for a second is not taken for faster") {
    // With 400 tokens saved up it takes 400/s for ever and 416/s for the 25 s of a trial: what is
    // between the two may hold and fail.
    std::size_t numbers = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        server of{.places = 4, .service_s = 0.001, .tokens_a_second = 400, .most_tokens = 400};
        search_input asked = input(seed);
        asked.goals.front().loss_ratio = 0.001;
        search one(asked);
        const auto& result = simulated::run(one, of, {1});
        CAPTURE(seed, found(one));
        numbers += result.end == search_end::found ? 1 : 0;
        CHECK_THAT(found(one), !Catch::Contains("which had failed, held"));
        CHECK(result.limit().rate >= 400 * 0.99);
        CHECK(result.limit().rate <= 417);
    }
    CHECK(numbers >= 15);
}

TEST_CASE("capacity: it begins with short trials, doubles, and ends with long ones") {
    server of;
    search one(input(0));
    CHECK(one.next()->load == 10);
    CHECK(one.next()->duration_s == 2);
    simulated::run(one, of, {1});
    const auto& trials = one.trials();
    for (std::size_t i = 1; i < 7; ++i) {
        CHECK(trials[i].asked.load == 2 * trials[i - 1].asked.load);
        CHECK(trials[i].asked.step == trial_step::extend_up);
    }
    CHECK(trials[7].asked.step == trial_step::bisect);
    CHECK(trials[7].asked.load == Approx(640 / std::sqrt(2)));
    CHECK(trials.back().asked.step == trial_step::confirm);
    double longest_s = 0;
    for (const auto& each : trials)
        longest_s = std::max(longest_s, each.asked.duration_s);
    CHECK(longest_s == 20);
    CHECK(found(one) == "400 messages/s (397 to 402), limited by p99(message): the backlog grew");
}

TEST_CASE("capacity: half a per cent is possible") {
    server of;
    auto asked = input();
    asked.goals = {p99(0.005)};
    search one(asked);
    const goal_result limit = simulated::run(one, of, {1}).limit();
    CHECK(limit.end == goal_end::regular);
    CHECK(limit.rate == Approx(400).epsilon(0.0025));
    CHECK(*limit.upper <= *limit.lower * 1.00501);
}

TEST_CASE("capacity: the same trials give the same search") {
    const auto loads = [](std::uint64_t seed) {
        server of{.tail_share = 0.02, .tail_s = 1, .random = postal::base::random_source(3)};
        auto asked = input();
        asked.seed = seed;
        search one(asked);
        simulated::run(one, of, {1});
        std::vector<double> made;
        for (const auto& each : one.trials())
            made.push_back(each.asked.load);
        return made;
    };
    CHECK(loads(7) == loads(7));
    CHECK(loads(7) != loads(8));  // by the order of the confirmation
}

TEST_CASE("capacity: goals are served by the same trials") {
    server of{.places = 4, .service_s = 0.0025, .poisson = true};
    auto asked = input();
    asked.goals = {p99(0.05), p99(0.05), p99(0.05)};
    asked.goals[0].promise = "p99(message)<5ms";
    asked.goals[1].promise = "p99(message)<25ms";
    asked.goals[2].promise = "p99(message)<1s";
    asked.most_s = 3600;
    search one(asked);
    const auto& result = simulated::run(one, of, {0.005, 0.025, 1});
    check_bounded(one);
    CAPTURE(found(one));
    CHECK(result.limiting == 0);
    CHECK(result.goals[0].rate < result.goals[1].rate);
    CHECK(result.goals[1].rate < result.goals[2].rate);
    CHECK(result.goals[1].rate == Approx(1502).epsilon(0.03));
    CHECK_THAT(found(one), Catch::Contains("limited by p99(message)<5ms"));
}

namespace {

const partners readers{{.program = "rabid", .unit = "visits", .share = 0.2}};

search_input input_of_both(std::uint64_t seed) {
    search_input asked = input(seed);
    goal visits = p99();
    visits.promise = "p99(session)<1s";
    visits.metric = "p99(session)";
    visits.flow = 1;
    visits.share = readers[0].share;
    asked.goals.push_back(visits);
    return asked;
}

}  // namespace

TEST_CASE("capacity: of two programs the one whose server is the limit decides") {
    struct row {
        double messages, visits;  // a second that each server takes
        double truth;
        std::size_t limiting;
        const char* by;
    };
    const row one = GENERATE(row{1000, 60, 300, 1, "p99(session) of rabid"},
                             row{400, 1000, 400, 0, "p99(message)"});
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        server of{.service_s = 1 / one.messages};
        server read{.places = 4, .service_s = 4 / one.visits};
        search both(input_of_both(seed));
        while (both.next())
            both.add(simulated::perform_together(of, read, 0.2, *both.next(), {1}, {1}));
        const search_result& result = both.result();
        const std::string said = sentence_of(result, both.goals(), "messages", readers);
        CAPTURE(one.truth, seed, said);
        check_bounded(both);
        CHECK(result.end == search_end::found);
        CHECK(result.confirmed);
        CHECK(result.limiting == one.limiting);
        CHECK(result.limit().rate == Approx(one.truth).epsilon(0.01));
        const std::string beside = beside_text(result.limit().rate, readers);
        CHECK_THAT(said, Catch::Contains(" messages/s (") && Catch::Contains(")" + beside) &&
                             Catch::Contains(std::string(", limited by ") + one.by));
    }
}

TEST_CASE("capacity: a small share of the load makes no trial long that only looks where it is") {
    const bool both_dead = GENERATE(true, false);
    search_input asked = input_of_both(1);
    asked.goals[1].share = 0.01;  // at the lowest rate a visit falls due every 100 s
    server of{.error_share = both_dead ? 1.0 : 0.0};
    server read{.error_share = 1};
    search both(asked);
    while (both.next())
        both.add(simulated::perform_together(of, read, 0.01, *both.next(), {1}, {1}));
    CAPTURE(both_dead, sentence_of(both.result(), both.goals(), "messages", readers));
    check_bounded(both);
    for (const search_trial& one : both.trials())
        if (one.asked.goal == 1) CHECK(one.asked.duration_s <= 10);
    if (both_dead) {
        CHECK(both.result().end == search_end::doomed);
        CHECK(both.result().took_s <= 60);
    } else {
        CHECK_FALSE(both.result().goals[1].lower.value_or(0) > 50);
        CHECK(both.result().goals[1].upper.has_value());
    }
}

TEST_CASE("capacity: a full-length trial holds enough of the program whose goal it is") {
    const auto asked = input_of_both(1);
    const auto aim = targets_of(asked.goals[1]).back();
    CHECK(aim.trial_s_at(10) == Approx(fewest_messages(0.01) / 2));
    CHECK(targets_of(asked.goals[0]).back().trial_s_at(100) == 20);
    search both(asked);
    CHECK(both.next()->load == Approx(10.1));
    CHECK(both.next()->duration_s == Approx(2));  // of the program that searches
}

TEST_CASE("capacity: a program that is lost ends the search, which says so") {
    server of, read;
    search both(input_of_both(1));
    for (int i = 0; i < 6; ++i)
        both.add(simulated::perform_together(of, read, 0.2, *both.next(), {1}, {1}));
    both.interrupt(search_end::partner_lost);
    CHECK(both.result().end == search_end::partner_lost);
    CHECK_THAT(sentence_of(both.result(), both.goals(), "messages", readers),
               Catch::Contains(" visits/s") && Catch::EndsWith(": a program beside it was lost"));
}

TEST_CASE("capacity: errors bound a rate as lateness does") {
    server of{.error_share = 0.005};
    auto asked = input();
    asked.goals[0].promise = "errors<0.1%";
    asked.goals[0].loss_ratio = 0.001;
    search never(asked);
    CHECK_FALSE(simulated::run(never, of, {1}).limit().lower.has_value());
    asked.goals[0].loss_ratio = 0.02;
    server again = of;
    search held(asked);
    CHECK(simulated::run(held, again, {1}).limit().rate == Approx(400).epsilon(0.02));
}

TEST_CASE("capacity: a server that is never good is doomed within a minute") {
    const bool deaf = GENERATE(true, false);
    server of{.error_share = deaf ? 0.0 : 0.5, .deaf = deaf};
    search one(input(0));
    const auto& result = simulated::run(one, of, {1});
    check_bounded(one);
    CHECK(result.end == search_end::doomed);
    CHECK(result.took_s <= 60);
    CHECK(result.confirmation.empty());
    CHECK_THAT(found(one), Catch::StartsWith("doomed at the lowest rate: 1.00 messages/s did not "
                                             "keep p99(message)<1s ("));
}

TEST_CASE("capacity: a start far above what the server carries is only a start") {
    // With a queue of its own it takes all at once, and each trial leaves one that is to be waited
    // for; otherwise nobody begins what a trial left.
    const bool relays = GENERATE(true, false);
    const double start = GENERATE(100.0, 250.0, 500.0, 1500.0);
    server of{.places = 5, .service_s = 0.2, .relays = relays};  // 25 a second
    auto asked = input();
    asked.loads.start = start;
    asked.loads.max = start;
    search one(asked);
    simulated::run(one, of, {1});
    CAPTURE(relays, start, found(one));
    check_bounded(one);
    for (const search_trial& each : one.trials())
        CHECK_FALSE(each.seen.began_with_backlog);
    CHECK(one.result().end == search_end::found);
    CHECK(one.result().limit().rate == Approx(25).epsilon(0.02));
}

TEST_CASE("capacity: with a high start, too, a server that is never good is doomed in a minute") {
    const double start = GENERATE(100.0, 1000.0, 10'000.0);
    server of{.places = 5, .service_s = 3};  // for which a second is allowed
    auto asked = input();
    asked.loads.start = start;
    search one(asked);
    const auto& result = simulated::run(one, of, {1});
    CAPTURE(start, found(one));
    check_bounded(one);
    CHECK(result.end == search_end::doomed);
    CHECK(result.took_s <= 60);
}

TEST_CASE("capacity: a capacity that changes by a fifth in the middle is no number") {
    const double by = GENERATE(0.8, 1.2);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        server of{.changes_at_s = 150 + 10 * static_cast<double>(seed), .changes_by = by};
        search one(input(seed));
        CAPTURE(by, seed, found(one));
        CHECK(simulated::run(one, of, {1}).end == search_end::unstable);
        CHECK_THAT(found(one), Catch::StartsWith("unstable: "));
        CHECK_FALSE(one.result().confirmed);
    }
}

TEST_CASE("capacity: the highest load that may be tried is a lower bound") {
    server of;
    auto asked = input();
    asked.loads.max = 300;
    search one(asked);
    const auto& result = simulated::run(one, of, {1});
    check_bounded(one);
    CHECK(result.end == search_end::at_least);
    CHECK(*result.limit().lower == 300);
    CHECK_FALSE(result.limit().upper.has_value());
    CHECK(result.confirmed);
    CHECK(found(one) == "at least 300 messages/s at p99(message): no more was to be tried");
    CHECK_THAT(confirmation_text(result, "messages"),
               Catch::EndsWith("; 120 %, 360 messages/s, not tried: that is more than was to be "
                               "tried"));
}

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
    server of;
    search one(input());
    for (int i = 0; i < 2; ++i) {
        REQUIRE(one.next().has_value());
        auto seen = simulated::perform(of, *one.next(), {1});
        seen.began_with_backlog = i > 0;
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

TEST_CASE("capacity: what was found is tried once more, three times each, in random order") {
    server of;
    search one(input());
    const auto& result = simulated::run(one, of, {1});
    REQUIRE(result.confirmation.size() == 4);
    const double lower = *result.limit().lower;
    CHECK(result.confirmation[0].load == Approx(0.8 * lower));
    CHECK(result.confirmation[1].load == lower);
    CHECK(result.confirmation[2].load == Approx(1.05 * *result.limit().upper));
    CHECK(result.confirmation[3].load == Approx(1.2 * lower));
    for (const auto& each : result.confirmation)
        CHECK(each.trials() == 3);
    CHECK(result.confirmation[0].held == 3);
    CHECK(result.confirmation[3].failed == 3);
    SECTION("not where it is not wanted") {
        server again;
        auto asked = input();
        asked.confirm = false;
        search brief(asked);
        CHECK(simulated::run(brief, again, {1}).confirmation.empty());
        CHECK(brief.result().end == search_end::found);
    }
}

TEST_CASE("capacity: what confirmation contradicts") {
    struct row {
        confirmed_load what;
        confirmation_result seen;
        bool wanted;
    };
    const auto three = [](std::uint64_t shown_held, std::uint64_t shown_failed,
                          std::uint64_t far = 0) {
        return confirmation_result{.held = 3 - shown_failed,
                                   .shown_held = shown_held,
                                   .failed = shown_failed,
                                   .shown_failed = shown_failed,
                                   .far = far};
    };
    row of = GENERATE_COPY(row{confirmed_load::share_80, three(1, 2), true},
                           row{confirmed_load::share_80, three(2, 1), false},
                           row{confirmed_load::share_100, three(1, 2), true},
                           row{confirmed_load::share_100, three(2, 1), false},
                           row{confirmed_load::share_100, three(2, 1, 1), true},
                           row{confirmed_load::share_120, three(0, 1), true},
                           row{confirmed_load::share_120, three(0, 3), false},
                           row{confirmed_load::beyond, three(2, 1), true},
                           row{confirmed_load::beyond, three(1, 0), false},
                           row{confirmed_load::held_before, three(0, 2), true},
                           row{confirmed_load::held_before, three(0, 1), false},
                           row{confirmed_load::failed_before, three(3, 0), true},
                           row{confirmed_load::failed_before, three(0, 3), false});
    of.seen.what = of.what;
    CAPTURE(postal::base::name_of(of.what));
    CHECK(of.seen.contradicts() == of.wanted);
}

TEST_CASE("capacity: what was to hold and did not, as measured, is not confirmed") {
    struct row {
        confirmed_load what;
        std::uint64_t failed;  // of three, by no evidence
        bool unstable, doubtful;
    };
    const row of = GENERATE(row{confirmed_load::share_80, 3, true, true},
                            row{confirmed_load::share_80, 2, false, true},
                            row{confirmed_load::share_80, 1, false, false},
                            row{confirmed_load::share_100, 3, false, true},
                            row{confirmed_load::share_100, 2, false, true},
                            row{confirmed_load::share_100, 1, false, false},
                            row{confirmed_load::beyond, 3, false, false},
                            row{confirmed_load::share_120, 3, false, false});
    const confirmation_result seen{.what = of.what, .held = 3 - of.failed, .failed = of.failed};
    CAPTURE(postal::base::name_of(of.what), of.failed);
    CHECK(seen.contradicts() == of.unstable);
    CHECK(seen.doubtful() == of.doubtful);
}

TEST_CASE("capacity: a result that fails when it is tried once more is not confirmed") {
    // Nothing is shown, but 2 in 100 are late: in the second half of the confirmation or so.
    const auto result = [](double share, confirmed_load where) {
        server of;
        search one(input());
        while (one.next()) {
            const trial_input asked = *one.next();
            trial_output seen = simulated::perform(of, asked, {1});
            const double lower = one.result().limit().lower.value_or(0);
            const double wanted = where == confirmed_load::share_80 ? 0.8 * lower : lower;
            if (asked.step == trial_step::confirm && asked.load == Approx(wanted)) {
                trial_batch& clump = seen.batches[7];  // in one clump, which is no evidence
                clump.lost[0] = std::min(
                    clump.due,
                    static_cast<std::uint64_t>(share * static_cast<double>(seen.intended)));
                seen.goals[0].late = clump.lost[0];
                seen.goals[0].on_time = seen.intended - clump.lost[0];
            }
            one.add(std::move(seen));
        }
        return std::pair(one.result(), sentence_of(one.result(), one.goals()));
    };
    const auto [steady, said] = result(0, confirmed_load::share_80);
    CHECK(steady.confirmed);
    const auto [low, low_said] = result(0.02, confirmed_load::share_80);
    CHECK(low.confirmation[0].failed == 3);
    CHECK(low.confirmation[0].shown_failed == 0);
    CHECK(low.end == search_end::unstable);
    CHECK_THAT(low_said, Catch::StartsWith("unstable: ") && Catch::Contains("failed in 3 of 3"));
    const auto [there, there_said] = result(0.02, confirmed_load::share_100);
    CHECK(there.confirmation[1].failed == 3);
    // It is evidence about the bound, too, which is lower then.
    CHECK(there.end == search_end::not_closer);
    CHECK(*there.limit().lower <= *steady.limit().lower * 0.99);
    CHECK_FALSE(there.confirmed);
    CHECK_THAT(there_said, Catch::EndsWith(", not confirmed"));
}

namespace {

// 40 batches with nothing late, or half of it.
search_trial tried(double load, bool held) {
    search_trial made;
    made.asked = {.load = load, .duration_s = 20, .batches = 40, .step = trial_step::bisect};
    made.seen.duration_s = 20;
    const auto due = static_cast<std::uint64_t>(load / 2);
    for (int i = 0; i < 40; ++i)
        made.seen.batches.push_back({due, 0, {held ? 0 : due / 2}, {0}});
    made.seen.goals.push_back(
        {.on_time = 40 * (held ? due : due - due / 2), .late = held ? 0 : 40 * (due / 2)});
    made.seen.intended = 40 * due;
    return made;
}

search_result bounded_by_nothing(search_result of) {
    of.end = search_end::not_closer;
    of.goals.front() = {.end = goal_end::not_closer, .lower = 100, .rate = 100};
    of.confirmation.pop_back();  // 120 %
    return of;
}

}  // namespace

TEST_CASE("capacity: 120 % is tried wherever it may be, or why not is said") {
    measurements trials({p99()});
    for (int i = 0; i < 3; ++i) {
        trials.add(tried(100, true));
        trials.add(tried(150, false));
    }
    const auto of = [&](const load_limits& limits, trial_validity by) {
        confirmation made(trials, 0, limits, by, 1);
        std::size_t asked = 0;
        for (; made.next() != nullptr; ++asked) {
            judgement said;
            said.measured = said.shown = loss_class::low;
            made.add(said);
        }
        search_result result;
        result.goals.push_back({.lower = 100, .upper = 150, .rate = 110});
        result.confirmation = made.results();
        if (std::isfinite(limits.ceiling)) result.ceiling = limits.ceiling;
        return std::pair(asked, result);
    };
    const auto [all, between] = of({}, trial_validity::valid);
    CHECK(all == 12);
    REQUIRE(between.confirmation.size() == 4);
    CHECK(between.confirmation[3].what == confirmed_load::share_120);
    CHECK(between.confirmation[3].load == Approx(120));
    CHECK(between.confirmation[3].trials() == 3);
    search_result passed = between;
    passed.end = search_end::at_least;
    CHECK(sentence_of(passed, {p99()}) ==
          "at least 100 messages/s at p99(message): 120 % of what was found passed, too");

    // Loads above were tried, and neither held nor failed: there is no upper bound to be told.
    search_result open = bounded_by_nothing(between);
    CHECK(sentence_of(open, {p99()}) ==
          "at least 100 messages/s at p99(message): above it nothing was decided, not confirmed");
    CHECK(standing_of(open, 0).result == "at least, not confirmed");
    open.ceiling = 118;
    open.ceiling_by = trial_validity::machine_full;
    open.confirmed = true;
    CHECK(sentence_of(open, {p99()}) ==
          "at least 100 messages/s at p99(message): from 118 on the machine was full");

    const auto [without, bounded] = of({.max = 119}, trial_validity::valid);
    CHECK(without == 9);
    CHECK_THAT(confirmation_text(bounded, "messages"),
               Catch::EndsWith("; 120 %, 120 messages/s, not tried: that is more than was to be "
                               "tried"));
    const auto [below, full] = of({.ceiling = 118}, trial_validity::machine_full);
    CHECK(below == 9);
    CHECK_THAT(confirmation_text(full, "messages"),
               Catch::EndsWith("120 messages/s, not tried: the machine was full from 118/s on"));
    CHECK_THAT(confirmation_text(of({.ceiling = 118}, trial_validity::generator_limited).second,
                                 "messages"),
               Catch::EndsWith("the generator was the limit from 118/s on"));
}

TEST_CASE("capacity: the time to go is told at every step, and ends at none") {
    server of;
    search one(input());
    double first = one.progress().to_go_s;
    CHECK(first > 60);
    while (one.next()) {
        const search_progress now = one.progress();
        CHECK(now.trials == one.trials().size());
        CHECK(now.to_go_s >= one.next()->duration_s);
        // It counts down within a trial, and not below what is left of that.
        const double this_s = one.next()->settle_s + one.next()->duration_s;
        CHECK(one.progress(1).to_go_s == Approx(now.to_go_s - 1));
        CHECK(one.progress(this_s / 2).to_go_s >= this_s / 2 - 1e-9);
        CHECK(one.progress(this_s).to_go_s == Approx(now.to_go_s - this_s).margin(1e-9));
        CHECK(one.progress(1e6).to_go_s == 0);
        CHECK(now.used_s + now.to_go_s <= one.input().most_s + 1e-9);
        CHECK_FALSE(one.because().empty());
        one.add(simulated::perform(of, *one.next(), {1}));
    }
    CHECK(one.progress().to_go_s == 0);
    CHECK(first == Approx(one.result().took_s).epsilon(0.6));
}
