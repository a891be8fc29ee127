// SPDX-License-Identifier: GPL-3.0-or-later
// What an audit is said to have found.
#include "audit/findings.hpp"

#include "made_up_audit.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace postal::audit;

namespace {

std::string text_of(const audit_record& of, const audit_analysis& found) {
    return render_text(document_of(of, found, report::medium::text));
}

std::string markdown_of(const audit_record& of, const audit_analysis& found) {
    return render_markdown(document_of(of, found, report::medium::markdown));
}

bool has(const std::string& text, const std::string& wanted) {
    return text.find(wanted) != std::string::npos;
}

// The variant between two controls that are as they have to be.
audit_record with(audited_variant one) {
    audit_record made = test::made_up_audit(100);
    made.variants.front() = std::move(one);
    return made;
}

std::vector<std::uint64_t> some_lost(std::size_t harmed, std::size_t cuts, std::uint64_t each) {
    std::vector<std::uint64_t> lost(cuts, 0);
    std::fill(lost.begin(), lost.begin() + static_cast<std::ptrdiff_t>(harmed), each);
    return lost;
}

}  // namespace

TEST_CASE("audit findings: bounds of a share") {
    struct row {
        std::uint64_t k, n;
        double low, high;
    };
    // Of Clopper and Pearson as R's binom.test() has them; of none 1 - 0.05^(1/n).
    for (const auto& [k, n, low, high] : std::vector<row>{{0, 0, 0, 1},
                                                          {0, 1, 0, 0.95},
                                                          {0, 100, 0, 0.0295130},
                                                          {0, 400, 0, 0.0074613},
                                                          {1, 1, 0.025, 1},
                                                          {1, 10, 0.0025286, 0.4450161},
                                                          {71, 100, 0.6107340, 0.7964258},
                                                          {10, 10, 0.6915029, 1}}) {
        const auto found = stats::bounds_of_share(k, n);
        INFO(k << " of " << n);
        CHECK(found.low == Approx(low).margin(1e-6));
        CHECK(found.high == Approx(high).margin(1e-6));
    }
}

TEST_CASE("audit findings: none lost says how little that means") {
    const audit_record of = test::made_up_audit(100);
    const audit_analysis found = analyse(of);
    CHECK(found.state == audit_state::good);
    CHECK(verdict_sentences(of, found) ==
          std::vector<std::string>{"default: none lost in 100 cuts (at most 3 % of cuts, 95 %)"});
    CHECK(remarks(of, found).empty());
    CHECK(lost_by_power_cut("default", of, found) == "none in 100 cuts (at most 3 %)");
    CHECK(lost_by_power_cut("other", of, found) == "not audited");
    // A control is no variant of the comparison.
    CHECK(lost_by_power_cut("eatmydata", of, found) == "not audited");
    for (const std::string& all : {text_of(of, found), markdown_of(of, found)}) {
        CHECK_FALSE(has(all, "safe"));
        CHECK(has(all, "cuts at random entries of one recorded run"));
    }
}

TEST_CASE("audit findings: what was lost, how often and how much") {
    const audit_record of = with(test::made_up_audit("barrier=0", some_lost(71, 100, 60)));
    const audit_analysis found = analyse(of);
    const variant_result& one = found.variants.front();
    CHECK(one.cuts.size() == 100);
    CHECK(one.images == 200);
    CHECK(one.harmed == 71);
    CHECK(show_range(one.lost) == "0 to 60");
    CHECK(show_range(one.gone_by[0]) == "0 to 60");
    CHECK(show_range(one.gone_by[1]) == "0");
    CHECK(show_range(one.gone_by[2]) == "–");
    CHECK(one.window_s == Approx(4.8));
    CHECK(one.flushes == Approx(2));
    CHECK(one.writes == Approx(5));
    CHECK(verdict_sentences(of, found).front() ==
          "barrier=0: acknowledged mail lost at 71 of 100 cuts (61 to 80 % of cuts, 95 %), "
          "0 to 60 messages at a cut, of the last 4.8 s");
    CHECK(lost_by_power_cut("barrier=0", of, found) ==
          "71 of 100 cuts, 0 to 60 messages of the last 4.8 s");
    // The control that has to lose is not among them.
    const report::table worst = worst_table(of, found);
    REQUIRE(worst.rows.size() == most_worst_cuts);
    CHECK(worst.rows.front()[1] == "10");
    CHECK(worst.rows.front().back() == "60 lost");
}

