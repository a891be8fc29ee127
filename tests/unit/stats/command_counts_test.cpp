// SPDX-License-Identifier: GPL-3.0-or-later
// Commands and actions counted, merged, written into a record and read back.
#include "stats/command_counts.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "stats/run_report.hpp"
#include "support.hpp"

using namespace postal::stats;
using namespace std::chrono_literals;

namespace {

enum kind : std::size_t { fetch = 1, store };
enum verb : std::size_t { read_one, mark };

void check_sums(const command_count& of) {
    CHECK(of.sent == of.ok + of.no + of.bad + of.unanswered);
}

// 3 FETCH with OK, a STORE with NO and one with BAD, a FETCH that nobody answered; 2 actions done,
// one refused, one without work.
tally one_tally() {
    tally made(2);
    for (int i = 0; i < 3; ++i)
        made.commands.add(fetch, command_end::ok);
    made.commands.add(store, command_end::no);
    made.commands.add(store, command_end::bad);
    made.commands.add(fetch, command_end::unanswered);
    made.actions.add(read_one, action_end::ok, 2ms);
    made.actions.add(read_one, action_end::ok, 4ms);
    made.actions.add(mark, action_end::refused, 1ms);
    made.actions.add(mark, action_end::nothing, 0ms);
    return made;
}

run_description reader() {
    auto run = test::description();
    run.program = "rabid";
    run.commands = {"", "FETCH", "STORE", "IDLE"};
    run.profile = wanted_profile{"mine", 2, 4, {}};
    run.profile->actions = {{"read-one", 3, 0, 0}, {"mark", 1, 1, 0}, {"idle", 0, 0, 2}, {"noop"}};
    return run;
}

}  // namespace

TEST_CASE("command counts: what is sent is what was answered in some way and what was not") {
    const tally made = one_tally();
    for (const command_count& one : made.commands.kinds)
        check_sums(one);
    const command_count total = made.commands.total();
    check_sums(total);
    CHECK(total.sent == 6);
    CHECK(made.commands.kinds[fetch].sent == 4);
    CHECK(made.commands.kinds[fetch].unanswered == 1);
    CHECK(made.commands.kinds[store].no == 1);
    CHECK(made.commands.kinds[store].bad == 1);
}

TEST_CASE("command counts: what is out of range is not counted") {
    command_counts commands;
    commands.add(command_counts::most_kinds, command_end::ok);
    CHECK(commands.total().sent == 0);
    action_counts actions;
    actions.add(action_counts::most_verbs, action_end::ok, 1ms);
    CHECK(actions.verbs.empty());
}

TEST_CASE("command counts: a tally merges and clears them with the rest") {
    tally all(2);
    const tally one = one_tally();
    all.merge(one);
    all.merge(one);
    CHECK(all.commands.total().sent == 12);
    CHECK(all.commands.kinds[fetch].ok == 6);
    REQUIRE(all.actions.verbs.size() == 2);
    CHECK(all.actions.verbs[read_one].begun == 4);
    CHECK(all.actions.verbs[read_one].time->count() == 4);
    CHECK(all.actions.verbs[mark].refused == 2);
    CHECK(all.actions.verbs[mark].nothing == 2);
    CHECK(all.actions.verbs[read_one].by_size[0]->count() == 4);
    CHECK_FALSE(all.actions.verbs[mark].time.has_value());  // only what ended well has a time
    all.clear();
    CHECK(all.commands.total().sent == 0);
    CHECK(all.actions.verbs[read_one].begun == 0);
    CHECK(all.actions.verbs[read_one].time->empty());
}

TEST_CASE("command counts: a record has those that were sent, wanted or begun") {
    run_report report(reader());
    time_slice part = test::counted(0, 60, 5);
    part.counts.merge(one_tally());
    report.add_time_slice(part);
    report.finish({.duration_s = 60});
    const run_record record = report.record();
    REQUIRE(record.commands.has_value());
    CHECK(record.commands->sent == 6);
    REQUIRE(record.commands->by_kind.size() == 2);  // no IDLE was sent
    CHECK(record.commands->by_kind[0].name == "FETCH");
    CHECK(record.commands->by_kind[0].ok == 3);
    REQUIRE(record.profile.has_value());
    CHECK(record.profile->name == "mine");
    CHECK(record.profile->begun == 4);
    CHECK(record.profile->refused == 1);
    REQUIRE(record.profile->verbs.size() == 3);  // noop is neither wanted nor done
    CHECK(record.profile->verbs[0].verb == "read-one");
    CHECK(record.profile->verbs[0].weight == 3);
    CHECK(record.profile->verbs[0].latency.max == std::chrono::milliseconds(4));
    CHECK_FALSE(record.profile->verbs[1].latency.max.has_value());
    CHECK(record.profile->verbs[2].begun == 0);
    CHECK(record.profile->verbs[2].last == 2);
}

TEST_CASE("command counts: without kinds and a profile a record has neither") {
    const run_record record = run_report(test::description()).record();
    CHECK_FALSE(record.commands.has_value());
    CHECK_FALSE(record.profile.has_value());
}

TEST_CASE("action_counts: times by the size of the mailbox, a class for each power of ten") {
    const std::vector<std::pair<std::uint64_t, std::size_t>> sizes{
        {0, 0},       {1, 1},         {9, 1},          {10, 2},
        {99, 2},      {100, 3},       {9'999, 4},      {10'000, 5},
        {999'999, 6}, {1'000'000, 7}, {10'000'000, 7}, {~std::uint64_t{0}, 7}};
    for (const auto& [messages, wanted] : sizes) {
        CAPTURE(messages);
        CHECK(size_class_of(messages) == wanted);
        CHECK(least_of_size_class(wanted) <= messages);
    }
    CHECK(least_of_size_class(0) == 0);
    CHECK(least_of_size_class(1) == 1);
    CHECK(least_of_size_class(7) == 1'000'000);
    action_counts some;
    some.add(3, action_end::ok, std::chrono::milliseconds(1), 50);
    some.add(3, action_end::ok, std::chrono::milliseconds(9), 5'000);
    some.add(3, action_end::refused, std::chrono::milliseconds(9), 5'000);
    action_counts all = some;
    all.merge(some);
    CHECK(all.verbs[3].by_size[2]->count() == 2);
    CHECK(all.verbs[3].by_size[4]->count() == 2);
    CHECK_FALSE(all.verbs[3].by_size[3].has_value());
    all.clear();
    CHECK(all.verbs[3].by_size[4]->count() == 0);
}
