// SPDX-License-Identifier: GPL-3.0-or-later
// The sentences in which an experiment says what it found.
#include "experiment/findings.hpp"
#include "experiment/figures.hpp"

#include "made_up.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace postal::experiment;

namespace {

std::string only_sentence(const results& of) {
    const auto all = verdict_sentences(of, analyse(of));
    REQUIRE(all.size() == 1);
    return all.front();
}

bool says(const std::vector<remark>& all, const std::string& kind, const std::string& text) {
    for (const remark& one : all)
        if (one.kind == kind && one.text.find(text) != std::string::npos) return true;
    return false;
}

}  // namespace

TEST_CASE("findings: a sentence for each verdict, in the words of its metric") {
    struct row {
        metric about;
        double ratio;
        std::string begins;
        std::string verdict;
    };
    const std::vector<row> table{
        {metric::messages, 1.1, "\"b\" is 10.0 % faster than \"a\" (", "faster"},
        {metric::messages, 0.9, "\"b\" is 10.0 % slower than \"a\" (", "slower"},
        {metric::messages, 3, "\"b\" is 3.00 times as fast as \"a\" (", "faster"},
        {metric::messages, 0.25, "\"b\" is 4.00 times as slow as \"a\" (", "slower"},
        {metric::messages, 1, "\"b\" and \"a\" are equivalent: the difference is less than 2 % (",
         "equivalent"},
        {metric::p50, 0.9, "\"b\" is 10.0 % lower than \"a\" by its median latency (", "faster"},
        {metric::p50, 1.1, "\"b\" is 10.0 % higher than \"a\" by its median latency (", "slower"},
        {metric::p99, 3, "\"b\" is 3.00 times as high as \"a\" by its 99th percentile of latency (",
         "slower"},
        {metric::p99, 0.25,
         "\"b\" is 4.00 times as low as \"a\" by its 99th percentile of latency (", "faster"},
        {metric::cpu, 0.9, "\"b\" is 10.0 % lower than \"a\" in processor time a message (",
         "faster"},
        {metric::written, 1.5, "\"b\" is 50.0 % higher than \"a\" in what is written a message (",
         "slower"},
        {metric::flushes, 0.5, "\"b\" is 2.00 times as low as \"a\" in flushes a message (",
         "faster"},
        {metric::flushes, 1, "\"b\" and \"a\" are equivalent in flushes a message: ", "equivalent"},
    };
    for (const auto& [about, ratio, begins, verdict] : table) {
        INFO(name_of(about) << " " << ratio);
        const auto of = test::made_up(about, ratio, 6);
        const std::string said = only_sentence(of);
        INFO(said);
        CHECK(said.find(begins) == 0);
        CHECK(said.find("few blocks") == std::string::npos);
        CHECK(verdict_on("b", of.record, analyse(of)) == verdict);
        CHECK(verdict_on("a", of.record, analyse(of)) == "none");
        const auto few = test::made_up(about, ratio, 4);
        CHECK(only_sentence(few).find(begins) == 0);
        CHECK(only_sentence(few).rfind("; few blocks") == only_sentence(few).size() - 12);
    }
}

TEST_CASE("findings: what a variant carries, at which promise") {
    struct row {
        double ratio;
        std::string begins;
        std::string verdict;
    };
    const std::string promised = "p99(message)<1s and errors<0.1%";
    // Of all runs the same: as wide as the bounds of the searches, one per cent to each side.
    const std::vector<row> table{
        {1.31, "\"b\" carries 31.0 % more than \"a\" at " + promised + " (28.9 to ", "faster"},
        {0.8, "\"b\" carries 20.0 % less than \"a\" at " + promised + " (18.7 to ", "slower"},
        {3, "\"b\" carries 3.00 times as much as \"a\" at " + promised + " (2.95 to ", "faster"},
        {0.25, "\"b\" carries 0.25 times as much as \"a\" at " + promised + " (0.25 to ", "slower"},
        {1,
         "\"b\" and \"a\" are equivalent by what they carry at " + promised +
             ": the difference is less than 2 % (",
         "equivalent"},
    };
    for (const auto& [ratio, begins, verdict] : table) {
        auto of = test::made_up(metric::capacity, ratio, 6);
        for (measured_run& one : of.runs)
            one.records = {test::recorded_search(100, {"p99(message)<1s", "errors<0.1%"})};
        const std::string said = only_sentence(of);
        INFO(said);
        CHECK(said.find(begins) == 0);
        CHECK(verdict_on("b", of.record, analyse(of)) == verdict);
        if (verdict != "equivalent") CHECK_THAT(said, Catch::Contains("/s against 1.00/s"));
        CHECK_THAT(describe(of, analyse(of)), Catch::Contains(", searches of 10 s at most, on "));
        CHECK(remarks(of, analyse(of)).empty());
    }
}