TEST_CASE("audit findings: damage, doubles and what is out of reach are told apart") {
    audited_variant one = test::made_up_audit("x", std::vector<std::uint64_t>(100, 0));
    one.images[0].truncated = 1;
    one.images[2].duplicated = 7;  // at-least-once delivery may do so
    const auto said = [](const audited_variant& variant) {
        const audit_record of = with(variant);
        return verdict_sentences(of, analyse(of)).front();
    };
    CHECK(has(said(one), "acknowledged mail damaged at 1 of 100 cuts"));
    one.images[4].lost = 1;
    CHECK(has(said(one), "acknowledged mail lost or damaged at 2 of 100 cuts"));
    one.images[6].failure = "mount: bad superblock";
    one.images[6].fsck_status = 4;
    CHECK(has(said(one), "at 3 of 100 cuts"));
    CHECK(has(said(one), "0 to 100 messages at a cut"));
    CHECK(has(said(one), ", all of it out of reach at 1 cut"));
    const audit_record of = with(one);
    const audit_analysis found = analyse(of);
    const variant_result& result = found.variants.front();
    CHECK(result.failed == 1);
    CHECK(result.fsck_complained == 1);
    CHECK(show_range(result.lost) == "0 to 1");
    CHECK(show_range(result.duplicated) == "0 to 7");
    CHECK(show_range(result.gone) == "0 to 100");
    CHECK(has(remarks(of, found).front().text, "1 of 200 images could not be read: mount: bad"));
    CHECK(worst_table(of, found).rows.front().back() == "out of reach: mount: bad superblock");
}

TEST_CASE("audit findings: a control that is not as it must be leaves no verdict") {
    SECTION("blind") {
        audit_record of = test::made_up_audit(100);
        of.variants[1] = test::made_up_audit("eatmydata", std::vector<std::uint64_t>(100, 0),
                                             control::must_lose);
        const audit_analysis found = analyse(of);
        CHECK(found.state == audit_state::blind);
        CHECK(has(text_of(of, found).substr(0, 40), "! The audit is BLIND"));
    }
    SECTION("blind: not being able to read is no loss that was seen") {
        audit_record of = test::made_up_audit(100);
        of.variants[1] = test::made_up_audit("eatmydata", std::vector<std::uint64_t>(100, 0),
                                             control::must_lose);
        for (audited_image& one : of.variants[1].images)
            one.failure = "the server did not start";
        CHECK(analyse(of).state == audit_state::blind);
    }
    SECTION("wrong, even before its end, and worse than blind") {
        audit_record of = test::made_up_audit(100);
        of.variants[1] = test::made_up_audit("eatmydata", std::vector<std::uint64_t>(100, 0),
                                             control::must_lose);
        of.variants[2] = test::made_up_audit("writer", {0, 1, 0}, control::must_keep);
        of.variants[2].end = "";
        CHECK(analyse(of).state == audit_state::wrong);
        CHECK(has(text_of(of, analyse(of)), "! The audit is WRONG"));
    }
    SECTION("wrong: what cannot be read is not kept") {
        audit_record of = test::made_up_audit(100);
        of.variants[2].images[3].failure = "mount: bad";
        CHECK(analyse(of).state == audit_state::wrong);
    }
    audit_record of = test::made_up_audit(100);
    of.variants[2].images[0].lost = 1;
    const audit_analysis found = analyse(of);
    CHECK(verdict_sentences(of, found).empty());
    CHECK(remarks(of, found).front().kind == "bad");
    CHECK(lost_by_power_cut("default", of, found) == "no verdict");
    for (const auto& row : loss_table(of, found).rows)
        CHECK(row[2] == "–");
    CHECK_FALSE(has(text_of(of, found), "none lost"));
}

