// SPDX-License-Identifier: GPL-3.0-or-later
// Processes that come, work and go: each tick counts once.
#include "testbed/process_accounts.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace postal;

namespace {

struct living {
    pid_t pid = 0;
    const char* name = "";
    pid_t parent = 0;
    std::uint64_t user = 0;
    std::uint64_t children = 0;
    std::optional<std::uint64_t> written = 0;
    std::uint64_t start = 1;
};

std::vector<testbed::process_reading> readings(const std::vector<living>& processes) {
    std::vector<testbed::process_reading> to;
    for (const living& one : processes) {
        testbed::process_reading& reading = to.emplace_back();
        reading.stat = {one.pid, one.name, one.parent, one.user, 0, one.children, one.start};
        if (one.written) reading.io = os::process_io{0, *one.written};
    }
    return to;
}

constexpr std::uint64_t tick_ns = 10'000'000;

std::uint64_t ticks(const testbed::process_accounts& accounts) {
    std::uint64_t sum = 0;
    for (const auto& [name, used] : accounts.programs())
        sum += used.cpu_ns;
    CHECK(sum % tick_ns == 0);
    return sum / tick_ns;
}

std::uint64_t written(const testbed::process_accounts& accounts) {
    std::uint64_t sum = 0;
    for (const auto& [name, used] : accounts.programs())
        sum += used.written;
    return sum;
}

constexpr pid_t master = 10;
constexpr pid_t worker = 20;
constexpr pid_t agent = 30;

}  // namespace

TEST_CASE("process accounts: each look's sum is what was used, and none is counted twice") {
    struct look {
        std::vector<living> alive;
        std::uint64_t ticks;
        std::uint64_t written;
    };
    struct row {
        const char* reason;
        std::vector<look> looks;
    };
    const living idle{.pid = master, .name = "master"};
    const std::vector<row> table{
        {"what the living use",
         {{{{master, "master", 1, 5, 0, 100}, {worker, "worker", master, 7, 0, 30}}, 12, 130},
          {{{master, "master", 1, 6, 0, 100}, {worker, "worker", master, 9, 0, 50}}, 15, 150}}},
        {"one that was never seen is in its parent's children",
         {{{{master, "master", 1, 0, 50, 4096}}, 50, 4096},
          {{{master, "master", 1, 0, 90, 8192}}, 90, 8192}}},
        {"one that was seen, used some more, ended, and was waited for",
         {{{idle, {worker, "worker", master, 40, 0, 1000}}, 40, 1000},
          {{{master, "master", 1, 0, 45, 1100}}, 45, 1100},
          {{{master, "master", 1, 0, 47, 1100}}, 47, 1100}}},
        {"ended and not waited for it stays where it is",
         {{{idle, {worker, "worker", master, 40, 0, 1000}}, 40, 1000},
          {{idle, {worker, "worker", master, 41, 0, 1000}}, 41, 1000},
          {{{master, "master", 1, 0, 41, 1000}}, 41, 1000}}},
        {"waited for after its parent was read",
         {{{idle, {worker, "worker", master, 40, 0, 1000}}, 40, 1000},
          {{idle}, 40, 1000},
          {{{master, "master", 1, 0, 45, 1100}}, 45, 1100}}},
        {"the same, while others that were never seen end: made good at the next look",
         {{{idle, {worker, "worker", master, 40, 0, 0}}, 40, 0},
          {{{master, "master", 1, 0, 10, 0}}, 40, 0},
          {{{master, "master", 1, 0, 55, 0}}, 55, 0}}},
        {"a parent that ignores the end of its children: what was seen is kept, and two ticks of "
         "it may not be shown yet",
         {{{idle, {worker, "worker", master, 40, 0, 0}}, 40, 0},
          {{idle}, 40, 0},
          {{idle}, 40, 0},
          {{{master, "master", 1, 3, 7, 0}}, 48, 0},
          {{{master, "master", 1, 3, 9, 0}}, 50, 0}}},
        {"parent and child end at once, each waited for by its parent",
         {{{idle, {worker, "worker", master, 10, 0, 0}, {agent, "agent", worker, 20, 0, 0}}, 30, 0},
          {{{master, "master", 1, 0, 34, 0}}, 34, 0}}},
        {"parent and child end one after the other, between looks",
         {{{idle, {worker, "worker", master, 10, 0, 0}, {agent, "agent", worker, 20, 0, 0}}, 30, 0},
          {{idle, {worker, "worker", master, 11, 0, 0}}, 31, 0},
          {{{master, "master", 1, 0, 33, 0}}, 33, 0}}},
        {"a child that the master adopts and waits for",
         {{{idle, {worker, "worker", master, 10, 0, 0}, {agent, "agent", worker, 20, 0, 0}}, 30, 0},
          {{{master, "master", 1, 0, 10, 0}, {agent, "agent", master, 21, 0, 0}}, 31, 0},
          {{{master, "master", 1, 0, 33, 0}}, 33, 0}}},
        {"a child that init adopts and waits for",
         {{{idle, {worker, "worker", master, 10, 0, 0}, {agent, "agent", worker, 20, 0, 0}}, 30, 0},
          {{{master, "master", 1, 0, 10, 0}, {agent, "agent", 1, 21, 0, 0}}, 31, 0},
          {{{master, "master", 1, 0, 10, 0}}, 31, 0},
          {{{master, "master", 1, 0, 10, 0}}, 31, 0},
          {{{master, "master", 1, 0, 16, 0}}, 37, 0}}},
        {"all are gone: what was seen is kept",
         {{{idle, {worker, "worker", master, 10, 0, 9}}, 10, 9}, {{}, 10, 9}, {{}, 10, 9}}},
        {"another process gets the id",
         {{{idle, {worker, "worker", master, 40, 0, 500}}, 40, 500},
          {{{master, "master", 1, 0, 40, 500}, {worker, "new", master, 3, 0, 20, 2}}, 43, 520}}},
        {"a counter of the kernel's goes back",
         {{{{master, "master", 1, 9, 9, 9}}, 18, 9},
          {{{master, "master", 1, 8, 8, 8}}, 18, 9},
          {{{master, "master", 1, 10, 8, 8}}, 20, 9}}},
    };
    for (const row& one : table) {
        INFO(one.reason);
        testbed::process_accounts accounts;
        std::uint64_t before = 0;
        for (std::size_t at = 0; at < one.looks.size(); ++at) {
            INFO("look " << at);
            accounts.look(readings(one.looks[at].alive));
            CHECK(ticks(accounts) == one.looks[at].ticks);
            CHECK(written(accounts) == one.looks[at].written);
            CHECK(ticks(accounts) >= before);
            before = ticks(accounts);
        }
    }
}