TEST_CASE(
    "findings: the interval of what is slower is the share that is missing, the smaller one "
    "first") {
    const auto slower = test::made_up(metric::messages, 0.8, 6, 0.01);
    const auto one = analyse(slower).verdict().compared.comparisons.front();
    const std::string wanted =
        fmt::format("({:.1f} to {:.1f} %): 48.0/min against 60.0/min",
                    (1 - (*one.interval)[1]) * 100, (1 - (*one.interval)[0]) * 100);
    CHECK_THAT(only_sentence(slower), Catch::Contains(wanted));
    CHECK((*one.interval)[0] < 0.8);
    CHECK((*one.interval)[1] > 0.8);
}

TEST_CASE("findings: undecided and none say what is missing") {
    const auto undecided = test::made_up(metric::messages, 1.01, 6, 0.04);
    CHECK_THAT(only_sentence(undecided),
               Catch::StartsWith("\"b\" against \"a\" is undecided (+1.0 %, ") &&
                   Catch::Contains("; needs about ") &&
                   Catch::Contains(" if the difference is what it seems, about ") &&
                   Catch::Contains(" whatever it is"));
    CHECK(verdict_on("b", undecided.record, analyse(undecided)) == "undecided");
    const auto hopeless = test::made_up(metric::messages, 1.01, 6, 1.5);
    CHECK_THAT(only_sentence(hopeless), Catch::Contains("more than 1000 blocks would be needed"));
    const auto two = test::made_up(metric::messages, 3, 2);
    CHECK(only_sentence(two) ==
          "\"b\" against \"a\": no verdict from 2 blocks; 180/min against 60.0/min");
    CHECK(verdict_on("b", two.record, analyse(two)) == "none");
    const auto none = test::made_up(metric::messages, 3, 0);
    CHECK(only_sentence(none) == "\"b\" against \"a\": no verdict from 0 blocks");
    const auto alone = test::made_up({"a"}, metric::messages, {{1}, {1}});
    CHECK(only_sentence(alone) == "\"a\": 60.0/min");
    // What is 0 has no ratio.
    const auto zero = test::made_up({"a", "b"}, metric::flushes, {{2, 0}, {2, 0}, {2, 0}});
    CHECK(only_sentence(zero) == "\"b\" against \"a\": no verdict from 0 blocks; 0 against 2");
}

TEST_CASE("findings: twins that are told apart take the verdicts away") {
    std::vector<std::vector<double>> values;
    for (int i = 0; i < 6; ++i)
        values.push_back({1, 1.1 + 0.001 * (i % 2), 1.3 + 0.001 * (i % 3)});
    auto of = test::made_up({"a", "again", "b"}, metric::messages, values);
    of.record.variants[1].same_as = 0;
    const auto found = analyse(of);
    CHECK(found.verdict().compared.voided);
    CHECK(verdict_on("b", of.record, found) == "none");
    CHECK(verdict_on("again", of.record, found) == "faster");
    CHECK(verdict_on("c", of.record, found) == "none");
    const auto all = remarks(of, found);
    REQUIRE(!all.empty());
    CHECK(all.front().kind == "bad");
    CHECK_THAT(all.front().text, Catch::StartsWith("The verdicts do not count: \"again\" and \"a\" "
                                                   "are the same and were told apart (+10."));
    for (auto& run : of.runs)
        if (run.run.at.variant == 1)
            run.loads[0].values[0] = run.run.at.block % 2 == 0 ? 1.0005 : 0.9995;
    CHECK(verdict_on("b", of.record, analyse(of)) == "faster");
    CHECK(verdict_on("again", of.record, analyse(of)) == "equivalent");
    CHECK_FALSE(says(remarks(of, analyse(of)), "bad", "do not count"));
}

TEST_CASE("findings: blocks that a verdict rests on are named, with whose run it was") {
    std::vector<std::vector<double>> values;
    for (int i = 0; i < 8; ++i)
        values.push_back({1, 1.04 + 0.002 * (i % 2), 1 + 0.002 * (i % 3)});
    values[3][1] *= 0.7;  // a slow run of b
    values[4][2] *= 1.5;  // a fast one of c
    const auto of = test::made_up({"a", "b", "c"}, metric::messages, values);
    const auto all = remarks(of, analyse(of));
    CHECK(says(all, "limit",
               "\"b\" against \"a\": the verdict rests on block 4 (a run of \"b\", -27.1 %); "
               "without, it would be faster (+4."));
    CHECK(says(all, "limit",
               "\"c\" against \"a\": the verdict rests on block 5 (a run of \"c\", +50."));
    // Of two variants nobody knows whose it was.
    for (auto& row : values)
        row.resize(2);
    CHECK(says(remarks(test::made_up({"a", "b"}, metric::messages, values),
                       analyse(test::made_up({"a", "b"}, metric::messages, values))),
               "limit", "rests on block 4 (-27.1 %)"));
    values[3][1] = 1.2;
    CHECK(says(remarks(test::made_up({"a", "b"}, metric::messages, values),
                       analyse(test::made_up({"a", "b"}, metric::messages, values))),
               "note", "block 4 (+20.0 %) stands apart; without, the verdict is "));
}

