// SPDX-License-Identifier: GPL-3.0-or-later
// How what a search has found is tried once more.
#include "capacity_searches.hpp"

using namespace postal::capacity;
using simulated::found;
using simulated::input;
using simulated::p99;
using simulated::server;

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