TEST_CASE("process accounts: what was used before the counting began is never counted") {
    testbed::process_accounts accounts;
    accounts.begin(readings({{master, "master", 1, 1000, 500, 9}, {worker, "worker", master, 70}}));
    CHECK(ticks(accounts) == 0);
    CHECK(accounts.programs().contains("worker"));
    accounts.look(readings({{master, "master", 1, 1002, 500, 9}, {worker, "worker", master, 71}}));
    CHECK(ticks(accounts) == 3);
    CHECK(written(accounts) == 0);
    // The worker's 73 ticks are its parent's now.
    accounts.look(readings({{master, "master", 1, 1002, 573, 19}}));
    CHECK(ticks(accounts) == 5);
    CHECK(written(accounts) == 10);
    accounts.begin(readings({{master, "master", 1, 2000, 573, 19}}));  // is known already
    accounts.look(readings({{master, "master", 1, 2000, 573, 19}}));
    CHECK(ticks(accounts) == 1003);
}

TEST_CASE("process accounts: by the name that a program has when it works") {
    testbed::process_accounts accounts;
    accounts.look(readings({{master, "master", 1, 2, 3}, {agent, "sh", master, 1}}));
    accounts.look(readings({{master, "master", 1, 2, 3}, {agent, "lda", master, 5}}));
    const auto& programs = accounts.programs();
    CHECK(programs.at("master").user == 2);
    CHECK(programs.at("master").children_ns == 3 * tick_ns);
    CHECK(programs.at("sh").user == 1);
    CHECK(programs.at("lda").user == 4);
}

TEST_CASE("process accounts: children that each use less than a tick are counted once") {
    // As the kernel does: what children used adds up in nanoseconds, of user and system apart, and
    // is shown in whole ticks.
    testbed::process_accounts accounts;
    constexpr std::uint64_t each_ns = 3'700'000;
    constexpr int children = 1000;
    testbed::process_reading parent;
    parent.stat = {master, "master", 1, 0, 0, 0, 1};
    parent.cpu_ns = 0;
    std::uint64_t user = 0;
    std::uint64_t system = 0;
    for (int at = 0; at < children; ++at) {
        testbed::process_reading child;
        child.stat = {worker, "worker", master, 0, 0, 0, static_cast<std::uint64_t>(at)};
        child.cpu_ns = each_ns;
        accounts.look({parent, child});
        // Waited for right behind one look, or behind the next.
        if (at % 2 == 1) accounts.look({parent});
        user += each_ns / 4;
        system += each_ns - each_ns / 4;
        parent.stat.children = user / tick_ns + system / tick_ns;
        accounts.look({parent});
        // And nothing for a while: what was owed is not dropped, as it is only hidden.
        for (int more = 0; more < 3; ++more)
            accounts.look({parent});
    }
    std::uint64_t sum = 0;
    for (const auto& [name, used] : accounts.programs())
        sum += used.cpu_ns;
    CHECK(sum == children * each_ns);
    CHECK(accounts.programs().at("master").children_ns == 0);
}

