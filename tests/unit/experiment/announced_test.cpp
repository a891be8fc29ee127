// SPDX-License-Identifier: GPL-3.0-or-later
// How soon readers were told of what a run had accepted: percentiles over all of it, the account of
// a ledger, and files that somebody else wrote.
#include "experiment/announced.hpp"
#include "experiment/findings.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "made_up.hpp"

using namespace postal;
using namespace postal::experiment;
using namespace std::chrono_literals;

namespace {

announced_account account_of(std::uint64_t accepted,
                             const std::vector<std::chrono::nanoseconds>& told) {
    announced_account made{.from = "2026-01-01T00:00:00.000Z", .accepted = accepted};
    for (const auto one : told)
        made.times.record(one);
    made.announced = told.size();
    return made;
}

bool says(const std::vector<std::string>& all, std::string_view wanted) {
    for (const std::string& one : all)
        if (one.find(wanted) != one.npos) return true;
    return false;
}

}  // namespace

TEST_CASE(
    "announced: percentiles are of all that was accepted, and what nobody was told of is never") {
    struct row {
        const char* reason;
        std::uint64_t accepted;
        std::vector<std::chrono::nanoseconds> told;
        double share;
        std::optional<double> wanted_ms;
    };
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<row> table{
        {"nothing was accepted", 0, {}, 0.5, std::nullopt},
        {"of nothing anybody was told", 10, {}, 0.5, inf},
        {"all were told", 4, {1ms, 2ms, 3ms, 4ms}, 0.5, 2},
        {"the highest of all", 4, {1ms, 2ms, 3ms, 4ms}, 0.99, 4},
        {"half were told: the median is the last of them", 8, {1ms, 2ms, 3ms, 4ms}, 0.5, 4},
        {"one less than half", 9, {1ms, 2ms, 3ms, 4ms}, 0.5, inf},
        {"one of a hundred was not", 100, std::vector<std::chrono::nanoseconds>(99, 7ms), 0.99, 7},
        {"two of a hundred were not", 100, std::vector<std::chrono::nanoseconds>(98, 7ms), 0.99,
         inf},
        {"before it was acknowledged", 1, {0ms}, 0.5, 0},
    };
    for (const row& one : table) {
        INFO(one.reason);
        const auto found = account_of(one.accepted, one.told);
        for (const auto& each : {found, announced_from_json(to_json(found)).value()}) {
            const auto value = each.within_us(one.share);
            REQUIRE(value.has_value() == one.wanted_ms.has_value());
            if (!value) continue;
            CHECK(is_never(value) == (*one.wanted_ms == inf));
            if (!is_never(value))
                CHECK(*value == Approx(*one.wanted_ms * 1000).epsilon(0.02).margin(1));
        }
    }
}

