// SPDX-License-Identifier: GPL-3.0-or-later
// What is a goal, what each set of goals has, and which targets come before it.
#include "stats/capacity/goal.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace postal::capacity;

namespace {

const std::vector<std::string> phases{"connect", "message"};

}  // namespace

TEST_CASE("capacity: a promise is a threshold that allows a share of the messages to be lost") {
    struct row {
        const char* promise;
        double loss_ratio;
        const char* metric;
    };
    const row of = GENERATE(row{"p99(message)<1s", 0.01, "p99(message)"},
                            row{" p99.9(message) <= 500ms", 0.001, "p99.9(message)"},
                            row{"p100(message)<1s", 0, "p100(message)"},
                            row{"max(message)<1s", 0, "max(message)"},
                            row{"errors<0.1%", 0.001, "errors"}, row{"errors<=0%", 0, "errors"});
    CAPTURE(of.promise);
    const auto made = parse_goal(of.promise, goal_set::standard, {phases, 1});
    REQUIRE(made.has_value());
    CHECK(made->of.loss_ratio == of.loss_ratio);
    CHECK(made->lost.share == of.loss_ratio);
    CHECK(made->of.metric == of.metric);
    CHECK(made->lost.phase.has_value() == (made->lost.of == nullptr));
    if (made->lost.phase) {
        CHECK(*made->lost.phase == 1);
        CHECK(made->lost.within.count() >= 500'000'000);
    }
}

TEST_CASE("capacity: a goal may have attributes of its own, and the set has the others") {
    const auto made =
        parse_goal("p99(message)<1s; final=60s, sum=3m,exceed=0,width=0.5%,initial=4s",
                   goal_set::quick, {phases, 1});
    REQUIRE(made.has_value());
    CHECK(made->of.final_trial_s == 60);
    CHECK(made->of.duration_sum_s == 180);
    CHECK(made->of.exceed_ratio == 0);
    CHECK(made->of.width == Approx(0.005));
    CHECK(made->own_width);
    CHECK(made->of.initial_trial_s == 4);
    CHECK(made->of.loss_ratio == 0.01);
    CHECK(made->of.metric == "p99(message)");
    CHECK(made->of.promise == "p99(message)<1s");
    CHECK(made->own == "final=60s, sum=3m,exceed=0,width=0.5%,initial=4s");
    const auto some = parse_goal("errors<0.1%;final=30s", goal_set::standard, {phases, 1});
    REQUIRE(some.has_value());
    CHECK(some->of.final_trial_s == 30);
    CHECK(some->of.duration_sum_s == 60);
    CHECK(some->of.width == 0.02);
    CHECK_FALSE(some->own_width);
    CHECK(some->of.metric == "errors");
}

TEST_CASE(
    "capacity: attributes that are none, or do not fit, are refused with what would be right") {
    struct row {
        const char* attributes;
        const char* reason;
    };
    const row of = GENERATE(
        row{"", "\"\" is no attribute of a goal; give initial=2s, final=20s,"},
        row{"final", "\"final\" is no attribute of a goal"},
        row{"last=20s", "\"last=20s\" is no attribute of a goal"},
        row{"loss=1%", "\"loss=1%\" is no attribute of a goal"},
        row{"final=20s;sum=60s", "final: \"20s;sum=60s\" is no duration for it; give 500ms to 1h"},
        row{"final=20", "final: \"20\" is no duration for it; give 500ms to 1h"},
        row{"final=499ms", "final: \"499ms\" is no duration for it; give 500ms to 1h"},
        row{"final=61m", "final: \"61m\" is no duration for it; give 500ms to 1h"},
        row{"initial=0s", "initial: \"0s\" is no duration for it; give 500ms to 1h"},
        row{"sum=25h", "sum: \"25h\" is no duration for it; give 500ms to 24h"},
        row{"exceed=1", "exceed: \"1\" is no such ratio; give 0 to 0.99"},
        row{"exceed=-1", "exceed: \"-1\" is no such ratio; give 0 to 0.99"},
        row{"exceed=nan", "exceed: \"nan\" is no such ratio; give 0 to 0.99"},
        row{"width=0.01%", "width: \"0.01%\" is no width; give 0.1 % to 100 %"},
        row{"width=2", "width: \"2\" is no width; give 0.1 % to 100 %"},
        row{"final=9s,final=9s", "final: is there twice; give it once"},
        row{"initial=30s",
            "initial: trials of 30s are longer than the final ones, of 20s; give "
            "initial=20s or less"},
        row{"final=2m", "sum: 1m are too few for one final trial of 2m; give sum=2m or more"},
        row{"sum=10s", "sum: 10s are too few for one final trial of 20s; give sum=20s or more"});
    CAPTURE(of.attributes);
    const auto made = parse_goal(std::string("p99(message)<1s;") + of.attributes,
                                 goal_set::standard, {phases, 1});
    REQUIRE_FALSE(made.has_value());
    CHECK_THAT(made.error().message,
               Catch::StartsWith(std::string("p99(message)<1s: ") + of.reason));
    CHECK(made.error().message.find('\n') == std::string::npos);
}

