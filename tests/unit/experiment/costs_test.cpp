// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of a made-up run, what a part of it has cost, and the file that keeps them.
#include "experiment/costs.hpp"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <chrono>
#include <string>

using namespace postal;
using namespace std::chrono_literals;

namespace {

const std::chrono::steady_clock::time_point begun{1000s};
const std::chrono::system_clock::time_point started{1'767'225'600s};  // 2026-01-01

// Of a machine that works evenly: `at` after the beginning of the log.
testbed::system_sample sample(std::chrono::nanoseconds at) {
    const double s = std::chrono::duration<double>(at).count();
    const auto count = [s](double rate) { return static_cast<std::uint64_t>(5000 + rate * s); };
    testbed::system_sample to;
    to.time = begun + at;
    to.machine.processors = os::processor_times{100 + s / 2, 50 + s / 4, 7 + s / 8, 1, 900 + s};
    to.machine.context_switches = count(2000);
    to.machine.forks = count(8);
    to.machine.dirty_bytes = s < 5 ? 4096 : 1024;
    to.machine.writeback_bytes = 0;
    os::device_counts disk;
    disk.reads = count(10);
    disk.sectors_read = count(100);
    disk.writes = count(100);
    disk.sectors_written = count(4000);
    disk.busy_ms = count(250);
    disk.queue_ms = count(3000);
    disk.discards = count(0);
    disk.flushes = count(20);
    disk.flush_ms = count(100);
    to.devices = {disk};
    return to;
}

experiment::cost_log log_of(const std::vector<testbed::system_sample>& samples) {
    experiment::cost_log log({"/dev/loop0"}, begun, started);
    for (const auto& one : samples)
        log.add(one);
    return log;
}

std::vector<testbed::system_sample> even_run() {
    std::vector<testbed::system_sample> samples;
    for (int s = 0; s <= 10; ++s)
        samples.push_back(sample(std::chrono::seconds{s}));
    return samples;
}

testbed::program_usage program(const char* name, double cpu_s,
                               std::optional<std::uint64_t> octets) {
    return {name, cpu_s, 2 * cpu_s, 3 * cpu_s, octets, octets};
}

experiment::costs between(const experiment::cost_log& log, std::chrono::nanoseconds start,
                          std::chrono::nanoseconds end) {
    const auto found = log.between(start, end);
    if (!found) FAIL("no costs");
    return *found;
}

void check_even(const experiment::costs& costs, double s) {
    CHECK(costs.window_s == Approx(s));
    CHECK(costs.user_s.value() == Approx(s / 2));
    CHECK(costs.system_s.value() == Approx(s / 4));
    CHECK(costs.iowait_s.value() == Approx(s / 8));
    CHECK(costs.steal_s == 0.0);
    CHECK(costs.idle_s.value() == Approx(s));
    CHECK(costs.context_switches.value() == Approx(2000 * s));
    CHECK(costs.forks.value() == Approx(8 * s));
    REQUIRE(costs.devices.size() == 1);
    const auto& disk = costs.devices[0];
    CHECK(disk.name == "/dev/loop0");
    CHECK(disk.reads.value() == Approx(10 * s));
    CHECK(disk.read_kib.value() == Approx(50 * s));
    CHECK(disk.writes.value() == Approx(100 * s));
    CHECK(disk.written_kib.value() == Approx(2000 * s));
    CHECK(disk.discards == 0.0);
    CHECK(disk.flushes.value() == Approx(20 * s));
    CHECK(disk.mean_flush_ms.value() == Approx(5));
    CHECK(disk.busy.value() == Approx(0.25));
    CHECK(disk.mean_queue.value() == Approx(3));
}

}  // namespace

TEST_CASE("costs: a part of the run, whose ends may lie between samples") {
    const auto log = log_of(even_run());
    CHECK(log.size() == 11);
    CHECK(log.started() == "2026-01-01T00:00:00.000Z");
    check_even(between(log, 2s, 8s), 6);
    check_even(between(log, 0s, 10s), 10);
    check_even(between(log, 2250ms, 7750ms), 5.5);
    check_even(between(log, 3250ms, 3750ms), 0.5);
    CHECK(between(log, 2s, 8s).longest_gap_s == Approx(1));
    CHECK(between(log, 2s, 8s).programs.empty());
}

TEST_CASE("costs: memory is that of the samples in the part") {
    const auto log = log_of(even_run());
    CHECK(between(log, 0s, 10s).max_dirty_bytes == 4096.0);
    CHECK(between(log, 4s, 6s).max_dirty_bytes == 4096.0);
    CHECK(between(log, 4500ms, 6s).max_dirty_bytes == 1024.0);
    CHECK(between(log, 5s, 6s).max_writeback_bytes == 0.0);
    CHECK_FALSE(between(log, 4250ms, 4750ms).max_dirty_bytes);
}

TEST_CASE("costs: nothing is known of what no samples surround") {
    auto samples = even_run();
    samples.erase(samples.begin());
    const auto log = log_of(samples);
    CHECK_FALSE(log.between(500ms, 5s));
    CHECK_FALSE(log.between(5s, 10s + 1ns));
    CHECK_FALSE(log.between(5s, 5s));
    CHECK_FALSE(log.between(6s, 5s));
    CHECK_FALSE(log.between(-1s, 5s));
    CHECK(log.between(1s, 10s));
    CHECK_FALSE(log_of({}).between(0s, 1s));
    CHECK_FALSE(experiment::cost_log().between(0s, 1s));
    CHECK_FALSE(log_of({sample(1s)}).between(0s, 2s));
}

TEST_CASE("costs: a sample that is missing is a gap, and one out of order is left out") {
    const auto log = log_of({sample(0s), sample(1s), sample(4s), sample(3s), sample(4s),
                             sample(-1s), sample(6s), sample(7s)});
    CHECK(log.size() == 5);
    check_even(between(log, 2s, 5s), 3);
    CHECK(between(log, 2s, 5s).longest_gap_s == Approx(3));
    CHECK(between(log, 4s, 6s).longest_gap_s == Approx(2));
    CHECK(between(log, 6s, 7s).longest_gap_s == Approx(1));
}

TEST_CASE("costs: what is not known is empty, and not 0") {
    auto samples = even_run();
    for (auto& one : samples) {
        one.machine.processors.reset();
        one.machine.forks.reset();
        one.machine.dirty_bytes.reset();
        one.devices[0]->flushes.reset();
        one.devices[0]->flush_ms.reset();
    }
    auto costs = between(log_of(samples), 1s, 9s);
    CHECK_FALSE(costs.user_s);
    CHECK_FALSE(costs.steal_s);
    CHECK_FALSE(costs.forks);
    CHECK(costs.context_switches);
    CHECK_FALSE(costs.max_dirty_bytes);
    CHECK_FALSE(costs.devices[0].flushes);
    CHECK_FALSE(costs.devices[0].mean_flush_ms);
    CHECK(costs.devices[0].writes);
    for (auto& one : samples)
        one.devices[0].reset();
    costs = between(log_of(samples), 1s, 9s);
    REQUIRE(costs.devices.size() == 1);
    CHECK_FALSE(costs.devices[0].writes);
    CHECK_FALSE(costs.devices[0].busy);
}

TEST_CASE("costs: a mean flush of none is not known") {
    auto samples = even_run();
    for (auto& one : samples)
        one.devices[0]->flushes = one.devices[0]->flush_ms = 77;
    const auto costs = between(log_of(samples), 1s, 9s);
    CHECK(costs.devices[0].flushes == 0.0);
    CHECK_FALSE(costs.devices[0].mean_flush_ms);
}

TEST_CASE("costs: a counter that goes back") {
    auto samples = even_run();
    // By a tick, as iowait does: it stays.
    samples[4].machine.processors->iowait_s = samples[3].machine.processors->iowait_s - 0.01;
    auto log = log_of(samples);
    CHECK(between(log, 3s, 4s).iowait_s == 0.0);
    CHECK(between(log, 2s, 6s).iowait_s.value() == Approx(0.5));
    // Another device has come in its place: the two cannot be told from each other any more.
    for (std::size_t at = 6; at < samples.size(); ++at)
        samples[at].devices[0]->writes = 5 * at;
    log = log_of(samples);
    CHECK(between(log, 1s, 5s).devices[0].writes.value() == Approx(400));
    CHECK_FALSE(between(log, 1s, 7s).devices[0].writes);
    CHECK_FALSE(between(log, 7s, 9s).devices[0].writes);
    CHECK(between(log, 1s, 7s).devices[0].reads.value() == Approx(60));
}

TEST_CASE("costs: programs, from when processes are watched, and from when they come up") {
    auto samples = even_run();
    for (std::size_t at = 2; at < samples.size(); ++at) {
        const auto s = static_cast<double>(at);
        auto& programs = samples[at].programs.emplace();
        programs.push_back(program("master", 10 + s / 100, 4096 * at));
        if (at >= 6) programs.push_back(program("worker", s / 10, std::nullopt));
    }
    const auto log = log_of(samples);
    for (const auto& one : {log, experiment::from_json(to_json(log)).value()}) {
        auto costs = between(one, 3s, 9s);
        REQUIRE(costs.programs.size() == 2);
        CHECK(costs.programs[0].name == "master");
        CHECK(costs.programs[0].user_s.value() == Approx(0.06));
        CHECK(costs.programs[0].system_s.value() == Approx(0.12));
        CHECK(costs.programs[0].children_s.value() == Approx(0.18));
        CHECK(costs.programs[0].cpu_s.value() == Approx(0.36));
        CHECK(costs.programs[0].read_kib.value() == Approx(24));
        CHECK(costs.programs[0].written_kib.value() == Approx(24));
        // It had used nothing at 3 s.
        CHECK(costs.programs[1].name == "worker");
        CHECK(costs.programs[1].user_s.value() == Approx(0.9));
        CHECK_FALSE(costs.programs[1].written_kib);
        costs = between(one, 1s, 9s);
        CHECK_FALSE(costs.programs[0].cpu_s);
        CHECK_FALSE(costs.programs[1].cpu_s);
        CHECK(costs.user_s);
    }
}

TEST_CASE("costs: of all programs of a server together, at one moment") {
    auto samples = even_run();
    for (std::size_t at = 0; at < samples.size(); ++at) {
        auto& programs = samples[at].programs.emplace();
        const std::uint64_t many = at == 3 ? 100 : 10;
        const std::uint64_t most = at == 5 ? 100 : 10;
        for (const auto& [name, count] : {std::pair("master", many), {"imap", most}}) {
            auto& one = programs.emplace_back(program(name, 0.001 * static_cast<double>(at), 1));
            one.cpu_s = 0.0015 * static_cast<double>(at);
            one.wakeups = 7 * at;
            // Every other sample has them.
            if (at % 2 == 1) one.descriptors = one.memory_bytes = count;
        }
    }
    const auto log = log_of(samples);
    for (const auto& one : {log, experiment::from_json(to_json(log)).value()}) {
        const auto costs = between(one, 2s, 8s);
        CHECK(costs.programs[0].cpu_s.value() == Approx(0.009));  // not of the three
        CHECK(costs.server.cpu_s.value() == Approx(0.018));
        CHECK(costs.server.wakeups.value() == Approx(84));
        CHECK(costs.programs[0].max_memory_bytes == 100.0);
        CHECK(costs.programs[1].max_memory_bytes == 100.0);
        CHECK(costs.server.max_memory_bytes == 110.0);
        CHECK(costs.server.max_descriptors == 110.0);
        CHECK_FALSE(between(one, 2s, 2500ms).server.max_memory_bytes);
    }
    // One that is not known makes the sum not known, and nothing else.
    for (auto& one : samples)
        one.programs->back().wakeups.reset();
    const auto costs = between(log_of(samples), 2s, 8s);
    CHECK_FALSE(costs.server.wakeups);
    CHECK(costs.programs[0].wakeups);
    CHECK(costs.server.cpu_s);
    CHECK_FALSE(between(log_of(even_run()), 2s, 8s).server.cpu_s);
}

TEST_CASE("costs: the file says the same") {
    auto samples = even_run();
    samples[3].machine.forks.reset();
    for (auto& one : samples) {
        one.devices[0]->flushes.reset();
        one.programs.emplace().push_back(program("a\"\n\xff", 1, 1));
    }
    const auto log = log_of(samples);
    const std::string text = to_json(log);
    CHECK(text.find(R"("forks":[0,8,16,null,32,)") != std::string::npos);
    const auto read = experiment::from_json(text);
    REQUIRE(read.has_value());
    CHECK(to_json(*read) == text);
    const auto costs = between(*read, 2250ms, 7750ms);
    CHECK(costs.user_s.value() == Approx(2.75));
    CHECK_FALSE(costs.devices[0].flushes);
    CHECK(costs.devices[0].busy.value() == Approx(0.25));
    CHECK_FALSE(between(*read, 2500ms, 9s).forks);
    CHECK(
        to_json(experiment::from_json(to_json(experiment::cost_log({}, begun, started))).value()) ==
        to_json(experiment::cost_log({}, begun, started)));
}

TEST_CASE("costs: a file that somebody else wrote") {
    struct row {
        std::string text;
        std::string wanted;
    };
    const auto with = [](const std::string& members) {
        return R"({"schema": "postal-costs/1", "t_s": [0, 1, 2])" + members + "}";
    };
    const std::vector<row> table{
        {"", "is no file of costs: parse error at line 1, column 1"},
        {"[]", "is no file of costs: not a JSON object"},
        {"{}", "has schema \"\"; this program reads postal-costs/1"},
        {R"({"schema": "postal-costs/2"})", "has schema \"postal-costs/2\""},
        {R"({"schema": 7})", "has schema \"\""},
        {R"({"schema": "postal-costs/1", "t_s": 7})", "t_s is not a list"},
        {R"({"schema": "postal-costs/1", "t_s": [0, 2, 1]})", "t_s is not in order of time"},
        {R"({"schema": "postal-costs/1", "t_s": [0, null, 1]})", "t_s is not in order of time"},
        {with(R"(, "machine": [])"), "machine is not an object"},
        {with(R"(, "machine": {"user_s": [0, 1]})"), "machine.user_s is not as long as t_s"},
        {with(R"(, "machine": {"user_s": [0, -1, 2]})"),
         "machine.user_s[1] is not a number, 0 or more"},
        {with(R"(, "machine": {"user_s": [0, "1", 2]})"),
         "machine.user_s[1] is not a number, 0 or more"},
        {with(R"(, "devices": {})"), "devices is not a list"},
        {with(R"(, "devices": [7])"), "devices[0] is not an object"},
        {with(R"(, "devices": [{"name": 7}])"), "devices[0].name is not a text"},
        {with(R"(, "programs": [{"user_s": [1, 2, 3, 4]}])"),
         "programs[0].user_s is not as long as t_s"},
    };
    for (const auto& [text, wanted] : table) {
        INFO(text);
        const auto read = experiment::from_json(text);
        REQUIRE(read.has_error());
        CHECK(read.error().message.substr(0, wanted.size()) == wanted);
    }
    // A few octets for each device are no reason for columns of millions.
    std::string wide = R"({"schema": "postal-costs/1", "t_s": [0)";
    for (int i = 1; i < 100000; ++i)
        wide += fmt::format(",{}", i);
    wide += R"(], "devices": [{})";
    for (int i = 1; i < 1000; ++i)
        wide += ",{}";
    CHECK(experiment::from_json(wide + "]}").error().message ==
          "has too many devices: at most 67108864 numbers in all their columns");
    // Columns that are absent are not known; what is not counted upwards is not either.
    const auto read = experiment::from_json(with(
        R"(, "machine": {"user_s": [5, 3, null]}, "devices": [{"name": "x"}], "programs": null)"));
    REQUIRE(read.has_value());
    const auto costs = between(*read, 0s, 1s);
    CHECK_FALSE(costs.user_s);
    CHECK_FALSE(costs.system_s);
    CHECK_FALSE(costs.devices.at(0).reads);
    // Cut anywhere it is refused.
    const std::string whole = to_json(log_of(even_run()));
    for (std::size_t length = 0; length < whole.size(); ++length)
        CHECK(experiment::from_json(whole.substr(0, length)).has_error());
}
