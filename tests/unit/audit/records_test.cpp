// SPDX-License-Identifier: GPL-3.0-or-later
// The records of experiments and audits, their journal and costs: that they are written as ever,
// that nothing is lost between writing and reading, and that what somebody else wrote is refused by
// its key.
#include "audit/record_fields.hpp"
#include "base/text.hpp"
#include "experiment/analysis.hpp"
#include "os/process.hpp"
#include "stats/json_fields.hpp"
#include "stats/json_writer.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

#include "../experiment/support.hpp"
#include "../stats/record_filler.hpp"
#include "../stats/record_property.hpp"

using namespace postal;
using namespace postal::audit;
using namespace postal::experiment;
using namespace std::chrono_literals;
using stats::test::filled;

namespace {

// Written by a version before the lists of fields; readers of others' own know them.
std::string golden(const char* name) {
    return test::read(std::string(POSTAL_SOURCES "/tests/unit/experiment/golden/") + name);
}

// That of golden/experiment.json: an A/A pair was told apart, and one block stands apart.
analysis golden_analysis() {
    using stats::comparison_verdict;
    stats::comparison undecided;
    undecided.variant = 1;
    undecided.blocks = 10;
    undecided.voided = 1;
    undecided.level = 0.95;
    undecided.ratio = 1.25;
    undecided.interval = {0.75, 1.0 / 3};
    undecided.probability = 1e-12;
    undecided.smallest_detectable = 2.5;
    undecided.blocks_as_seen = 41;
    undecided.needed_blocks = 1001;
    undecided.blocks_for_width = 618;
    undecided.flipped = stats::sign_flip_test{.probability = 0.125};
    undecided.without = stats::without_outliers{{1}, 1.5, {1.0, 2.0}, comparison_verdict::slower};
    undecided.verdict = comparison_verdict::undecided;
    stats::comparison same;
    same.variant = 2;
    same.left_out = 1;
    same.verdict = comparison_verdict::faster;
    same.few = true;
    metric_result one;
    one.about = metric::p99;
    one.typical = {1.5, std::nullopt, std::nan("")};
    one.table.carries_verdict = true;
    one.table.blocks = {{{1.0, 0.1, std::nullopt}}, {{2.0, 1e300, 3.0}, true}};
    one.compared = {{undecided}, same, true};
    metric_result other = one;
    other.compared = {{undecided}, std::nullopt, false};
    analysis all;
    all.blocks = {{1, 3, ""}, {2, 3, "a: postal: no message came through"}};
    all.metrics = {one, other};
    all.drift = stats::drift{-0.0625, {-0.5, 0.5}};
    all.flush_median_s = 1.25e-7;
    return all;
}

// With what must fit together.
experiment_record filled_experiment(unsigned seed, unsigned percent = 75) {
    auto made = filled<experiment_record>(seed, percent);
    made.verdict.program = 1;
    made.verdict.margin = 0.125;
    made.verdict.confidence = 0.75;
    made.variants[0].same_as.reset();
    for (std::string& one : made.gates)
        one = "rate>-5%";
    for (kept_result& one : made.kept) {
        one.values.assign(made.gates.size(), {made.variants.size(), 1.5});
        one.never.assign(made.gates.size(), {made.variants.size() - 1});
    }
    if (made.variants[1].same_as) made.variants[1].same_as = 0;
    for (std::size_t i = 0; i < made.runs.size(); ++i)
        made.runs[i].at.variant = i;
    return made;
}

audit_record filled_audit(unsigned seed, unsigned percent = 75) {
    auto made = filled<audit_record>(seed, percent);
    made.torn_percent = seed;
    for (audited_variant& variant : made.variants) {
        for (audited_image& one : variant.images) {
            one.at_risk += one.survived += one.torn;
            one.acknowledged +=
                one.found + one.lost + one.misplaced + one.duplicated + one.truncated + one.changed;
        }
    }
    return made;
}

std::string text_of(const experiment_record& record) {
    analysis none;
    none.metrics.resize(1);
    return record_text(record, none);
}

template <class Read>
std::string refusal(const base::expected<Read>& read) {
    return read ? std::string{} : read.error().message;
}
std::string refusal_of_experiment(const std::string& text) {
    return refusal(parse_experiment_record(text));
}
std::string refusal_of_audit(const std::string& text) {
    return refusal(parse_audit_record(text));
}

// A record that has `value` there is refused, since that is not what it ought to be.
struct harm {
    std::string path;  // "runs/0/state"
    const char* value;
    const char* wanted;
};
void check_refused(const std::string& text, const std::vector<harm>& table,
                   std::string (*refusal_of)(const std::string& text)) {
    const auto good = stats::json::parse(text);
    REQUIRE(refusal_of(good.dump()) == "");
    for (const auto& [path, value, wanted] : table) {
        auto bad = good;
        bad[stats::json::json_pointer("/" + path)] = stats::json::parse(value);
        std::string place;
        for (const std::string_view step : base::split(path, '/'))
            place +=
                std::isdigit(step[0]) != 0 ? fmt::format("[{}]", step) : fmt::format(".{}", step);
        CHECK(refusal_of(bad.dump()) == place.substr(1) + " is not " + wanted);
    }
    CHECK(refusal_of(std::string(100000, '[')) ==
          "is no JSON: nests more than 64 lists and objects");
    for (const char* const other : {"[]", "null"})
        CHECK(refusal_of(other) == "is not a JSON object");
    for (const std::string& broken :
         {std::string(), std::string("{\"schema\":NaN}"), text.substr(0, 500)}) {
        CHECK(refusal_of(broken).starts_with("is no JSON: parse error at line"));
        CHECK(refusal_of(broken).find('\n') == std::string::npos);
    }
}

}  // namespace

