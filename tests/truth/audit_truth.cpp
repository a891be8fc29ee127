// SPDX-License-Identifier: GPL-3.0-or-later
// The bound that an audit prints for the share of cuts that lose mail: simulated audits, whole and
// interrupted ones, in which every cut of a run has its fate.
#include "audit/findings.hpp"
#include "postal-audit/draws.hpp"

#include "support.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

using namespace postal;
using namespace postal::audit;
using truth::tally;

namespace {

constexpr std::size_t entries = 4000;    // of the log
constexpr std::size_t first_mail = 200;  // before it nothing was acknowledged
constexpr std::size_t cuts = 60;
constexpr std::uint64_t draws = 3;

struct fate {
    const char* name;
    std::function<bool(std::size_t)> harms;  // a cut, at its last draw
};

const std::vector<fate> fates{
    {"the second half", [](std::size_t cut) { return cut >= entries / 2; }},
    {"the first third", [](std::size_t cut) { return cut < entries / 3; }},
    {"here and there", [](std::size_t cut) { return cut % 50 == 7; }},
    {"always", [](std::size_t) { return true; }},
};

double share_of(const fate& of) {
    std::size_t harmed = 0;
    for (std::size_t cut = first_mail; cut < entries; ++cut)
        harmed += of.harms(cut) ? 1 : 0;
    return static_cast<double>(harmed) / static_cast<double>(entries - first_mail);
}

std::vector<std::size_t> chosen(base::random_source& random) {
    std::set<std::size_t> all;
    while (all.size() < cuts)
        all.insert(random.below(entries));
    return {all.begin(), all.end()};
}

audited_image image_of(std::size_t cut, std::uint64_t draw, bool harms) {
    audited_image one{.cut = cut, .draw = draw, .draws = draws};
    one.acknowledged = cut < first_mail ? 0 : cut;
    one.lost = harms && draw + 1 == draws && one.acknowledged > 0 ? 1 : 0;
    one.found = one.acknowledged - one.lost;
    return one;
}

// After so many disks it was interrupted.
audit_record audited(const fate& of, const std::vector<std::size_t>& order, std::size_t disks,
                     bool random_order) {
    audit_record made;
    made.order = random_order ? cut_order::random : cut_order::log;
    made.ended = "2026-01-01T01:00:00.000Z";
    audited_variant& one = made.variants.emplace_back();
    one.cuts = order.size();
    one.end = disks < order.size() * draws ? "interrupted" : all_cuts_done;
    for (std::size_t i = 0; i < disks; ++i)
        one.images.push_back(image_of(order[i / draws], i % draws, of.harms(order[i / draws])));
    return made;
}

bool holds(const stats::share_bounds& bounds, double share) {
    return bounds.low <= share && share <= bounds.high;
}

}  // namespace

TEST_CASE(
    "audit: the bounds hold the share of cuts in 95 %, also of an audit that was interrupted") {
    const fate of = GENERATE(from_range(fates));
    const double share = share_of(of);
    base::random_source random(11);
    tally whole, interrupted;
    for (int number = 0; number < 2000; ++number) {
        const auto order = postal::audit::in_random_order(chosen(random), random.next());
        const auto of_all = analyse(audited(of, order, cuts * draws, true)).variants.front();
        whole.add(holds(of_all.share.value(), share));
        const std::size_t disks = draws + random.below((cuts - 1) * draws);
        const auto of_some = analyse(audited(of, order, disks, true)).variants.front();
        if (of_some.counted > 0) interrupted.add(holds(of_some.share.value(), share));
    }
    CAPTURE(of.name, share, whole.share(), interrupted.share());
    CHECK(whole.may_be_at_least(0.95));
    CHECK(interrupted.may_be_at_least(0.95));
}

TEST_CASE(
    "audit: cuts in the log's order are no sample when it is interrupted, and have no bound") {
    base::random_source random(12);
    const auto order = chosen(random);
    const audit_record of = audited(fates.front(), order, cuts * draws / 2, false);
    const auto found = analyse(of);
    CHECK_FALSE(found.variants.front().share.has_value());
    const std::string said = verdict_sentences(of, found).front();
    CHECK(said.find("no bound") != said.npos);
    CHECK(said.find("interrupted after 30 of 60 cuts") != said.npos);
    CHECK(analyse(audited(fates.front(), order, cuts * draws, false))
              .variants.front()
              .share.has_value());
}

TEST_CASE(
    "audit: cuts before anything was acknowledged, and those not looked at to their end, do not "
    "count") {
    base::random_source random(13);
    const fate never{"never", [](std::size_t) { return false; }};
    const auto order = postal::audit::in_random_order(chosen(random), 1);
    const auto before = static_cast<std::size_t>(std::count_if(
        order.begin(), order.end(), [](std::size_t cut) { return cut < first_mail; }));
    REQUIRE(before > 0);
    const auto whole = analyse(audited(never, order, cuts * draws, true)).variants.front();
    CHECK(whole.counted == cuts - before);
    CHECK(whole.before_mail == before);
    const auto cut_short = analyse(audited(never, order, cuts * draws - 1, true)).variants.front();
    CHECK(cut_short.counted + (order.back() < first_mail ? 0 : 1) == whole.counted);
}

TEST_CASE("audit: each order of the cuts is as likely as any other") {
    std::vector<std::size_t> places(10);
    std::iota(places.begin(), places.end(), std::size_t{0});
    tally early;  // that the last of the log is among the first half of the cuts
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        const auto order = postal::audit::in_random_order(places, seed);
        early.add(std::find(order.begin(), order.end(), 9U) - order.begin() < 5);
    }
    CHECK(early.may_be_at_least(0.5));
    CHECK(early.may_be_at_most(0.5));
    CHECK(postal::audit::in_random_order(places, 3) == postal::audit::in_random_order(places, 3));
}