TEST_CASE("audit findings: what is not finished says so") {
    audit_record of = test::made_up_audit({test::made_up_audit("a", {1, 0, 0})});
    of.variants[0].cuts = 100;
    of.variants[0].end = "interrupted";
    of.end = "interrupted";
    of.order = cut_order::random;
    for (audited_image& one : of.variants[0].images)
        one.draws = 2;
    of.variants.push_back({.name = "b", .cuts = 100});
    audit_analysis found = analyse(of);
    CHECK(found.state == audit_state::unchecked);
    const auto said = verdict_sentences(of, found);
    CHECK(said.at(0) ==
          "a: acknowledged mail lost at 1 of 3 cuts (0.84 to 91 % of cuts, 95 %), "
          "0 to 1 messages at a cut, of the last 0.08 s; interrupted after 3 of "
          "100 cuts");
    CHECK(said.at(1) == "b: not audited");
    CHECK(lost_by_power_cut("a", of, found) ==
          "1 of 3 cuts, 0 to 1 messages of the last 0.08 s; interrupted after 3 of 100 cuts");
    CHECK(loss_table(of, found).rows.at(0)[1] == "1 of 3; interrupted");
    const std::string text = text_of(of, found);
    CHECK(has(text, "! The audit is not checked"));
    CHECK(has(text, "! The audit did not come to its end: interrupted"));
    CHECK(has(text, "! Few cuts, so that rare losses may not show: \"a\""));

    of = test::made_up_audit(10);
    found = analyse(of);
    CHECK(verdict_sentences(of, found).front() ==
          "default: none lost in 10 cuts (at most 26 % of cuts, 95 %); few cuts");
    of.ended.clear();
    of.variants[1].end.clear();
    for (audited_image& one : of.variants[1].images)
        one.lost = 0;
    found = analyse(of);
    // It may lose something yet.
    CHECK(found.state == audit_state::unchecked);
    CHECK(remarks(of, found).at(1).text == "The audit has not ended");
}

TEST_CASE("audit findings: an audit that was interrupted bounds only what is a sample") {
    audit_record of = test::made_up_audit({test::made_up_audit("a", {0, 0, 0})});
    of.variants[0].cuts = 100;
    of.variants[0].end = of.end = "interrupted";
    for (audited_image& one : of.variants[0].images)
        one.draws = 2;
    CHECK(verdict_sentences(of, analyse(of)).front() ==
          "a: none lost in 3 cuts (no bound: the cuts went through the log in its order, and did "
          "not come to its end); interrupted after 3 of 100 cuts");
    CHECK(lost_by_power_cut("a", of, analyse(of)) ==
          "none in 3 cuts (no bound); interrupted after 3 of 100 cuts");
    CHECK(loss_table(of, analyse(of)).rows.at(0)[2] == "–");
    of.order = cut_order::random;
    CHECK(has(verdict_sentences(of, analyse(of)).front(), "none lost in 3 cuts (at most 63 %"));
    of.variants[0].images.pop_back();  // it may harm yet
    CHECK(has(verdict_sentences(of, analyse(of)).front(), "none lost in 2 cuts"));
    of.variants[0].images.back().lost = 1;
    CHECK(has(verdict_sentences(of, analyse(of)).front(), "lost at 1 of 3 cuts"));
    for (audited_image& one : of.variants[0].images)
        one.acknowledged = one.found = one.lost = 0;
    CHECK(has(verdict_sentences(of, analyse(of)).front(), "a: no verdict: nothing had been"));
    CHECK(has(text_of(of, analyse(of)),
              "\"a\": 3 cuts came before anything was acknowledged, and are in no figure"));
}

TEST_CASE("audit findings: names are made harmless") {
    audit_record of = with(test::made_up_audit("\x1b[31m<b>|`", some_lost(1, 100, 1)));
    of.variants[0].images[0].failure = "\x1b[2J\n<script>";
    const audit_analysis found = analyse(of);
    CHECK_FALSE(has(text_of(of, found), "\x1b"));
    CHECK_FALSE(has(markdown_of(of, found), "\x1b"));
    CHECK_FALSE(has(markdown_of(of, found), "<script>"));
}