TEST_CASE("records: written as ever") {
    const std::string whole = golden("experiment.json");
    CHECK(record_text(parse_experiment_record(whole).value(), golden_analysis()) == whole);
    CHECK(audit_text(parse_audit_record(golden("audit.json")).value()) == golden("audit.json"));
    CHECK(to_json(from_json(golden("costs.json")).value()) == golden("costs.json"));
    const test::folder here;
    auto to = test::open_journal(here.path());
    for (const undo_entry& one :
         {undo_entry{.kind = undo_kind::mount, .path = "/a b", .device = "/dev/loop0"},
          undo_entry{.kind = undo_kind::command,
          .words = {"rm", "", "\"x\"\n", "\xc3\xa9"},
          .where = "mail.toml:7\xff",
          .log = "/out/log",
          .limit = 1501ms},
          undo_entry{.kind = undo_kind::process, .pid = 12, .started = 99}})
        REQUIRE(to.announce(one).has_value());
    REQUIRE(to.strike_out(1).has_value());
    REQUIRE(to.note_making("/dev/sdb").has_value());
    REQUIRE(to.note_made("/dev/sdb", "1-2").has_value());
    std::string text = test::read(here / "journal.jsonl");
    for (auto at = text.find(os::boot_id()); at != text.npos; at = text.find(os::boot_id()))
        text.replace(at, os::boot_id().size(), "BOOT");
    CHECK(text == golden("journal.jsonl"));
}

TEST_CASE("records: what is written is what is read, whatever is known") {
    for (unsigned seed = 0; seed < 12; ++seed) {
        const std::string text = text_of(filled_experiment(seed));
        REQUIRE(refusal_of_experiment(text) == "");
        CHECK(text_of(*parse_experiment_record(text)) == text);
        const std::string audited = audit_text(filled_audit(seed));
        REQUIRE(refusal_of_audit(audited) == "");
        CHECK(audit_text(*parse_audit_record(audited)) == audited);
        const test::folder here;
        auto undone = filled<undo_entry>(seed);
        REQUIRE(test::open_journal(here.path()).announce(undone).has_value());
        undone.number = 1;
        undone.boot = os::boot_id();
        CHECK(test::open_journal(here.path()).left() == std::vector{undone});
    }
}