TEST_CASE("process accounts: in nanoseconds where they are known, and never back") {
    struct row {
        const char* reason;
        std::vector<std::pair<std::optional<std::uint64_t>, std::uint64_t>> looks;  // ns, ticks
        std::uint64_t sum_ns;
    };
    const std::vector<row> table{
        {"less than a tick", {{1'234'567, 0}, {1'234'570, 0}}, 1'234'570},
        {"never in nanoseconds", {{std::nullopt, 2}, {std::nullopt, 3}}, 3 * tick_ns},
        {"not in one look", {{25'000'000, 2}, {std::nullopt, 3}, {36'000'000, 3}}, 36'000'000},
        {"only later", {{std::nullopt, 2}, {25'000'000, 2}}, 25'000'000},
    };
    for (const row& one : table) {
        INFO(one.reason);
        testbed::process_accounts accounts;
        for (const auto& [ns, ticks] : one.looks) {
            testbed::process_reading now;
            now.stat = {master, "master", 1, ticks, 0, 0, 1};
            now.cpu_ns = ns;
            accounts.look({now});
        }
        CHECK(accounts.programs().at("master").cpu_ns == one.sum_ns);
    }
}

TEST_CASE("process accounts: I/O that may not be seen is not known for that program only") {
    testbed::process_accounts accounts;
    accounts.look(readings({{master, "master", 1, 0, 0, 5},
                            {worker, "worker", master, 0, 0, 5},
                            {agent, "worker", master, 1, 0, std::nullopt}}));
    CHECK(accounts.programs().at("master").io_known);
    CHECK_FALSE(accounts.programs().at("worker").io_known);
    // It is gone, and the others are known as before.
    accounts.look(readings({{master, "master", 1, 0, 0, 5}, {worker, "worker", master, 0, 0, 9}}));
    CHECK(accounts.programs().at("worker").io_known);
    CHECK(accounts.programs().at("worker").written == 9);
}

TEST_CASE("process accounts: what cannot be read once keeps its last value") {
    testbed::process_accounts accounts;
    accounts.begin(readings({{master, "master", 1, 0, 0, 100}}));
    std::vector<testbed::process_reading> alive =
        readings({{master, "master", 1, 0, 0, 150}, {worker, "worker", master, 0, 0, 7}});
    alive[0].wakeups = 1000;
    alive[1].wakeups = 30;
    alive[0].memory = alive[1].memory = 4096;
    alive[0].descriptors = 9;
    accounts.look(alive, testbed::closeness::thorough);
    const auto& programs = accounts.programs();
    // What the master did before it was watched does not count; what the worker did all does.
    CHECK(programs.at("master").wakeups == 0);
    CHECK(programs.at("worker").wakeups == 30);
    CHECK(programs.at("master").written == 50);
    CHECK(programs.at("worker").memory == 4096);
    CHECK(programs.at("master").descriptors_known);
    CHECK_FALSE(programs.at("worker").descriptors_known);

    for (testbed::process_reading& one : alive)
        one.io = {}, one.wakeups = one.memory = one.descriptors = std::nullopt;
    accounts.look(alive, testbed::closeness::thorough);
    CHECK(programs.at("master").io_known);
    CHECK(programs.at("master").wakeups_known);
    CHECK(programs.at("master").memory_known);
    CHECK(programs.at("worker").memory == 4096);
    CHECK(programs.at("master").written == 50);

    alive[0].wakeups = 1010;
    alive.pop_back();  // gone
    accounts.look(alive, testbed::closeness::quick);
    CHECK(programs.at("master").wakeups == 10);
    CHECK(programs.at("worker").wakeups == 30);
    CHECK(programs.at("worker").wakeups_known);
    CHECK_FALSE(programs.at("worker").memory_known);  // nobody has looked
    accounts.look(alive, testbed::closeness::thorough);
    CHECK(programs.at("worker").memory_known);
    CHECK(programs.at("worker").memory == 0);
}

TEST_CASE("process accounts: one that has ended and cannot be read any more hides nothing") {
    testbed::process_accounts accounts;
    auto alive = readings({{master, "master", 1, 0, 0, 0}, {worker, "worker", master, 0, 0, 7}});
    alive[1].io.reset();
    alive[1].stat.ended = true;
    accounts.look(alive, testbed::closeness::thorough);
    const auto& worker_has = accounts.programs().at("worker");
    CHECK(worker_has.io_known);
    CHECK(worker_has.wakeups_known);
    CHECK(worker_has.memory_known);
    CHECK_FALSE(accounts.programs().at("master").wakeups_known);
}

TEST_CASE("process accounts: names without end are taken together") {
    testbed::process_accounts accounts;
    std::vector<std::string> names;
    for (int i = 0; i < 300; ++i)
        names.push_back("p" + std::to_string(i));
    std::vector<living> alive;
    for (std::size_t i = 0; i < names.size(); ++i)
        alive.push_back({.pid = static_cast<pid_t>(100 + i), .name = names[i].c_str(), .user = 1});
    accounts.look(readings(alive));
    CHECK(accounts.programs().size() == testbed::process_accounts::most_names + 1);
    CHECK(accounts.programs().at("(others)").user == 200);
    CHECK(ticks(accounts) == 300);
}
