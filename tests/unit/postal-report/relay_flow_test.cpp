// SPDX-License-Identifier: GPL-3.0-or-later
// Curves, backlogs and transit times against tables that were computed by hand.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "postal-report/relay_flow.hpp"

using namespace postal::report;

namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t base_us = 1'790'000'000 * second;

relayed_message message(double accepted_s, double delivered_s) {
    relayed_message one;
    one.accepted_us = base_us + static_cast<std::int64_t>(accepted_s * 1e6);
    one.sent_us = *one.accepted_us - 1000;
    if (delivered_s < 0) {
        one.end = relay_end::still_owed;
        return one;
    }
    one.delivered_us = base_us + static_cast<std::int64_t>(delivered_s * 1e6);
    one.copies = 1;
    return one;
}

std::vector<double> backlogs(const relay_curve& curve) {
    std::vector<double> result;
    for (const relay_stretch& one : curve)
        result.push_back(one.backlog);
    return result;
}

}  // namespace

TEST_CASE("relay: backlog is what was accepted and not delivered") {
    relay_flow flow;
    // Accepted at 0, 0.5, 1 and 2.2 s; delivered at 1.5, 3.1, 3.2 and 5.9 s.
    // The order means nothing.
    for (const auto& [in, out] :
         {std::pair{0.0, 1.5}, std::pair{2.2, 5.9}, std::pair{1.0, 3.2}, std::pair{0.5, 3.1}})
        flow.add(message(in, out));
    const relay_curve curve = flow.curve_in(flow);
    REQUIRE(curve.size() == 6);
    CHECK(flow.bins().start_s() == base_us / second);
    CHECK(backlogs(curve) == std::vector<double>{2, 2, 3, 1, 1, 0});
    CHECK(curve[0].accepted == 2);
    CHECK(curve[3].delivered == 2);
    CHECK(curve[3].per_minute(curve[3].delivered) == 120);
    const relay_backlog found = measure_backlog(curve);
    CHECK(found.peak == 3);
    CHECK(found.peak_at_s == 3);
    // 1 + 2 + 2.5 + 2 + 1 + 0.5: trapezoids of a second
    CHECK(found.area_s == Approx(9));
    CHECK(found.left == 0);
    REQUIRE(flow.drain_s());
    CHECK(*flow.drain_s() == Approx(3.7));
    CHECK(flow.counts().accepted == 4);
    CHECK(flow.counts().delivered == 4);
    relayed_message twice = message(1, 2);
    twice.copies = 3;
    flow.add(twice);
    CHECK(flow.counts().more_than_once == 1);
    CHECK(flow.counts().extra_copies == 2);
}

TEST_CASE("relay: a domain's area ends with its own last event, whatever others do") {
    relay_flow domain;
    domain.add(message(0, 2));
    domain.add(message(0, -1));
    relay_flow all = domain;
    all.add(message(1, 100));
    const relay_backlog alone = measure_backlog(domain.curve_in(domain));
    const relay_backlog beside = measure_backlog(domain.curve_in(all));
    CHECK(alone.area_s > 0);
    CHECK(beside.area_s == Approx(alone.area_s));
    CHECK(beside.left == 1);
}

TEST_CASE("relay: what is never delivered stays in the backlog") {
    relay_flow flow;
    flow.add(message(0, 1));
    flow.add(message(0, -1));
    relayed_message open = message(0.5, -1);
    open.end = relay_end::not_known;
    flow.add(open);
    relayed_message stray = message(0.6, 1.2);
    stray.end = relay_end::elsewhere;
    stray.copies = 0;
    flow.add(stray);
    const relay_counts& counts = flow.counts();
    CHECK(counts.accepted == 4);
    CHECK(counts.delivered == 1);
    CHECK(counts.elsewhere == 1);
    CHECK(counts.still_owed == 1);
    CHECK(counts.not_known == 1);
    CHECK(counts.arrived() == 2);
    const relay_backlog found = measure_backlog(flow.curve_in(flow));
    CHECK(found.peak == 4);
    CHECK(found.left == 2);
    CHECK_FALSE(flow.drain_s());  // something is owed yet
}

