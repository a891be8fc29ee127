// SPDX-License-Identifier: GPL-3.0-or-later
// What trials show, and what they do not.
#include "stats/capacity/evidence.hpp"

#include <catch2/catch.hpp>

using namespace postal::capacity;

namespace {

goal promise(double loss_ratio = 0.01) {
    goal made;
    made.loss_ratio = loss_ratio;
    return made;
}

// 40 batches of so many; lost(i) of them, and a backlog of backlog(i) at the end.
template <class Lost, class Backlog>
trial_output trial(std::uint64_t each, Lost lost, Backlog backlog) {
    trial_output made;
    made.duration_s = 20;
    made.goals.resize(1);
    for (std::uint64_t i = 0; i < 40; ++i) {
        made.batches.push_back({each, backlog(i), {lost(i)}, {0}});
        made.goals[0].late += lost(i);
        made.goals[0].on_time += each - lost(i);
    }
    made.intended = made.goals[0].due();
    return made;
}

judgement judged(const trial_output& one, const goal& of = promise()) {
    const trial_output* const it = &one;
    return judge(of, 0, {&it, 1});
}

std::uint64_t none(std::uint64_t) {
    return 0;
}

}  // namespace

TEST_CASE("capacity: a promise that is kept takes as many messages as its percentile needs") {
    // 0.05^(1/n) > 0.99 up to n = 298.
    CHECK(judged(trial(8, none, none)).shown == loss_class::low);
    const judgement few = judged(trial(7, none, none));
    CHECK(few.shown == loss_class::not_known);
    CHECK(few.reason == loss_reason::too_few);
    CHECK(few.measured == loss_class::low);
    CHECK(reason_text(few) == "280 messages are too few");
    CHECK(reason_text(judged(trial(40, none, none), promise(0.001))) ==
          "1,600 messages are too few");
    CHECK(judged(trial(0, none, none)).measured == loss_class::not_known);
}

TEST_CASE("capacity: losses are shown by the means of batches") {
    // 0.5 % everywhere: one late message in every batch of 200.
    const auto one = [](std::uint64_t) { return std::uint64_t{1}; };
    CHECK(judged(trial(200, one, none)).shown == loss_class::low);
    // As many in a single clump say next to nothing of how often there are such clumps.
    const auto clump = [](std::uint64_t i) { return std::uint64_t{i == 20 ? 40U : 0U}; };
    const judgement rare = judged(trial(200, clump, none));
    CHECK(rare.loss_ratio == Approx(0.005));
    CHECK(rare.high == Approx(0.005 * 4.7439).epsilon(1e-3));  // Poisson's law, one event
    CHECK(rare.shown == loss_class::not_known);
    CHECK(rare.reason == loss_reason::not_sure);
    // 4 % here and there is more than 1 %, by any chance.
    const auto often = [](std::uint64_t i) { return std::uint64_t{4 + i % 9}; };
    const judgement bad = judged(trial(200, often, none));
    CHECK(bad.shown == loss_class::high);
    CHECK(bad.reason == loss_reason::late);
}

TEST_CASE("capacity: a few losses among few messages are no high loss yet") {
    const auto two = [](std::uint64_t i) { return std::uint64_t{i < 2 ? 1U : 0U}; };
    const judgement said = judged(trial(3, two, none));
    CHECK(said.loss_ratio > 0.016);
    CHECK(said.measured == loss_class::low);
    CHECK(said.shown == loss_class::not_known);
}

TEST_CASE("capacity: a backlog that grows steadily is bad, though nothing is late") {
    const judgement grows = judged(trial(200, none, [](std::uint64_t i) { return 2 * i; }));
    CHECK(grows.shown == loss_class::high);
    CHECK(grows.measured == loss_class::high);
    CHECK(grows.reason == loss_reason::backlog);
    CHECK(reason_text(grows) == "the backlog grew by 0.975 % of what was due");
    SECTION("1 in 1,000 is tolerated") {
        const auto slowly = [](std::uint64_t i) { return i / 5; };
        CHECK(judged(trial(200, none, slowly)).shown == loss_class::low);
    }
    SECTION("one pause at the end is not known") {
        const auto late = [](std::uint64_t i) { return std::uint64_t{i < 38 ? 2U : 80U}; };
        const judgement said = judged(trial(200, none, late));
        CHECK(said.shown == loss_class::not_known);
        CHECK(said.measured == loss_class::low);
        CHECK_THAT(reason_text(said), Catch::Contains("perhaps by chance"));
    }
    SECTION("one that was there at the start is none of this trial's") {
        auto level = trial(200, none, [](std::uint64_t) { return std::uint64_t{300}; });
        level.backlog_start = 300;
        CHECK(judged(level).shown == loss_class::low);
    }
}

TEST_CASE("capacity: kept is what lost no more than allowed, with no backlog that grows") {
    const std::vector<goal> goals{promise()};
    const auto of = [](std::uint64_t lost) { return [lost](std::uint64_t) { return lost; }; };
    CHECK(kept_all(goals, trial(200, of(0), none)));
    CHECK(kept_all(goals, trial(200, of(2), none)));  // 1 %, which is as much as it may be
    CHECK_FALSE(kept_all(goals, trial(200, of(3), none)));
    // Nothing is late yet, on a machine that may be full.
    CHECK_FALSE(kept_all(goals, trial(200, none, [](std::uint64_t i) { return 2 * i; })));
    // One pause is no growth, and does not take away what was kept.
    CHECK(kept_all(goals, trial(200, none, [](std::uint64_t i) { return i < 38 ? 2U : 80U; })));
}

