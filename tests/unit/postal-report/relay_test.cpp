// SPDX-License-Identifier: GPL-3.0-or-later
// A relay's report from two records, and what is printed of one.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "../hostile_text.hpp"
#include "../temporary_file.hpp"
#include "postal-report/options.hpp"
#include "postal-report/relay.hpp"
#include "printed.hpp"

using namespace postal;
using Catch::Contains;
using json = nlohmann::json;

namespace {

std::string interval(double from_s, double to_s, int recipients) {
    return fmt::format(R"({{"start_s":{},"t_s":{},"messages":1,"recipients":{}}})", from_s, to_s,
                       recipients);
}

// Its intervals are ten seconds long.
std::string record_text(const std::string& program, const std::string& started,
                        const std::vector<int>& recipients, const std::string& more = "") {
    std::string intervals;
    for (std::size_t each = 0; each < recipients.size(); ++each) {
        const double from_s = 10.0 * static_cast<double>(each);
        intervals += (each == 0 ? "" : ",") + interval(from_s, from_s + 10, recipients[each]);
    }
    return fmt::format(R"({{"schema":"postal-record/1","program":"{}","started":"{}",)"
                       R"("interval_s":10,"totals":{{}},"intervals":[{}]{}}})",
                       program, started, intervals, more);
}

const std::string started = "2026-01-01T00:00:20.000Z";

std::string refusal(const std::vector<std::string>& files) {
    const auto got = report::read_relay_records(files);
    REQUIRE(got.has_error());
    return got.error().message;
}

report::shown_relay hostile() {
    const std::string& attack = test::hostile_text;
    report::relay_flow flow;
    report::relayed_message one;
    one.accepted_us = 1'790'000'000'000'000;
    one.delivered_us = *one.accepted_us + 300'000;
    one.sent_us = *one.accepted_us - 100'000;
    one.copies = 1;
    flow.add(one);
    report::relay_part part;
    part.name = attack;
    part.counts = flow.counts();
    part.curve = flow.curve_in(flow);
    part.backlog = measure_backlog(part.curve);
    part.drain_s = flow.drain_s();
    part.transit = flow.transit();
    report::relay_report made;
    made.source = attack;
    made.from_ledger = true;
    made.parts = {part, part, part};
    made.remarks = {attack};
    return {made, made};
}

}  // namespace

TEST_CASE("relay report: two records are laid over each other by when they were started") {
    // bhm runs since twenty seconds before.
    const test::temporary_file sender(record_text("postal", started, {100, 100, 0}));
    const test::temporary_file receiver(
        record_text("bhm", "2026-01-01T00:00:00.000Z", {0, 7, 50, 50, 60, 40, 0}));
    for (const auto& files : {std::vector{sender.path(), receiver.path()},
                              std::vector{receiver.path(), sender.path()}}) {
        const auto got = report::read_relay_records(files);
        REQUIRE(got.has_value());
        const report::relay_part& all = got->all();
        CHECK(got->parts.size() == 1);
        CHECK(all.counts.accepted == 200);
        CHECK(all.counts.delivered == 207);
        CHECK(got->began_s == 1767225620);
        CHECK(got->resolution_s == 10);
        REQUIRE(all.curve.size() == 4);
        CHECK(all.curve[0].backlog == Approx(50));
        CHECK(all.backlog.peak == Approx(100));
        CHECK(all.backlog.peak_at_s == Approx(20));
        CHECK(all.backlog.left == Approx(0).margin(1e-6));
        REQUIRE(all.drain_s);
        CHECK(*all.drain_s == Approx(20));
        CHECK(got->remarks.empty());
        CHECK(got->kept_word);
        CHECK_FALSE(got->transit);
    }
}

TEST_CASE("relay report: the receiver's own transit times are shown") {
    const test::temporary_file sender(
        record_text("postal", started, {10}, R"(,"host":{"name":"one"})"));
    const test::temporary_file receiver(record_text(
        "bhm", started, {10},
        R"(,"host":{"name":"two"},"latency_us":{"transit":{"count":10,"p50":251000}})"));
    const auto got = report::read_relay_records({sender.path(), receiver.path()});
    REQUIRE(got.has_value());
    REQUIRE(got->transit);
    const report::shown_relay shown{*got, std::nullopt};
    CHECK_THAT(test::printed_of(shown).text, Contains("251 ms"));
    CHECK_THAT(test::printed_of(shown).csv, Contains(",251000,"));
    REQUIRE(got->remarks.size() == 1);
    CHECK_THAT(got->remarks.front(), Contains("two hosts, one and two"));
}