TEST_CASE("relay: what comes back leaves the backlog when it does") {
    const struct {
        const char* why;
        relay_end end;
        std::uint64_t relay_counts::*count;
        std::optional<double> drain_s;
        std::vector<double> backlog;
    } rows[]{
        {"refused", relay_end::refused, &relay_counts::refused, 4.5, {2, 1, 1, 1, 0}},
        {"given up", relay_end::given_up, &relay_counts::given_up, 4.5, {2, 1, 1, 1, 0}},
        {"owed", relay_end::still_owed, &relay_counts::still_owed, {}, {2, 1}},
        {"not known", relay_end::not_known, &relay_counts::not_known, {}, {2, 1}},
        {"nobody looked", relay_end::not_looked_for, &relay_counts::not_looked_for, {}, {2, 1}},
    };
    for (const auto& row : rows) {
        INFO(row.why);
        relay_flow flow;
        flow.add(message(0, 1.5));
        relayed_message back = message(0, -1);
        back.end = row.end;
        if (row.drain_s) back.returned_us = base_us + 4'500'000;
        flow.add(back);
        CHECK(flow.counts().accepted == 2);
        CHECK(flow.counts().*row.count == 1);
        CHECK(flow.counts().arrived() + flow.counts().returned() + flow.counts().owed() == 2);
        CHECK(flow.drain_s() == row.drain_s);
        CHECK(backlogs(flow.curve_in(flow)) == row.backlog);
        CHECK(measure_backlog(flow.curve_in(flow)).left == row.backlog.back());
        CHECK(flow.transit().count() == 1);
    }
}

TEST_CASE("relay: what the relay is not known to have accepted is in no other figure") {
    relay_flow flow;
    relayed_message one = message(0, 1);
    one.accepted_us.reset();
    one.copies = 3;
    flow.add(one);
    CHECK(flow.counts().unacknowledged == 1);
    CHECK(flow.counts().accepted == 0);
    CHECK(flow.counts().more_than_once == 0);
    CHECK(flow.bins().empty());
    CHECK(flow.curve_in(flow).empty());
    CHECK(flow.transit().count() == 0);
    CHECK_FALSE(flow.drain_s());
    CHECK(measure_backlog({}).peak == 0);
}

TEST_CASE("relay: a proxy that delivers before it acknowledges has no backlog below 0") {
    relay_flow flow;
    flow.add(message(3.001, 2.999));
    const relay_curve curve = flow.curve_in(flow);
    CHECK(backlogs(curve) == std::vector<double>{0, 0});
    CHECK(*flow.drain_s() == 0);
}

TEST_CASE("relay: a domain is drawn over the time of all mail") {
    relay_flow all;
    relay_flow slow;
    for (int each = 0; each < 10; ++each)
        all.add(message(each, each + 0.5));
    const relayed_message late = message(4, 7.5);
    all.add(late);
    slow.add(late);
    const relay_curve curve = slow.curve_in(all);
    REQUIRE(curve.size() == 10);
    CHECK(backlogs(curve) == std::vector<double>{0, 0, 0, 0, 1, 1, 1, 0, 0, 0});
}

TEST_CASE("relay: long spans have longer bins, and the same counts") {
    relay_bins bins;
    constexpr std::int64_t seconds = 3 * static_cast<std::int64_t>(relay_bins::most_bins);
    for (std::int64_t each = seconds; each-- > 0;)
        bins.count_accepted(base_us + each * second);
    CHECK(bins.width_s() == 4);
    const relay_curve curve = bins.curve_in(bins);
    CHECK(curve.size() <= relay_bins::most_bins);
    double sum = 0;
    double most = 0;
    for (const relay_stretch& one : curve) {
        CHECK(one.end_s - one.start_s == 4);
        sum += one.accepted;
        most = std::max(most, one.accepted);
    }
    CHECK(sum == static_cast<double>(seconds));
    CHECK(most == 4);
    CHECK(bins.start_s() <= base_us / second);
    CHECK(bins.start_s() > base_us / second - 4);

    SECTION("and those of less time follow them") {
        relay_bins few;
        few.count_delivered(base_us + 17 * second);
        few.count_delivered(base_us + 2000 * second);
        CHECK(few.width_s() == 1);
        double delivered = 0;
        for (const relay_stretch& one : few.curve_in(bins))
            delivered += one.delivered;
        CHECK(delivered == 2);
        CHECK(few.curve_in(bins).size() == curve.size());
    }
}

TEST_CASE("relay: times that no clock has shown do no harm") {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    relay_flow flow;
    for (const std::int64_t time : {least, std::int64_t{-1}, std::int64_t{0}, base_us, most}) {
        relayed_message one;
        one.accepted_us = time;
        one.delivered_us = most;
        one.sent_us = least;
        flow.add(one);
    }
    const relay_curve curve = flow.curve_in(flow);
    CHECK(curve.size() <= relay_bins::most_bins);
    CHECK(measure_backlog(curve).left == 0);
    CHECK(flow.transit().count() == 5);
}