TEST_CASE("capacity: what says nothing about single messages is no goal") {
    struct row {
        const char* promise;
        goal_set set;
        const char* reason;
    };
    const row of = GENERATE(
        row{"mean(message)<1s", goal_set::standard, "which share of the messages"},
        row{"p99(message)>1s", goal_set::standard, "which share of the messages"},
        row{"p99(message)!=1s", goal_set::standard, "which share of the messages"},
        row{"min(message)<1s", goal_set::standard, "which share of the messages"},
        row{"rate>100/s", goal_set::standard, "which share of the messages"},
        row{"errors<10", goal_set::standard, "which share of the messages"},
        row{"errors>1%", goal_set::standard, "which share of the messages"},
        row{"p99(message)<1s;abort", goal_set::standard, "which share of the messages"},
        row{"errors<5", goal_set::standard, "such as p99(message)<1s or errors<0.1%"},
        row{"errors<0%", goal_set::standard, "can never hold, for nothing is less than 0; "},
        row{"p99(message)<0s", goal_set::standard, "can never hold, for everything"},
        row{"p99(message)<=0s", goal_set::rfc2544, "can never hold, for everything"},
        row{"errors<100%", goal_set::standard, "every rate would do"},
        row{"p99(massage)<1s", goal_set::standard, "no phase 'massage'"},
        row{"p99(message)<1s", goal_set::rfc2544, "allow no loss"});
    CAPTURE(of.promise);
    const auto made = parse_goal(of.promise, of.set, {phases, 1});
    REQUIRE_FALSE(made.has_value());
    CHECK_THAT(made.error().message, Catch::Contains(of.reason));
    CHECK(made.error().message.find('\n') == std::string::npos);
}

TEST_CASE("capacity: the goals of RFC 2544 are those of RFC 9971") {
    const auto made = parse_goal("errors<=0%", goal_set::rfc2544, {phases, 1});
    REQUIRE(made.has_value());
    CHECK(made->of.final_trial_s == 60);
    CHECK(made->of.duration_sum_s == 60);
    CHECK(made->of.exceed_ratio == 0);
    CHECK(made->of.loss_ratio == 0);
}

TEST_CASE("capacity: a percentile needs so many messages") {
    CHECK(fewest_messages(0.01) == 299);
    CHECK(fewest_messages(0.001) == 2995);
    CHECK(fewest_messages(0) == 1);
}

TEST_CASE("capacity: targets become longer and closer, the last is the goal") {
    for (const goal_set set : {goal_set::quick, goal_set::standard, goal_set::rfc2544}) {
        const goal of = defaults_of(set);
        const auto targets = targets_of(of);
        CHECK(targets.front().trial_s == of.initial_trial_s);
        for (std::size_t i = 1; i < targets.size(); ++i) {
            CHECK(targets[i].trial_s > targets[i - 1].trial_s);
            CHECK(targets[i].width == Approx(targets[i - 1].width / 2));
            CHECK(targets[i].final == (i + 1 == targets.size()));
        }
        CHECK(targets.back().trial_s == of.final_trial_s);
        CHECK(targets.back().duration_sum_s == of.duration_sum_s);
        CHECK(targets.back().width == Approx(of.width));
    }
}

TEST_CASE("capacity: where messages are few, trials are longer") {
    const target last = targets_of(defaults_of(goal_set::standard)).back();
    CHECK(last.trial_s_at(400) == 20);
    CHECK(last.duration_sum_s_at(400) == 60);
    CHECK(last.trial_s_at(5) == Approx(59.8));
    CHECK(last.duration_sum_s_at(5) == Approx(119.6));
    goal exact = defaults_of(goal_set::rfc2544);
    exact.loss_ratio = 0.01;
    CHECK(targets_of(exact).back().duration_sum_s_at(1) == Approx(299));
}

TEST_CASE("capacity: a trial counts for a goal what that is about") {
    const auto counted = [](const char* promise) {
        const auto goal = parse_goal(promise, goal_set::standard, {phases, 1});
        REQUIRE(goal.has_value());
        return counted_as(goal->lost, {phases, 1});
    };
    const auto late = counted("p99(message)<1s");
    REQUIRE(late.has_value());
    CHECK(late->within == std::chrono::seconds(1));
    CHECK(late->lost_ends == stats::all_but_accepted);
    const auto deferred = counted("deferred<1%");
    REQUIRE(deferred.has_value());
    CHECK_FALSE(deferred->within);
    CHECK(deferred->loses(stats::trial_end::deferred));
    CHECK_FALSE(deferred->loses(stats::trial_end::failed));
    CHECK(counted("p99(connect)<1s").error().message ==
          "a goal is about all that was due, and so about the phase message, not connect");
    CHECK(counted("corrupt<1%")
              .error()
              .message.starts_with(
                  "'corrupt' is not counted message by message; a goal may be about errors, "));
}
