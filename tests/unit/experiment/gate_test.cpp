// SPDX-License-Identifier: GPL-3.0-or-later
// How gates are read, which answer they have, and what is said of it.
#include "experiment/gate.hpp"

#include "experiment/findings.hpp"
#include "made_up.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace postal::experiment;
using stats::gate_verdict;

namespace {

// The answers to these gates where "b" is at about this ratio to "a".
std::vector<gate_verdict> answers(metric about, double ratio, const std::vector<std::string>& gates,
                                  std::size_t blocks = 6) {
    auto of = test::made_up(about, ratio, blocks);
    of.record.gates = gates;
    std::vector<gate_verdict> all;
    for (const gate_finding& one : analyse(of).gates)
        all.push_back(one.result.verdict);
    return all;
}

}  // namespace

TEST_CASE("gate: what is one, and what is not") {
    struct row {
        std::string text;
        metric about;
        double ratio;
        bool is_above;
    };
    const std::vector<row> table{
        {"rate>-5%", metric::messages, 0.95, true},     {"rate>+10%", metric::messages, 1.1, true},
        {"rate>0%", metric::messages, 1, true},         {"p50<2.5%", metric::p50, 1.025, false},
        {"p99<+1000%", metric::p99, 11, false},         {"cpu<-10%", metric::cpu, 0.9, false},
        {"written<-99%", metric::written, 0.01, false}, {"flushes<+0%", metric::flushes, 1, false}};
    for (const row& one : table) {
        INFO(one.text);
        const auto made = parse_gate(one.text);
        REQUIRE(made.has_value());
        CHECK(made->text == one.text);
        CHECK(made->of({}) == one.about);
        CHECK(made->bound.ratio == Approx(one.ratio));
        CHECK(made->bound.is_above == one.is_above);
    }
    CHECK(parse_gate("rate>-5%")->of({.about = metric::capacity}) == metric::capacity);
    for (const char* bad : {"", "rate", "rate>", "rate>%", "rate>-5", "rate=-5%", "messages>-5%",
                            "capacity>-5%", "rate>-100%", "rate>-99.1%", "p99<1001%", "p99<+-5%",
                            "p99<--5%", "p99<5 %", " p99<5%", "p99<nan%", "p99<1e3%", "p99<<5%"})
        CHECK(parse_gate(bad).error().message.find("is no gate; want rate>-5%") !=
              std::string::npos);
    CHECK(parse_gate("rate<5%").error().message ==
          "\"rate<5%\": less of it is worse; want rate>-5%");
    CHECK(parse_gate("cpu>5%").error().message == "\"cpu>5%\": more of it is worse; want cpu<+5%");
}

TEST_CASE("gate: kept, missed and open, of what is to be more and of what is to be less") {
    using enum gate_verdict;
    CHECK(answers(metric::messages, 1, {"rate>-5%"}) == std::vector{kept});
    CHECK(answers(metric::messages, 0.9, {"rate>-5%"}) == std::vector{missed});
    CHECK(answers(metric::messages, 0.95, {"rate>-5%"}) == std::vector{open});
    CHECK(answers(metric::messages, 1.05, {"rate>+10%"}) == std::vector{missed});
    CHECK(answers(metric::p99, 1.1, {"p99<+20%"}) == std::vector{kept});
    CHECK(answers(metric::p99, 1.3, {"p99<+20%"}) == std::vector{missed});
    CHECK(answers(metric::p99, 0.5, {"p99<-20%", "p99<-60%"}) == std::vector{kept, missed});
    CHECK(answers(metric::capacity, 0.9, {"rate>-5%"}) == std::vector{missed});
    // From two blocks nothing is said, and nothing of what was not measured.
    CHECK(answers(metric::messages, 0.5, {"rate>-5%"}, 2) == std::vector{none});
    CHECK(answers(metric::messages, 1, {"cpu<+5%"}) == std::vector{none});
}

TEST_CASE("gate: sentences say how sure, and what so many blocks can see") {
    const auto said = [](double ratio, const std::string& gate, std::size_t blocks = 6) {
        auto of = test::made_up(metric::messages, ratio, blocks);
        of.record.gates = {gate};
        const auto all = gate_sentences(of, analyse(of));
        REQUIRE(all.size() == 1);
        return all.front();
    };
    CHECK(said(1, "rate>-5%") ==
          "rate>-5% of \"b\" is kept: +0.0 %, at least -0.1 %; 6 blocks see -5.2 % in 4 of 5 "
          "experiments");
    CHECK(said(0.9, "rate>-5%") ==
          "rate>-5% of \"b\" is missed: -10.0 %, at most -9.9 %; 6 blocks see -5.2 % in 4 of 5 "
          "experiments");
    CHECK(said(0.95, "rate>-5%") ==
          "rate>-5% of \"b\" is open: -5.0 %, between -5.1 % and -4.9 %; 6 blocks see -5.2 % in 4 "
          "of 5 experiments");
    CHECK(said(0.3, "rate>-5%").starts_with("rate>-5% of \"b\" is missed: 0.30 times, at most "));
    CHECK(said(1, "rate>-5%", 2) ==
          "rate>-5% of \"b\" has no answer: 2 blocks of which it is known, and 3 are needed");
}