TEST_CASE("relay: transit times of microseconds and of days are equally exact") {
    transit_times times;
    for (int each = 1; each <= 100; ++each)
        times.record(each * 1000);
    for (int each = 1; each <= 100; ++each)
        times.record(each * 3600 * second);
    CHECK(times.count() == 200);
    CHECK(times.at_rank_us(1) == 1000);
    CHECK(times.at_rank_us(50) == Approx(50'000).epsilon(0.008));
    CHECK(times.at_rank_us(150) == Approx(50 * 3600e6).epsilon(0.008));
    CHECK(times.at_rank_us(200) == 100 * 3600e6);
    CHECK(times.mean_us() == Approx((50'500 + 50.5 * 3600e6) / 2));
    CHECK(times.before_sent() == 0);
}

TEST_CASE("relay: percentiles rank all that was accepted") {
    transit_times times;
    for (int each = 1; each <= 90; ++each)
        times.record(each * 1000);
    REQUIRE(times.quantile_us(0.5, 100));
    CHECK(*times.quantile_us(0.5, 100) == Approx(50'000).epsilon(0.008));
    CHECK(*times.quantile_us(0.9, 100) == 90'000);
    CHECK_FALSE(times.quantile_us(0.91, 100));
    CHECK(*times.quantile_us(0.99, 90) == 90'000);
    CHECK_FALSE(transit_times().quantile_us(0.5, 0));
}

TEST_CASE("relay: a transit below 0 is counted apart, beyond what two readings differ by") {
    transit_times times;
    times.record(-transit_times::clock_bound_us);
    CHECK(times.before_sent() == 0);
    times.record(-2 * second);
    times.record(-5 * second);
    times.record(7000);
    CHECK(times.before_sent() == 2);
    CHECK(times.furthest_before_us() == 5 * second);
    CHECK(times.count() == 4);
    CHECK(*times.quantile_us(0.5, 4) < 1);  // 0, as far as a histogram tells
    CHECK(*times.quantile_us(1, 4) == 7000);
}

TEST_CASE("relay: intervals of two records make one curve") {
    // 60 accepted in each of two minutes; delivered from the middle of the first minute on.
    const placed_curve placed =
        curve_of({{100, 160, 60}, {160, 220, 60}, {220, 280, 0}},
                 {{70, 130, 0}, {130, 190, 30}, {190, 250, 60}, {250, 310, 30}, {310, 370, 0}});
    CHECK(placed.began_s == 100);
    REQUIRE(placed.curve.size() == 6);
    const double ends[]{30, 60, 90, 120, 150, 210};
    const double accepted[]{30, 30, 30, 30, 0, 0};
    const double delivered[]{0, 15, 15, 30, 30, 30};
    for (std::size_t each = 0; each < 6; ++each) {
        INFO(each);
        CHECK(placed.curve[each].end_s == ends[each]);
        CHECK(placed.curve[each].accepted == Approx(accepted[each]).margin(1e-9));
        CHECK(placed.curve[each].delivered == Approx(delivered[each]).margin(1e-9));
    }
    const relay_backlog found = measure_backlog(placed.curve);
    CHECK(found.peak == Approx(60));
    CHECK(found.peak_at_s == Approx(90));
    CHECK(found.left == Approx(0).margin(1e-9));
    // 15 * 30 + 37.5 * 30 + 52.5 * 30 + 60 * 30 + 45 * 30 + 15 * 60
    CHECK(found.area_s == Approx(7200));
    REQUIRE(placed.drain_s);
    CHECK(*placed.drain_s == Approx(90));
}

TEST_CASE("relay: odd intervals make no curve that cannot be") {
    CHECK(curve_of({}, {{0, 1, 5}}).curve.empty());
    CHECK(curve_of({{0, 1, 0}}, {{0, 1, 5}}).curve.empty());
    const placed_curve alone = curve_of({{10, 20, 5}}, {});
    CHECK(alone.curve.size() == 1);
    CHECK(alone.curve.front().backlog == 5);
    CHECK_FALSE(alone.drain_s);
    // What is finished after a stop may have no length at all.
    const placed_curve moment = curve_of({{10, 20, 5}, {20, 20, 2}}, {{5, 30, 10}});
    CHECK(measure_backlog(moment.curve).peak > 0);
    double accepted = 0;
    for (const relay_stretch& one : moment.curve)
        accepted += one.accepted;
    CHECK(accepted == Approx(7));
}

TEST_CASE("relay: neighbours are put together") {
    relay_curve curve;
    for (int each = 0; each < 10; ++each) {
        curve.push_back({.start_s = 1.0 * each,
                         .end_s = 1.0 * each + 1,
                         .accepted = 2,
                         .delivered = 1,
                         .backlog = each == 4 ? 100.0 : 1.0});
    }
    CHECK(put_together(curve, 10).size() == 10);
    const relay_curve few = put_together(curve, 4);
    REQUIRE(few.size() == 4);
    CHECK(few[0].accepted == 6);
    CHECK(few[1].start_s == 3);
    CHECK(few[1].end_s == 6);
    CHECK(few[1].backlog == 100);
    CHECK(few[3].end_s == 10);
    CHECK(few[3].delivered == 1);
    CHECK(put_together({}, 4).empty());
}
