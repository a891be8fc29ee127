// SPDX-License-Identifier: GPL-3.0-or-later
#include "cluster/merger.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "stats/run_report.hpp"

using namespace std::chrono_literals;
using namespace postal;
using cluster::slice_merger;
using std::chrono::nanoseconds;

namespace {

constexpr std::size_t phases = 2;

double seconds(nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

load::timetable timetable(nanoseconds first_interval, nanoseconds interval, nanoseconds warmup = 0s,
                          nanoseconds duration = 0s) {
    load::timetable made;
    made.first_interval = first_interval;
    made.interval = interval;
    made.warmup = warmup;
    made.duration = duration;
    return made;
}

stats::time_slice part(nanoseconds start, nanoseconds end, std::uint64_t messages,
                       bool draining = false) {
    stats::time_slice made(phases);
    made.start_s = seconds(start);
    made.end_s = seconds(end);
    made.draining = draining;
    made.workers.resize(1);
    made.workers[0].busy = nanoseconds(static_cast<std::int64_t>(messages));
    made.counts.started = made.counts.messages = messages;
    for (std::uint64_t i = 0; i < messages; ++i)
        made.counts.latency[1].record(1us * (i * i + 1));
    return made;
}

// One rank's way: cut where the timetable cuts, stopped then, and drained until that time.
std::vector<stats::time_slice> way(const load::timetable& times, nanoseconds stopped,
                                   nanoseconds drained, std::mt19937_64& random) {
    std::uniform_int_distribution<std::uint64_t> messages(0, 20);
    std::vector<stats::time_slice> made;
    nanoseconds at{0};
    while (at < stopped) {
        const nanoseconds end = std::min(times.next_cut(at), stopped);
        made.push_back(part(at, end, messages(random)));
        made.back().in_warmup = end <= times.warmup;
        at = end;
    }
    while (at < drained) {
        const nanoseconds end = std::min(times.next_cut(at), drained);
        made.push_back(part(at, end, messages(random), true));
        at = end;
    }
    return made;
}

std::vector<stats::time_slice> take_all(slice_merger& from) {
    std::vector<stats::time_slice> taken;
    while (auto one = from.take())
        taken.push_back(std::move(*one));
    return taken;
}

void append(std::vector<stats::time_slice>& to, std::vector<stats::time_slice> more) {
    for (auto& one : more)
        to.push_back(std::move(one));
}

// Time goes on without gaps, and what drains stands behind what does not.
void check_order(const std::vector<stats::time_slice>& merged) {
    double at = 0, interval_start = 0;
    bool draining = false;
    for (const auto& one : merged) {
        CHECK(one.start_s == at);
        CHECK(one.end_s >= one.start_s);
        CHECK((one.draining || !draining));
        draining = one.draining;
        at = one.end_s;
        if (!one.closes_interval) continue;
        CHECK(one.end_s > interval_start);
        interval_start = one.end_s;
    }
    if (!merged.empty()) CHECK(merged.back().closes_interval);
}

stats::run_report report_of(const load::timetable& times,
                            const std::vector<stats::time_slice>& merged) {
    stats::run_description run;
    run.program = "postal";
    run.phases = {"connect", "message"};
    run.message_phase = 1;
    run.interval = times.interval;
    run.warmup = times.warmup;
    stats::run_report report(run);
    for (const auto& one : merged)
        report.add_time_slice(one);
    return report;
}

std::uint64_t messages_of(const std::vector<stats::time_slice>& merged) {
    std::uint64_t sum = 0;
    for (const auto& one : merged)
        sum += one.counts.messages;
    return sum;
}

}  // namespace

TEST_CASE("ranks that cut alike are one time slice for each cut") {
    for (const std::size_t ranks : {1U, 2U, 4U, 8U}) {
        slice_merger merger(timetable(10s, 10s), phases, std::vector<std::size_t>(ranks, 1));
        for (unsigned rank = 0; rank < ranks; ++rank) {
            CHECK_FALSE(merger.take());
            CHECK(merger.add(rank, part(0s, 10s, rank + 1)));
        }
        const auto first = merger.take();
        REQUIRE(first);
        CHECK(first->ranks == ranks);
        CHECK(first->counts.messages == ranks * (ranks + 1) / 2);
        CHECK(first->closes_interval);
        CHECK_FALSE(first->partial);
        CHECK(first->end_s == 10);
        REQUIRE(first->workers.size() == ranks);
        for (unsigned rank = 0; rank < ranks; ++rank)
            CHECK(first->workers[rank].busy == nanoseconds(rank + 1));
        CHECK_FALSE(merger.take());
    }
}

TEST_CASE("what does not fit is not taken") {
    slice_merger merger(timetable(10s, 10s), phases, {1, 1});
    CHECK_FALSE(merger.add(2, part(0s, 10s, 1)));
    CHECK_FALSE(merger.add(0, stats::time_slice(phases + 1)));
    merger.end(1);
    CHECK_FALSE(merger.add(1, part(0s, 10s, 1)));
    merger.end(7);
    // More workers than it said are not others'.
    auto crowd = part(0s, 10s, 1);
    crowd.workers.resize(50);
    CHECK(merger.add(0, crowd));
    const auto taken = merger.take();
    REQUIRE(taken);
    CHECK(taken->workers.size() == 2);
}

TEST_CASE("the time of connections is added up over ranks") {
    const auto open_part = [](nanoseconds start, nanoseconds end, double connected_s) {
        auto made = part(start, end, 1);
        made.workers[0].connected_s = connected_s;
        return made;
    };
    slice_merger merger(timetable(10s, 10s), phases, {1, 1});
    merger.add(0, open_part(0s, 4s, 7));
    merger.add(0, open_part(4s, 10s, 3));
    merger.add(1, open_part(0s, 10s, 5));
    const auto both = merger.take();
    REQUIRE(both);
    CHECK(stats::sums_of(both->workers).connected_s == 15);
    merger.end(1);
    merger.add(0, open_part(10s, 20s, 4));
    const auto one = merger.take();
    REQUIRE(one);
    CHECK(stats::sums_of(one->workers).connected_s == 4);
}

TEST_CASE("who has counted least far is the slowest") {
    slice_merger merger(timetable(10s, 10s), phases, {1, 1, 1});
    merger.add(0, part(0s, 10s, 1));
    merger.add(2, part(0s, 10s, 1));
    REQUIRE(merger.slowest());
    CHECK(merger.slowest()->rank == 1);
    CHECK(merger.slowest()->until == 0s);
    merger.end(1);
    CHECK(merger.slowest()->until == 10s);
    merger.end(0);
    merger.end(2);
    CHECK_FALSE(merger.slowest());
}

TEST_CASE("a lost rank holds nobody up, and what it had counted stays") {
    const auto times = timetable(10s, 10s);
    slice_merger merger(times, phases, {1, 1});
    merger.add(0, part(0s, 10s, 1));
    merger.add(0, part(10s, 20s, 2));
    merger.add(1, part(0s, 10s, 4));
    auto merged = take_all(merger);
    CHECK(merged.size() == 1);
    merger.end(1);
    append(merged, take_all(merger));
    REQUIRE(merged.size() == 2);
    CHECK(merged[1].ranks == 1);
    merger.end(0);
    append(merged, take_all(merger));
    check_order(merged);
    CHECK(messages_of(merged) == 7);
}

TEST_CASE("ranks that stop some ms apart close one interval, also on two sides of a cut") {
    for (const nanoseconds cut_less_stop : {5s, 0s}) {
        const nanoseconds stop = 20s - cut_less_stop;
        slice_merger merger(timetable(10s, 10s), phases, {1, 1});
        for (unsigned rank = 0; rank < 2; ++rank) {
            const nanoseconds stopped = stop + (rank == 0 ? -3ms : 4ms);
            merger.add(rank, part(0s, 10s, 1));
            merger.add(rank, part(10s, std::min(stopped, nanoseconds(20s)), 2));
            if (stopped > 20s) merger.add(rank, part(20s, stopped, 4));
            if (stopped < 20s && stop + 1s > 20s) merger.add(rank, part(stopped, 20s, 3, true));
            merger.add(rank, part(std::max(stopped, stop + 3ms), stop + 1s, 8, true));
        }
        auto merged = take_all(merger);
        merger.end(0);
        merger.end(1);
        append(merged, take_all(merger));
        check_order(merged);
        CHECK(messages_of(merged) == (cut_less_stop == 0s ? 29 : 22));
        CHECK(merged.back().draining);
        CHECK(merged.back().counts.messages == 16);
        CHECK(merged.back().end_s == Approx(seconds(stop + 1s)));
    }
}

TEST_CASE("a warm-up that ends within an interval cuts it in two") {
    const auto times = timetable(10s, 10s, 13s);
    slice_merger merger(times, phases, {1, 1});
    std::mt19937_64 random(1);
    std::vector<stats::time_slice> merged;
    for (unsigned rank = 0; rank < 2; ++rank)
        for (auto& one : way(times, 30s, 30s, random))
            merger.add(rank, one);
    append(merged, take_all(merger));
    merger.end(0);
    merger.end(1);
    append(merged, take_all(merger));
    check_order(merged);
    REQUIRE(merged.size() == 4);
    CHECK(merged[1].end_s == 13);
    CHECK(merged[1].in_warmup);
    CHECK_FALSE(merged[1].closes_interval);
    CHECK_FALSE(merged[2].in_warmup);
    CHECK(merged[2].closes_interval);
    CHECK_FALSE(merged[2].partial);
}

TEST_CASE("a rank that counts twice in one time slice is one rank") {
    const auto times = timetable(10s, 10s);
    slice_merger merger(times, phases, {1, 1, 1});
    merger.add(0, part(0s, 4s, 1));
    merger.add(0, part(4s, 10s, 2));
    merger.add(1, part(0s, 10s, 4));
    merger.end(2);
    const auto first = merger.take();
    REQUIRE(first);
    CHECK(first->ranks == 2);
    // Who drained while another went on is in its last time slice, and once.
    merger.add(0, part(10s, 11s, 8));
    merger.add(0, part(11s, 12s, 16, true));
    merger.add(1, part(10s, 13s, 32));
    merger.end(0);
    merger.end(1);
    const auto last = merger.take();
    REQUIRE(last);
    CHECK(last->ranks == 2);
    CHECK(last->counts.messages == 56);
    CHECK_FALSE(merger.take());
}

TEST_CASE("a first interval that ends with the minute is partial") {
    const auto times = timetable(7s, 60s);
    slice_merger merger(times, phases, {1, 1});
    for (unsigned rank = 0; rank < 2; ++rank) {
        merger.add(rank, part(0s, 7s, 1));
        merger.add(rank, part(7s, 67s, 1));
    }
    const auto merged = take_all(merger);
    REQUIRE(merged.size() == 2);
    check_order(merged);
    CHECK(merged[0].partial);
    CHECK_FALSE(merged[1].partial);
    CHECK(merged[1].end_s == 67);
}

TEST_CASE("an interval that goes on when the last rank is lost is closed") {
    const auto times = timetable(10s, 10s, 13s);
    slice_merger merger(times, phases, {1});
    merger.add(0, part(0s, 10s, 1));
    merger.add(0, part(10s, 13s, 2));
    auto merged = take_all(merger);
    REQUIRE(merged.size() == 2);
    merger.end(0);
    append(merged, take_all(merger));
    check_order(merged);
    CHECK(messages_of(merged) == 3);
    CHECK(merged.back().in_warmup);
    const auto report = report_of(times, merged);
    REQUIRE(report.intervals().size() == 2);
    CHECK(report.intervals()[1].ranks == 1);
}

TEST_CASE("who drained before the others stopped leaves no interval of no length") {
    slice_merger merger(timetable(10s, 10s), phases, {1, 1});
    merger.add(0, part(0s, 3s, 1));
    merger.add(0, part(3s, 4s, 2, true));
    merger.add(1, part(0s, 7s, 4));
    merger.end(1);
    auto merged = take_all(merger);
    CHECK(merged.empty());  // the first may still count
    merger.end(0);
    append(merged, take_all(merger));
    check_order(merged);
    REQUIRE(merged.size() == 1);
    CHECK(merged[0].counts.messages == 7);
    CHECK(merged[0].ranks == 2);
    CHECK(merged[0].end_s == 7);
}

TEST_CASE("random ways: nothing is lost, nothing is counted twice, time goes on") {
    const std::vector<load::timetable> tables{
        timetable(10s, 10s),       timetable(7s, 60s),           timetable(10s, 10s, 13s),
        timetable(10s, 10s, 20s),  timetable(10s, 10s, 0s, 35s), timetable(3s, 10s, 35s, 40s),
        timetable(10s, 10s, 100s),
    };
    for (unsigned seed = 0; seed < 300; ++seed) {
        INFO("seed " << seed);
        std::mt19937_64 random(seed);
        const auto upto = [&](std::int64_t most) {
            return std::uniform_int_distribution<std::int64_t>(0, most)(random);
        };
        const load::timetable& times = tables[seed % tables.size()];
        const std::size_t ranks = std::size_t{1} << static_cast<unsigned>(upto(3));
        slice_merger merger(times, phases, std::vector<std::size_t>(ranks, 1));
        stats::tally all(phases);
        std::vector<std::vector<stats::time_slice>> ways;
        nanoseconds stop = 1ms * upto(60'000) + 1ms;
        if (upto(2) == 0) stop = 10s * (1 + upto(5)) + times.first_interval - times.interval;
        if (times.duration > 0s) stop = std::min(stop, times.duration);
        stop = std::max(stop, nanoseconds(20ms));
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            nanoseconds stopped = stop + 1us * (upto(20'000) - 10'000);
            if (times.duration > 0s) stopped = std::min(stopped, times.duration);
            if (upto(5) == 0) stopped = stopped * upto(1000) / 1000 + 1ms;  // it ends early
            ways.push_back(way(times, stopped, stopped + 1ms * upto(3'000) * upto(1), random));
        }
        std::vector<std::size_t> next(ranks, 0);
        std::vector<stats::time_slice> merged;
        std::size_t left = ranks;
        while (left > 0) {
            const auto rank = static_cast<unsigned>(upto(static_cast<std::int64_t>(ranks) - 1));
            if (next[rank] > ways[rank].size()) continue;
            const bool lost = upto(200) == 0;
            if (next[rank] == ways[rank].size() || lost) {
                merger.end(rank);
                next[rank] = ways[rank].size() + 1;
                --left;
            } else {
                const auto& one = ways[rank][next[rank]++];
                all.merge(one.counts);
                REQUIRE(merger.add(rank, one));
            }
            append(merged, take_all(merger));
        }
        CHECK_FALSE(merger.take());
        check_order(merged);
        const auto report = report_of(times, merged);
        const stats::tally& total = report.totals_with_warmup();
        CHECK(total.messages == all.messages);
        CHECK(total.started == all.started);
        CHECK(total.latency[1].encode() == all.latency[1].encode());
        CHECK(total.latency[1].mean_us() == all.latency[1].mean_us());
        CHECK(total.latency[1].max() == all.latency[1].max());
        std::uint64_t in_intervals = 0;
        for (const auto& row : report.intervals())
            in_intervals += row.messages;
        CHECK(in_intervals == all.messages);
    }
}