TEST_CASE("findings: what must not be overlooked") {
    auto of = test::made_up(metric::messages, 1.1, 6);
    CHECK(remarks(of, analyse(of)).empty());
    of.damaged = {"runs/x: is not what the run wrote"};
    of.record.ended.clear();
    of.runs[3].voids = "postal: 50.0 % errors, more than 1.0 %";
    for (auto& run : of.runs)
        run.run.flush_median_s = 20e-6;
    of.runs[0].records[0].generator.verdict = stats::generator_verdict::machine_full;
    of.runs[1].records[0].cap = stats::cap_summary{100, 99};
    of.runs[2].records[0].cap = stats::cap_summary{100, 90};
    const auto found = analyse(of);
    const auto all = remarks(of, found);
    CHECK(says(all, "bad", "runs/x: is not what the run wrote"));
    CHECK(says(all, "bad", "Block 2 is voided: b: postal: 50.0 % errors"));
    CHECK(all.front().text == "The experiment has not ended");
    of.record.ended = "2026-01-01T00:00:00.000Z";
    of.record.end = "interrupted";
    CHECK(remarks(of, found).front().text == "The experiment did not come to its end: interrupted");
    CHECK(says(all, "note", "A flush takes 20 us here"));
    CHECK(says(all, "limit", "In 1 of 12 runs the machine was shared and full"));
    CHECK(says(all, "limit", "In 1 of 12 runs postal reached the rate that it was given"));
    CHECK(found.voided() == 1);
    CHECK(found.verdict().compared.comparisons.front().blocks == 5);
    // Its latency is the server's all the same.
    of.record.verdict.about = metric::p99;
    CHECK_FALSE(says(remarks(of, analyse(of)), "limit", "the rate"));
    CHECK_THAT(describe(of, found),
               Catch::StartsWith("made up: 6 blocks (1 voided) of 2 variants"));
}

TEST_CASE("findings: names from an experiment cannot write to a terminal") {
    auto of = test::made_up({"a\x1b[2J", "b\r\n|x|"}, metric::messages, {{1, 2}, {1, 2}, {1, 2.1}});
    of.record.title = "t\x07";
    of.damaged = {"\x1b]0;x"};
    for (const std::string& text : {render_text(document_of(of, analyse(of), report::medium::text)),
                                    render_text(brief_document_of(of, analyse(of)))}) {
        CHECK(text.find('\x1b') == std::string::npos);
        CHECK(text.find('\r') == std::string::npos);
        CHECK(text.find('\x07') == std::string::npos);
    }
}

TEST_CASE("findings: values and ratios as they are shown") {
    CHECK(show_value(metric::messages, 1.5) == "90.0/min");
    CHECK(show_value(metric::messages, 100.0) == "6,000/min");
    CHECK(show_value(metric::p50, 1500.0) == "1.50 ms");
    CHECK(show_value(metric::cpu, 0.1234) == "0.123 ms");
    CHECK(show_value(metric::written, 12.0) == "12 KiB");
    CHECK(show_value(metric::flushes, 0.0) == "0");
    CHECK(show_value(metric::flushes, std::nullopt) == "–");
    stats::comparison one;
    one.blocks = 6;
    one.ratio = 1.123;
    CHECK(show_ratio(one) == "+12.3 %");
    one.interval = {1.05, 1.2};
    CHECK(show_ratio(one) == "+12.3 % (+5.0 % to +20.0 %)");
    one.interval = {0.7, 2.5};
    CHECK(show_ratio(one) == "1.12 times (0.70 to 2.50)");
    one.interval = {1e-9, 1e9};
    CHECK(show_ratio(one) == "1.12 times (< 0.01 to > 100)");
    one.blocks = 2;
    CHECK(show_ratio(one) == "+12.3 %");
    one.ratio.reset();
    CHECK(show_ratio(one) == "–");
}

TEST_CASE("figures: how to repeat an experiment has its seed, once") {
    const struct {
        std::vector<std::string> argv;
        const char* wanted;
    } rows[]{
        {{"postal-compare", "a.toml"}, "postal-compare a.toml --seed 7"},
        {{"postal-compare", "--seed", "9", "a.toml"}, "postal-compare --seed 9 a.toml"},
        {{"postal-compare", "--seed=9", "a.toml"}, "postal-compare --seed=9 a.toml"},
        {{"postal-audit", "--seeds", "a.toml"}, "postal-audit --seeds a.toml --seed 7"},
    };
    for (const auto& row : rows)
        CHECK(repeated_command(row.argv, 7) == row.wanted);
}

TEST_CASE("findings: the tables of an experiment say how to repeat it, with its seed") {
    auto of = test::made_up(metric::messages, 1.1, 6);
    of.record.argv = {"postal-compare", "a.toml"};
    of.record.seed = 4711;
    bool said = false;
    for (const report::table& one : tables(of, analyse(of)))
        for (const auto& row : one.rows)
            said = said || (row.size() > 1 && row[1] == "postal-compare a.toml --seed 4711");
    CHECK(said);
}