TEST_CASE("gate: what is not known of a block, or is never, keeps no gate") {
    struct row {
        double ratio;
        std::optional<double> in_two;  // of eight blocks
        gate_verdict wanted;
        std::string said;
    };
    for (const row& one :
         std::vector<row>{{0.85, std::nullopt, gate_verdict::none,
                           "has no answer: -15.0 % in 6 blocks; of 2 blocks it is not known"},
                          {1.2, std::nullopt, gate_verdict::missed,
                           "in 4 of 5 experiments; of 2 blocks it is not known"},
                          {0.85, never, gate_verdict::none,
                           "has no answer: never in 2 of 8 blocks, and in 0 of"},
                          {1.2, never, gate_verdict::missed,
                           "is missed: never in 2 of 8 blocks, and in 0 of"}}) {
        auto of = test::made_up(metric::p99, one.ratio, 8);
        for (const std::size_t run : {5U, 11U})
            of.runs[run].loads[0].values[static_cast<std::size_t>(metric::p99)] = one.in_two;
        of.record.gates = {"p99<+5%"};
        const auto found = analyse(of);
        CHECK(found.gates.at(0).result.verdict == one.wanted);
        CHECK_THAT(gate_sentences(of, found).front(), Catch::Contains(one.said));
        const bool says_left_out = std::ranges::any_of(remarks(of, found), [](const remark& each) {
            return each.text ==
                   "\"b\" against \"a\": in 2 of 8 blocks that are not voided a "
                   "value is not known, and the verdict is of the others";
        });
        CHECK(says_left_out == !one.in_two.has_value());
    }
    // Runs that never were are no such ones.
    auto of = test::made_up(metric::p99, 0.85, 7);
    of.runs.pop_back();
    of.record.gates = {"p99<+5%"};
    CHECK(analyse(of).gates.at(0).result.verdict == gate_verdict::kept);
    // Against kept results, of the blocks that there are now.
    of.runs[3].loads[0].values[static_cast<std::size_t>(metric::p99)].reset();
    of.record.baseline = "kept";
    of.record.kept.assign(6, kept_result{.values = {{1.0, 1.0}}});
    for (std::size_t i = 0; i < 6; ++i)
        of.record.kept[i].values[0][1] = 1 + 0.001 * static_cast<double>(i);
    const auto found = analyse(of);
    CHECK(found.gates.at(0).left_out == 0);
    CHECK(found.gates.at(1).left_out == 1);
    CHECK(found.gates.at(1).result.verdict == gate_verdict::none);
}

TEST_CASE("gate: each variant has its answers, but twins, and none counts where those differ") {
    std::vector<std::vector<double>> values;
    for (int i = 0; i < 6; ++i)
        values.push_back({1, 1 + 0.001 * (i % 2), 1.3 + 0.001 * (i % 3), 0.8});
    auto of = test::made_up({"a", "again", "b", "c"}, metric::messages, values);
    of.record.variants[1].same_as = 0;
    of.record.gates = {"rate>-5%", "rate>+20%"};
    const auto found = analyse(of);
    REQUIRE(found.gates.size() == 4);
    CHECK(found.gates[0].variant == 2);
    CHECK(found.gates[1].variant == 3);
    CHECK(found.gates[1].result.verdict == gate_verdict::missed);
    CHECK(found.gates[2].result.verdict == gate_verdict::kept);
    // Four answers share what one of them has alone.
    of.record.gates = {"rate>-5%"};
    const auto fewer = analyse(of);
    CHECK((*fewer.gates[0].result.limits)[0] > (*found.gates[0].result.limits)[0]);
    for (auto& run : of.runs)
        if (run.run.at.variant == 1)
            run.loads[0].values[0] = 2 + 0.001 * static_cast<double>(run.run.at.block % 3);
    const auto voided = analyse(of);
    CHECK(voided.gates[0].result.verdict == gate_verdict::none);
    CHECK(gate_sentences(of, voided).front() ==
          "rate>-5% of \"b\" has no answer: variants that are the same were told apart");
}

TEST_CASE("gate: a record has what was asked for, and what came of it") {
    auto of = test::made_up(metric::messages, 0.9, 6);
    CHECK(record_text(of.record, analyse(of)).find("\"gate") == std::string::npos);
    of.record.gates = {"rate>-5%"};
    const std::string text = record_text(of.record, analyse(of));
    CHECK(text.find("\"verdict\": \"missed\"") != std::string::npos);
    const auto read = parse_experiment_record(text);
    REQUIRE(read.has_value());
    CHECK(read->gates == of.record.gates);
    of.record.gates = {"rate>-5"};
    const auto refused = parse_experiment_record(record_text(of.record, analyse(of)));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message == "gates[0] is not a gate");
    of.record.gates.assign(most_gates + 1, "rate>-5%");
    CHECK(parse_experiment_record(record_text(of.record, analyse(of))).error().message ==
          "gates is not a list of at most 32 gates");
    of.record.gates = {"rate>-5%"};
    of.record.verdict.confidence = 0.05;
    CHECK(parse_experiment_record(record_text(of.record, analyse(of))).error().message ==
          "verdict.confidence is not from 0.5 to 0.9999");
}
