// SPDX-License-Identifier: GPL-3.0-or-later
// What was due in a trial is counted where it was due, whenever it ends, and once.
#include "stats/trial_counts.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace std::chrono_literals;
using stats::trial_counts;
using stats::trial_end;

namespace {

// 1 s of settling, four batches of a second; late after 100 ms, and whether anything was refused.
const stats::trial_times times{
    .number = 1, .begin = 10s, .measured = 11s, .batch = 1s, .batches = 4};
const std::vector<stats::trial_promise> promises{{100ms, stats::all_but_accepted}, {{}, 0b10}};
const std::chrono::steady_clock::time_point start{100h};

trial_counts begun(stats::trial_times of = times) {
    trial_counts made;
    made.begin(of, promises, start);
    return made;
}

}  // namespace

TEST_CASE("trial counts: without a trial nothing is counted") {
    trial_counts none;
    none.ended(start + 11s, start + 12s, trial_end::accepted);
    CHECK(none.number() == 0);
    CHECK(none.stretches().empty());
}

TEST_CASE("trial counts: a message belongs to the stretch that it was due in") {
    trial_counts seen = begun();
    const auto ends = [&](std::chrono::nanoseconds due, std::chrono::nanoseconds took,
                          trial_end how = trial_end::accepted) {
        seen.ended(start + due, start + due + took, how);
    };
    ends(10s, 1ms);              // settling
    ends(11s, 100ms);            // as long as it may take: near
    ends(11900ms, 100ms + 1ns);  // late, and ended in the next batch
    ends(14999ms, 20s);          // late, and ended behind all
    ends(12s, 1ms, trial_end::rejected);
    ends(12s, 1ms, trial_end::deferred);
    ends(13s, 1ms, trial_end::not_started);
    ends(9999ms, 1500ms);  // an earlier trial's
    ends(15s, 1ms);        // a later one's
    const auto& all = seen.stretches();
    REQUIRE(all.size() == 6);
    const std::uint64_t finished[] = {1, 2, 2, 1, 1, 0};
    const std::uint64_t ended[] = {1, 1, 3, 1, 0, 1};
    for (std::size_t i = 0; i < all.size(); ++i) {
        CAPTURE(i);
        CHECK(all[i].finished == finished[i]);
        CHECK(all[i].ended == ended[i]);
    }
    CHECK(all[1].lost[0].late == 1);
    CHECK(all[1].lost[0].near == 1);
    CHECK(all[4].lost[0].late == 1);
    CHECK(all[2].lost[0].errors == 2);
    CHECK(all[2].lost[1].errors == 1);  // only what was rejected
    CHECK(all[3].lost[0].not_started == 1);
    CHECK(all[3].lost[1].not_started == 1);  // of which nobody knows how it would have ended
}

TEST_CASE("trial counts: workers' are added, an earlier trial's are not") {
    trial_counts one = begun(), another = begun();
    one.ended(start + 11s, start + 11s, trial_end::accepted);
    another.ended(start + 11s, start + 12s, trial_end::accepted);
    one.merge(another);
    CHECK(one.stretches()[1].finished == 2);
    CHECK(one.stretches()[1].lost[0].late == 1);

    stats::trial_times next = times;
    next.number = 2;
    trial_counts later = begun(next);
    later.merge(one);
    CHECK(later.stretches()[1].finished == 0);
    later.ended(start + 12s, start + 12s, trial_end::accepted);
    one.merge(later);
    CHECK(one.number() == 2);
    CHECK(one.stretches()[1].finished == 0);
    CHECK(one.stretches()[2].finished == 1);

    one.clear();
    CHECK(one.number() == 2);
    CHECK(one.stretches()[2].finished == 0);
}