TEST_CASE("records: each member of another type, null or absent") {
    auto text = stats::json::parse(text_of(filled_experiment(1, 100)));
    text.erase("analysis");  // is not read
    stats::test::check_members(
        text.dump(),
        {"verdict", "verdict.metric", "programs", "variants", "variants[0].values.one",
         "variants[0].values.another", "versions.one", "versions.another", "runs[0].state", "gates",
         "kept[0].values"},
        refusal_of_experiment);
    const std::string image = "variants[0].images[0].";
    stats::test::check_members(
        audit_text(filled_audit(1, 100)),
        {"variants", "versions.one", "versions.another", "settings[0].values.one",
         "settings[0].values.another", "variants[0].control", image + "survival", image + "at_risk",
         image + "survived", image + "acknowledged"},
        refusal_of_audit);
    stats::json_writer line(-1);
    fields<stats::json_writer>(line, filled<undo_entry>(1));
    stats::test::check_members(line.take(), {"undo", "kind"}, [](const std::string& one) {
        return refusal(parse_journal("{\"journal\":\"postal-journal/1\"}\n" + one + "\n", "j"));
    });
}

TEST_CASE("records: what is no record of an experiment is refused, with its key") {
    const char* const below = "a path below the record's folder";
    const char* const metrics =
        "one of messages, p50, p99, cpu, written, flushes, capacity, announced_p50, "
        "announced_p99, server_cpu, server_wakeups, idle_cpu, idle_memory, "
        "idle_descriptors";
    check_refused(text_of(filled_experiment(1, 100)),
                  {
                      {"schema", "\"postal-record/1\"", "postal-experiment/1"},
                      {"schema", "1", "a text"},
                      {"schema", "null", "postal-experiment/1"},
                      {"seed", "-1", "a whole number, 0 or more"},
                      {"variants", "[]", "a list of at least one variant"},
                      {"variants/0/same_as", "0", "the index of an earlier variant"},
                      {"variants/1/same_as", "1", "the index of an earlier variant"},
                      {"verdict/metric", "\"joy\"", metrics},
                      {"verdict/program", "2", "the index of a program"},
                      {"verdict/margin", "0", "between 0 and 1"},
                      {"verdict/margin", "1", "between 0 and 1"},
                      {"verdict/confidence", "1.5", "from 0.5 to 0.9999"},
                      {"runs/1/variant", "2", "the index of a variant"},
                      {"runs/0/state", "\"fine\"", "one of complete, failed, interrupted"},
                      {"runs/0/loads/0/path", "\"/etc/passwd\"", below},
                      {"runs/0/loads/0/path", "\"../x\"", below},
                      {"runs/0/loads/0/path", "\"runs//x\"", below},
                      {"runs/0/loads/0/path", "\"runs/./x\"", below},
                      {"runs/0/loads/1/path", "\"runs/../../x\"", below},
                      {"runs/0/costs/path", "\"runs/..\"", below},
                      {"runs/0/costs/path", "\"runs/./b01/costs.json\"", below},
                  },
                  refusal_of_experiment);
    auto hostile = filled_experiment(1, 100);
    hostile.runs[0].loads[0].path = "runs/b01-1-a..b/postal.json";
    CHECK(refusal_of_experiment(text_of(hostile)) == "");
    auto text = stats::json::parse(text_of(hostile));
    text["versions"]["\n"] = 1;
    CHECK(refusal_of_experiment(text.dump()) == "versions.\\n is not a text");
}

TEST_CASE("records: what is no record of an audit is refused, with its key") {
    const std::string image = "variants/0/images/1/";
    const char* const most = "18446744073709551615";
    check_refused(audit_text(filled_audit(1, 100)),
                  {
                      {"schema", "\"postal-experiment/1\"", "postal-audit/1"},
                      {"torn_percent", "101", "at most 100"},
                      {"order", "\"any\"", "one of log, random"},
                      {"variants", "[]", "a list of at least one variant"},
                      {"variants/1/control", "\"maybe\"", "one of no, must_lose, must_keep"},
                      {"variants/1/control", "null", "there"},
                      {image + "survival", "\"most\"", "one of none, all, some"},
                      {image + "at_s", "-0.5", "a number, 0 or more"},
                      {image + "survived", most, "a part of at_risk"},
                      {image + "torn", most, "a part of survived"},
                      {image + "found", most, "a part of acknowledged"},
                      {image + "lost", most, "a part of acknowledged"},
                      {image + "misplaced", most, "a part of acknowledged"},
                      {image + "duplicated", most, "a part of acknowledged"},
                      {image + "truncated", most, "a part of acknowledged"},
                      {image + "changed", most, "a part of acknowledged"},
                      {"variants/0/images/1", "7", "an object"},
                  },
                  refusal_of_audit);
}
