// SPDX-License-Identifier: GPL-3.0-or-later
// Searches on servers whose truth is known; tests/truth has thousands of them.
#include "capacity_searches.hpp"

using namespace postal::capacity;
using simulated::check_bounded;
using simulated::found;
using simulated::input;
using simulated::p99;
using simulated::server;

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