TEST_CASE("relay report: what did not arrive lies above all that did, of records too") {
    stats::histogram times;
    for (int ms = 1; ms <= 100; ++ms)
        times.record(std::chrono::milliseconds(ms));
    const auto told = [&](int accepted, const std::string& buckets) {
        const test::temporary_file sender(record_text("postal", started, {accepted}));
        const test::temporary_file receiver(record_text(
            "bhm", started, {100},
            fmt::format(R"(,"latency_us":{{"transit":{{"count":100,"p50":50000,"p90":90000,)"
                        R"("p99":99000,"max":100000{}}}}})",
                        buckets)));
        const auto got = report::read_relay_records({sender.path(), receiver.path()});
        REQUIRE(got.has_value());
        return *got;
    };
    const std::string buckets = R"(,"buckets":")" + times.encode() + "\"";
    const report::relay_report all = told(100, buckets);
    CHECK(all.transit->p50 == std::chrono::milliseconds{50});
    CHECK_THAT(test::printed_of({all, std::nullopt}).text, !Contains("not reached"));
    // Half is missing: the median is the slowest that came, and p90 lies among what did not.
    const report::relay_report half = told(200, buckets);
    CHECK(report::us(half.transit->p50).value() == Approx(100'000).epsilon(0.01));
    CHECK_FALSE(half.transit->p90);
    CHECK_THAT(test::printed_of({half, std::nullopt}).text, Contains("not reached"));
    CHECK_THAT(test::printed_of({half, std::nullopt}).csv, Contains(",100,"));
    CHECK(report::us(told(125, buckets).transit->p50).value() == Approx(63'000).epsilon(0.02));
    // Without the distribution nobody knows which they are.
    CHECK_FALSE(told(125, "").transit->p50);
}

TEST_CASE("relay report: whose clocks transit compares") {
    const struct {
        const char* sender;
        const char* receiver;
        const char* said;
        const char* reason;
    } table[]{
        {R"("name":"one","boot_id":"x")", R"("name":"two","boot_id":"x")",
         "to its receipt, by the clock of one host", "two containers"},
        {R"("name":"one","boot_id":"x")",
         R"("name":"one","boot_id":"y","clock":{"synchronised":false,"estimated_error_us":1})",
         "two hosts, one and one: ", "two of the same name"},
        {R"("name":"one","boot_id":"x","clock":{"synchronised":false})",
         R"("name":"two","boot_id":"y","clock":{"synchronised":true,"estimated_error_us":200,"most_error_us":3000})",
         "that of one was not synchronised, that of two was synchronised (estimated error 200 µs, "
         "at most 3.00 ms)",
         "what the kernels said"},
        {R"("name":"one","boot_id":"x")", R"("name":"two")",
         "of that of one nothing is known, of that of two nothing is known", "an older record"},
    };
    for (const auto& [sender, receiver, said, reason] : table) {
        INFO(reason);
        const auto host = [](const char* of) { return fmt::format(R"(,"host":{{{}}})", of); };
        const test::temporary_file sent(record_text("postal", started, {10}, host(sender)));
        const test::temporary_file seen(
            record_text("bhm", started, {10},
                        host(receiver) + R"(,"latency_us":{"transit":{"count":10,"p50":251000}})"));
        const auto got = report::read_relay_records({sent.path(), seen.path()});
        REQUIRE(got.has_value());
        CHECK_THAT(test::printed_of({*got, std::nullopt}).markdown, Contains(said));
    }
}

TEST_CASE("relay report: records that do not fit are refused in one line") {
    const test::temporary_file sender(record_text("postal", started, {10}));
    const test::temporary_file reader(record_text("rabid", started, {10}));
    const test::temporary_file timeless(record_text("bhm", "today", {10}));
    const test::temporary_file zoneless(record_text("bhm", "2026-01-01T00:00:00", {10}));
    const test::temporary_file empty(record_text("bhm", started, {}));
    CHECK_THAT(refusal({sender.path(), reader.path()}),
               Contains("is a record of rabid; --relay takes one of postal and one of bhm"));
    CHECK_THAT(refusal({sender.path(), sender.path()}), Contains("is a second record of postal"));
    CHECK_THAT(refusal({sender.path(), timeless.path()}), Contains("started is \"today\""));
    CHECK_THAT(refusal({sender.path(), zoneless.path()}), Contains("--relay needs a time such as"));
    CHECK_THAT(refusal({sender.path(), empty.path()}), Contains("has no intervals"));
    CHECK_THAT(refusal({sender.path(), "/nonexistent/x"}), Contains("/nonexistent/x"));
}

TEST_CASE("relay report: no text breaks out of its place") {
    const report::shown_relay shown = hostile();
    const test::printed printed = test::printed_of(shown);
    for (const std::string& text : {printed.text, printed.markdown, printed.csv}) {
        CHECK(test::harm_in(text) == "");
        CHECK(text.ends_with('\n'));
    }
    CHECK(test::harm_in_page(printed.markdown) == "");
    const std::string& page = printed.page;
    CHECK(test::harm_in_page(page) == "");
    CHECK(page.find("@FOOTNOTE@") == std::string::npos);
    CHECK(page.find("chart-part-1") != std::string::npos);
    const json data = json::parse(report::relay_chart_data(shown));
    CHECK(data["parts"].size() == 2);
    CHECK(data["tails"].size() == 6);
    CHECK(data["series"][0]["course"].size() == 1);
    CHECK(data["series"][0]["course"][0] == json{0, 1, 60, 60, 0});
}

TEST_CASE(
    "relay report: a page has the domains with most trouble first, text those with most mail") {
    report::relay_report made;
    made.from_ledger = true;
    made.domains = {"well", "slow", "owes"};
    for (const auto& [name, owed, area_s] : {std::tuple{"all mail", 1, 9.0},
                                             {"well", 0, 1.0},
                                             {"slow", 0, 8.0},
                                             {"owes", 1, 0.0},
                                             {"other domains", 5, 9.0}}) {
        report::relay_part part;
        part.name = name;
        part.counts.accepted = 10;
        part.counts.still_owed = static_cast<std::uint64_t>(owed);
        part.backlog.area_s = area_s;
        if (part.name == "all mail")
            made.parts.front() = part;
        else
            made.parts.push_back(part);
    }
    const auto order = [&](report::medium wanted) {
        std::string names;
        for (const report::block& each :
             document_of(report::shown_relay{made, {}}, wanted).blocks) {
            const auto* shown = std::get_if<report::placed_table>(&each);
            if (shown == nullptr || shown->shown.name != "messages") continue;
            for (const auto& row : shown->shown.rows)
                names += row.front() + ";";
        }
        return names;
    };
    CHECK(order(report::medium::page) == "all mail;owes;slow;well;other domains;");
    CHECK(order(report::medium::text) == "all mail;well;slow;owes;other domains;");
}

TEST_CASE("relay report: what did not arrive is above all that did") {
    report::relay_flow flow;
    for (int each = 0; each < 1000; ++each) {
        report::relayed_message one;
        one.accepted_us = 1'790'000'000'000'000 + each * 1000;
        one.end = report::relay_end::still_owed;
        if (each % 20 != 0) {
            one.end = report::relay_end::delivered;
            one.delivered_us = *one.accepted_us + 250'000;
            one.sent_us = *one.accepted_us;
        }
        flow.add(one);
    }
    report::relay_report made;
    made.source = "x.ledger";
    made.from_ledger = true;
    made.parts.front().name = "all mail";
    made.parts.front().counts = flow.counts();
    made.parts.front().curve = flow.curve_in(flow);
    made.parts.front().backlog = measure_backlog(made.parts.front().curve);
    made.parts.front().drain_s = flow.drain_s();
    made.parts.front().transit = flow.transit();
    const std::string text = test::printed_of(report::shown_relay{made, std::nullopt}).text;
    CHECK_THAT(text, Contains("1,000 messages accepted by the relay, 950 delivered"));
    CHECK_THAT(text, Contains("50 left"));
    CHECK_THAT(text, Contains("not reached"));
    CHECK_THAT(text, Contains("250 ms"));
}

TEST_CASE("relay report: options that mean nothing together are refused") {
    const std::pair<std::vector<std::string>, const char*> rows[]{
        {{"--relay"}, "there are 0"},
        {{"--relay", "a.json"}, "there is 1"},
        {{"--relay", "a.json", "b.json", "c.json"}, "there are 3"},
        {{"--ledger", "x", "--csv", "--ranks"}, "--ranks: is for"},
        {{"--relay", "--ledger", "x", "--list", "lost"}, "is not for --relay"},
        {{"--relay", "--against", "y", "a.json", "b.json"}, "compares ledgers"},
        {{"--ledger", "x", "--against", "y"}, "give --relay too"},
        {{"--ledger", "x", "--list", "lost", "--html", "y"}, "is not for --list"}};
    for (const auto& [words, wanted] : rows) {
        report::options into;
        const auto got = report::parse_options(into, words);
        REQUIRE(got.has_error());
        CHECK_THAT(got.error().message, Contains(wanted));
    }
    report::options into;
    CHECK(report::parse_options(into, {"--relay", "--ledger", "x", "--html", "y"}).has_value());
    CHECK(report::parse_options(into, {"--relay", "--ledger", "x"}).has_value());
    CHECK(report::parse_options(into, {"--ledger", "x", "--html", "y"}).has_value());
    report::options several;
    CHECK(report::parse_options(several, {"--relay", "--ledger", "x", "y"}).has_value());
    CHECK(several.ledgers() == std::vector<std::string>{"x", "y"});
}