TEST_CASE("announced: a file that somebody else wrote") {
    const auto good = to_json(account_of(3, {1ms, 2ms}));
    const auto refused = [](const std::string& text) {
        const auto read = announced_from_json(text);
        return read ? std::string("taken") : read.error().message;
    };
    CHECK(refused(good) == "taken");
    const auto with = [&good](const std::string& from, const std::string& to) {
        std::string text = good;
        const auto at = text.find(from);
        REQUIRE(at != text.npos);
        return text.replace(at, from.size(), to);
    };
    struct row {
        std::string text;
        std::string wanted;
    };
    const std::vector<row> table{
        {"", "is no account of what was announced: parse error"},
        {"[]", "is no account of what was announced: not a JSON object"},
        {std::string(100'000, '['), "is no account of what was announced: "},
        {"{}", "has schema \"\"; this program reads postal-announced/1"},
        {with("announced/1", "announced/2"), "has schema \"postal-announced/2\""},
        {with("\"accepted\": 3", "\"accepted\": 1"), "announced is not at most what was accepted"},
        {with("\"accepted\": 3", "\"accepted\": -3"), "accepted is not "},
        {with("\"accepted\": 3", "\"accepted\": null"), "accepted is not there"},
        {with("\"announced\": 2", "\"announced\": 3"),
         "times is not of as many messages as announced says"},
        {with("\"announced\": 2", "\"announced\": \"2\""), "announced is not "},
        {with("\"times\": \"", "\"times\": \"x"), "times is not a histogram: "},
        {with("\"times\": \"", "\"no times\": \""), "times is not there"},
    };
    for (const auto& [text, wanted] : table) {
        INFO(text.substr(0, 200));
        CHECK(refused(text).substr(0, wanted.size()) == wanted);
    }
    for (std::size_t length = 0; length + 2 < good.size(); ++length)
        CHECK(refused(good.substr(0, length)) != "taken");
}

TEST_CASE("announced: a ledger that is none is told") {
    const auto read = read_announced("/no/such.ledger", std::chrono::system_clock::time_point{});
    REQUIRE(read.has_error());
    CHECK(read.error().message.find("/no/such.ledger") != std::string::npos);
}

TEST_CASE("announced: never is said, counted as worst, and not taken for what is not known") {
    const double inf = std::numeric_limits<double>::infinity();
    const auto of =
        test::made_up({"a", "b"}, metric::announced_p99,
                      {{5e5, inf}, {5e5, inf}, {5e5, inf}, {5e5, inf}, {5e5, inf}, {5e5, 9e5}});
    const auto found = analyse(of);
    CHECK(is_never(found.verdict().typical[1]));
    CHECK(says(verdict_sentences(of, found),
               "\"b\" is worse than \"a\" by the time within which 99 % of all messages were "
               "announced: never in 5 of 6 of \"b\", and in 0 of \"a\""));
    CHECK(verdict_on("b", of.record, found) == "slower");
    const auto table = verdict_table(of, found);
    CHECK(table.rows[1][1] == "never");
    CHECK(table.rows[1][2] == "never in 5 of 6 blocks, of the other in 0");
    std::string text = record_text(of.record, found);
    std::erase_if(text, [](char one) { return one == ' ' || one == '\n'; });
    CHECK(says({text}, "\"typical_never\":[1]"));
    CHECK(says({text}, "\"never\":[5,0]"));
    // One that is not known is none of it.
    auto unknown_one = of;
    unknown_one.runs[1].loads[0].values = {};
    CHECK(analyse(unknown_one).verdict().compared.comparisons[0].never ==
          stats::never_counts{0, 4, 5});
}

TEST_CASE("announced: the value in the middle is typical where one is never") {
    const double inf = std::numeric_limits<double>::infinity();
    const auto of = test::made_up({"a", "b"}, metric::announced_p50,
                                  {{4, 1}, {4, 2}, {4, inf}, {4, 3}, {4, 4}});
    const auto found = analyse(of);
    CHECK(found.verdict().typical[1] == 3.0);
    CHECK(is_never(of.runs[5].loads[0].values[static_cast<std::size_t>(metric::announced_p50)]));
}

TEST_CASE(
    "announced: a gate is missed by who never tells, and has no answer of who cannot be compared") {
    const double inf = std::numeric_limits<double>::infinity();
    struct row {
        std::vector<std::vector<double>> blocks;
        stats::gate_verdict wanted;
        std::string said;
    };
    for (const row& one : std::vector<row>{
             {{5, {5, inf}},
              stats::gate_verdict::missed,
              "is missed: never in 5 of 5 blocks, and in 0 of \"a\""},
             {{4, {5, inf}}, stats::gate_verdict::none, "has no answer: never in 4 of 4 blocks"},
             {{{5, inf}, {5, 5}, {5, 5}, {5, 5}, {5, 5}, {5, 5}},
              stats::gate_verdict::none,
              "has no answer: never in 1 of 6 blocks"},
             {{{5, inf}, {5, 7}, {5, 7}, {5, 7}, {5, 7}, {inf, inf}},
              stats::gate_verdict::missed,
              "is missed: never in 2 of 6 blocks"},
             {{{0, inf}, {0, inf}, {0, inf}, {0, inf}, {0, inf}},
              stats::gate_verdict::missed,
              "is missed: never in 5 of 5 blocks"},
             {{6, {inf, 5}},
              stats::gate_verdict::none,
              "has no answer: never in 0 of 6 blocks, and in 6 of \"a\""},
             {{6, {inf, inf}},
              stats::gate_verdict::none,
              "has no answer: never in 6 of 6 blocks"}}) {
        auto of = test::made_up({"a", "b"}, metric::announced_p99, one.blocks);
        of.record.gates = {"announced_p99<+20%"};
        const auto found = analyse(of);
        REQUIRE(found.gates.size() == 1);
        CHECK(found.gates[0].result.verdict == one.wanted);
        CHECK(says(gate_sentences(of, found), one.said));
    }
}

TEST_CASE("announced: a gate against kept results counts those that were never") {
    const double inf = std::numeric_limits<double>::infinity();
    struct row {
        double now;
        std::size_t kept;
        std::size_t never;
        stats::gate_verdict wanted;
        std::string said;
    };
    for (const row& one : std::vector<row>{
             {inf, 19, 0, stats::gate_verdict::missed, "never now, and never in 0 of 19 kept"},
             {inf, 18, 0, stats::gate_verdict::none, "never now, and never in 0 of 18 kept"},
             {inf, 30, 1, stats::gate_verdict::none, "never now, and never in 1 of 30 kept"},
             {5, 30, 30, stats::gate_verdict::none,
              "0 kept results of which it is known, and 3 are needed; never in 30 of 30 kept"},
             // What is known is better than those that were never.
             {5, 25, 1, stats::gate_verdict::kept, "; never in 1 of 25 kept results"},
             {7, 25, 1, stats::gate_verdict::missed, "; never in 1 of 25 kept results"},
             {7, 25, 20, stats::gate_verdict::open, "; never in 20 of 25 kept results"}}) {
        auto of = test::made_up({"a"}, metric::announced_p99, {3, {one.now}});
        of.record.gates = {"announced_p99<+20%"};
        of.record.baseline = "kept";
        for (std::size_t i = 0; i < one.kept; ++i) {
            kept_result& each = of.record.kept.emplace_back();
            each.values = {{5.0 + 0.001 * static_cast<double>(i % 3)}};
            if (i < one.never) each.values = {{std::nullopt}};
            each.never = {{}};
            if (i < one.never) each.never[0].push_back(0);
        }
        const auto found = analyse(of);
        REQUIRE(found.gates.size() == 1);
        CHECK(found.gates[0].result.verdict == one.wanted);
        CHECK(says(gate_sentences(of, found), one.said));
        // A number for what is written, and read again.
        const auto read = parse_experiment_record(record_text(of.record, found));
        REQUIRE(read.has_value());
        CHECK(read->kept.back().never == of.record.kept.back().never);
        CHECK(read->kept.front().values == of.record.kept.front().values);
    }
}

TEST_CASE("announced: told at once is a value, too") {
    const auto of = test::made_up({"a", "b"}, metric::announced_p50, {6, {100, 0}});
    const auto compared = analyse(of).verdict().compared.comparisons[0];
    CHECK(compared.blocks == 6);
    CHECK(compared.left_out == 0);
    CHECK(compared.ratio.value() == Approx(0.01));
    CHECK(compared.verdict == stats::comparison_verdict::faster);
}

TEST_CASE(
    "announced: readers that are thrown out are never told, and no reason to leave out a run") {
    stats::run_record waiting = test::recorded_load(0);
    waiting.program = "rabid";
    waiting.options = {{"watch", std::string("25m")}, {"duration", std::string("10s")}};
    waiting.totals.error_events = 50;
    auto of = test::made_up_record({"a"}, metric::announced_p50);
    of.programs = {"postal", "rabid"};
    const auto run_of = [&] {
        return result_of({}, {test::recorded_load(10), waiting},
                         {.announced = account_of(100, {1ms})}, of);
    };
    const auto run = run_of();
    CHECK(run.voids.empty());
    CHECK(run.untold == "rabid: no session was open");
    CHECK(is_never(run.loads[0].values[static_cast<std::size_t>(metric::announced_p50)]));
    results all{.record = of};
    all.runs = {run};
    std::vector<std::string> said;
    for (const remark& one : remarks(all, analyse(all)))
        said.push_back(one.text);
    CHECK(says(said, "In 1 of 1 runs readers that wait went wrong, and count all the same"));

    for (auto& each : waiting.intervals)
        each.open_connections = 5;
    CHECK(run_of().untold == "rabid: 100.0 % errors, more than 1.0 %");
    CHECK(run_of().voids.empty());
    // Who lingers is asked for more than the load, and may not end before.
    waiting.options[1].second = std::string("20s");
    CHECK(run_of().voids == "rabid: ended after 10.0 s of 20.0 s");
    waiting.options[1].second = std::string("10s");
    of.verdict.about = metric::server_cpu;
    CHECK(run_of().voids == "rabid: 100.0 % errors, more than 1.0 %");
    of.gates = {"announced_p99<+20%"};
    CHECK(run_of().voids.empty());
    // What was not sent was nobody's to be told of.
    const auto failed =
        result_of({}, {test::recorded_load(0), waiting}, {.announced = account_of(100, {1ms})}, of);
    CHECK(failed.voids == "postal: no message came through");
}

TEST_CASE("announced: latency beside cost in one sentence") {
    auto of = test::made_up({"default", "b"}, metric::announced_p50, {3, {509'000, 8'000}});
    for (std::size_t i = 0; i < of.runs.size(); ++i) {
        auto& values = of.runs[i].loads[0].values;
        values[static_cast<std::size_t>(metric::announced_p99)] =
            i % 2 == 0 ? 1e6 : std::numeric_limits<double>::infinity();
        values[static_cast<std::size_t>(metric::server_cpu)] = i % 2 == 0 ? 1.0 : 1.4;
    }
    CHECK(
        told_sentences(of, analyse(of)) ==
        std::vector<std::string>{"\"b\" against \"default\", from 250 to announced: p50 509 ms -> "
                                 "8.00 ms, p99 1.00 s -> never; +0.4 ms of the server's processor "
                                 "time a message (+40.0 %, +40.0 % to +40.0 %)"});
    // A block in which one of the figures is not known is in none of them.
    of.runs[1].loads[0].values[static_cast<std::size_t>(metric::server_cpu)].reset();
    of.runs[0].loads[0].values[static_cast<std::size_t>(metric::announced_p50)] = 1e6;
    const auto fewer = told_sentences(of, analyse(of));
    CHECK(says(fewer,
               "p50 509 ms -> 8.00 ms, p99 1.00 s -> never; the server's processor time a "
               "message not told apart (+40.0 %)"));
    // Where verdicts do not count, nothing is said.
    auto voided = test::made_up({"default", "again"}, metric::announced_p50, {6, {1000, 3000}});
    voided.record.variants[1].same_as = 0;
    CHECK(told_sentences(voided, analyse(voided)).empty());
    const auto none = test::made_up(metric::messages, 1.1, 3);
    CHECK(told_sentences(none, analyse(none)).empty());
}

TEST_CASE("announced: what 1,000 sessions cost that only wait is of those that were open") {
    const std::chrono::steady_clock::time_point begun{1000s};
    cost_log log({}, begun, std::chrono::system_clock::time_point{1'767'225'600s});
    for (int s = 0; s <= 10; ++s) {
        testbed::system_sample one;
        one.time = begun + std::chrono::seconds(s);
        const double leaving_s = s > 8 ? 5 : 0;  // all log out, after what counts
        testbed::program_usage& server = one.programs.emplace().emplace_back();
        server.name = "imap";
        server.cpu_s = 0.1 * s + leaving_s;
        server.wakeups = 50U * static_cast<unsigned>(s);
        server.descriptors = 2000;
        server.memory_bytes = std::uint64_t{1} << 30U;
        log.add(one);
    }
    stats::run_record waiting = test::recorded_load(0);
    waiting.program = "rabid";
    waiting.options = {{"watch", std::string("25m")},
                       {"sessions", std::uint64_t{1000}},
                       {"imap-percent", std::string("100")}};
    for (auto& each : waiting.intervals)
        each.open_connections = 500;
    const auto of = test::made_up_record({"a"}, metric::idle_cpu);
    const auto at = [](metric which) { return static_cast<std::size_t>(which); };
    auto run = result_of({}, {waiting}, {.log = log}, of);
    CHECK(run.voids.empty());
    const auto& values = run.loads.at(0).values;
    CHECK(values[at(metric::idle_cpu)].value() == Approx(200));
    CHECK(values[at(metric::idle_memory)].value() == Approx(2.0 * (1 << 30)));
    CHECK(values[at(metric::idle_descriptors)].value() == Approx(4000));
    CHECK_FALSE(values[at(metric::server_cpu)]);  // no message
    results all{.record = of};
    all.runs = {run};
    std::string names;
    for (const auto& row : cost_table(all, analyse(all)).rows)
        names += row.front() + "; ";
    CHECK(says({names}, "server: memory at most"));
    CHECK(names.find("a message") == names.npos);
    std::vector<std::string> said;
    for (const remark& one : remarks(all, analyse(all)))
        said.push_back(one.text);
    CHECK(says(said,
               "In 1 of 1 runs fewer sessions waited than were asked for, down to 50 % of them"));

    // Of most of them there would have to be sessions, and of none a visit by POP3.
    auto few = waiting;
    for (auto& each : few.intervals)
        each.open_connections = 499;
    CHECK_FALSE(result_of({}, {few}, {.log = log}, of).loads[0].values[at(metric::idle_cpu)]);
    auto pop3 = waiting;
    pop3.options[2].second = std::string("50");
    CHECK_FALSE(result_of({}, {pop3}, {.log = log}, of).loads[0].values[at(metric::idle_cpu)]);

    // Beside a program that sends it is no waiting; what is sent has its share.
    auto both = of;
    both.programs = {"postal", "rabid"};
    run = result_of({}, {test::recorded_load(10), waiting}, {.log = log}, both);
    CHECK(run.voids.empty());
    CHECK_FALSE(run.loads.at(1).values[at(metric::idle_cpu)]);
    CHECK(run.loads.at(1).values[at(metric::server_wakeups)].value() == Approx(5));
    // A reader that lingers is not what says when the load was, nor is what it reads then.
    auto lingers = waiting;
    for (int second = 10; second < 20; ++second) {
        auto& each = lingers.intervals.emplace_back();
        each.start_s = second;
        each.end_s = second + 1;
        each.messages = 1000;
    }
    run = result_of({}, {lingers, test::recorded_load(10)}, {.log = log}, both);
    CHECK(run.spent.value().window_s == Approx(8));
    CHECK(run.loads.at(0).messages == 0);
    // Who lets nobody in, tells nobody.
    for (auto& each : waiting.intervals)
        each.open_connections = 0;
    CHECK(result_of({}, {waiting}, {.log = log}, of).voids == "postal: no session was open");
}