TEST_CASE("capacity: a goal is judged by what its own program had to do") {
    const auto grows = [](std::uint64_t batch) { return 4 * batch; };
    const auto level = [](std::uint64_t) { return std::uint64_t{3}; };
    trial_output both = trial(200, none, level);
    both.backlog_start = 3;
    both.beside.push_back(trial(200, none, grows));
    goal beside = promise();
    beside.flow = 1;
    CHECK(judged(both).shown == loss_class::low);
    CHECK(judged(both, beside).shown == loss_class::high);
    CHECK(judged(both, beside).reason == loss_reason::backlog);
}

TEST_CASE("capacity: what pauses leave behind is to be gone before as many come as may") {
    // Each leaves 80, of which so many go in a batch; in the end nothing is left.
    const auto pauses = [](std::uint64_t every, std::uint64_t gone) {
        return judged(trial(200, none, [=](std::uint64_t i) {
            const std::uint64_t since = i % every;
            return since < 2 ? 0 : 80 - std::min<std::uint64_t>(80, gone * (since - 2));
        }));
    };
    CHECK(pauses(20, 40).shown == loss_class::low);  // most of the time there is nothing to do
    const judgement busy = pauses(20, 5);            // two, of which each takes 8 s of the 20
    CHECK(busy.loss_ratio == 0);
    CHECK(busy.growth == 0);
    CHECK(busy.shown == loss_class::not_known);
    CHECK(busy.measured == loss_class::low);
    CHECK_THAT(reason_text(busy), Catch::Contains("may come too often"));
    // One message more or less, as often as it likes, is no pause.
    CHECK(judged(trial(200, none, [](std::uint64_t i) { return i % 2; })).shown == loss_class::low);
}

TEST_CASE("capacity: one more under way is no backlog that grows, where few were due") {
    const auto one_more = [](std::uint64_t batch) { return std::uint64_t{batch < 20 ? 0U : 1U}; };
    const auto two_more = [](std::uint64_t batch) { return std::uint64_t{batch < 20 ? 0U : 2U}; };
    CHECK(judged(trial(10, none, one_more)).shown == loss_class::low);
    CHECK(judged(trial(10, none, two_more)).shown == loss_class::not_known);
}

TEST_CASE("capacity: what was intended and not offered is lost, and so is what never ended") {
    auto less = trial(
        200, [](std::uint64_t) { return std::uint64_t{6}; }, none);  // 97 % were offered
    less.goals[0] = {.on_time = 7760, .not_started = 240};
    const judgement said = judged(less);
    CHECK(said.loss_ratio == Approx(0.03));
    CHECK(said.shown == loss_class::high);
    CHECK(said.reason == loss_reason::not_started);
    CHECK(reason_text(said) ==
          "3.00 % lost, most of them not offered: no session could begin them");
    less.goals[0] = {.on_time = 7760, .not_finished = 240};
    CHECK(judged(less).loss_ratio == Approx(0.03));
    CHECK(judged(less).reason == loss_reason::not_finished);
    CHECK(reason_text(judged(less)) == "3.00 % lost, most of them not finished in time");
}

TEST_CASE("capacity: most of the losses give the reason") {
    auto bad = trial(
        200, [](std::uint64_t) { return std::uint64_t{10}; }, none);
    bad.goals[0] = {.on_time = 7600, .late = 100, .errors = 200, .not_started = 100};
    CHECK(judged(bad).reason == loss_reason::errors);
    bad.goals[0] = {.on_time = 7600, .late = 100, .errors = 50, .not_started = 250};
    CHECK(judged(bad).reason == loss_reason::not_started);
}

TEST_CASE("capacity: where many came near the limit, none beyond it may be luck") {
    const auto near = [](auto number) {
        auto made = trial(200, none, none);
        for (std::size_t i = 0; i < 40; ++i)
            made.batches[i].near[0] = number(i);
        return judged(made).shown;
    };
    // 15 %, all of them in six of 40 batches: twice in a row that is 2.25 %.
    CHECK(near([](std::size_t i) { return i % 20 < 3 ? 200U : 0U; }) == loss_class::not_known);
    CHECK(near([](std::size_t i) { return i % 20 < 3 ? 20U : 0U; }) == loss_class::low);
    // As many, and all of them everywhere, are how long this server takes.
    CHECK(near([](std::size_t i) { return i % 2 == 0 ? 25U : 35U; }) == loss_class::low);
    CHECK(near([](std::size_t) { return 200U; }) == loss_class::low);
}

TEST_CASE("capacity: with a loss ratio of 0 what was measured decides") {
    CHECK(judged(trial(2, none, none), promise(0)).shown == loss_class::low);
    const auto one = [](std::uint64_t i) { return std::uint64_t{i == 3 ? 1U : 0U}; };
    CHECK(judged(trial(200, one, none), promise(0)).shown == loss_class::high);
    CHECK(judged(trial(200, one, none), promise(0)).measured == loss_class::high);
}

TEST_CASE("capacity: trials that are judged together are one longer trial") {
    const auto clump = [](std::uint64_t i) { return std::uint64_t{i % 20 == 7 ? 10U : 0U}; };
    const trial_output one = trial(100, clump, none);  // 0.5 %, in two clumps
    CHECK(judged(one).shown == loss_class::not_known);
    const std::vector<const trial_output*> many(8, &one);
    CHECK(judge(promise(), 0, many).shown == loss_class::low);
    CHECK(judge(promise(), 0, many).loss_ratio == judged(one).loss_ratio);
}
