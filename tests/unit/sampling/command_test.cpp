// SPDX-License-Identifier: GPL-3.0-or-later
#include "sampling/command.hpp"

#include "base/read_file.hpp"
#include "os/process.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include <unistd.h>

using namespace postal;
using namespace std::chrono_literals;

namespace {

sampling::command shell(const std::string& script) {
    return *sampling::command::make({"/bin/sh", "-c", script});
}

std::string failure_of(const std::string& script, std::chrono::nanoseconds limit = 10s) {
    auto runs = shell(script);
    const auto printed = runs.run(limit);
    return printed ? "nothing: " + *printed : printed.error().message;
}

}  // namespace

TEST_CASE("sampling command: gives what was printed, again and again") {
    auto runs = shell("echo 12; echo warning >&2");
    for (int i = 0; i < 3; ++i)
        CHECK(runs.run(10s).value() == "12\nwarning\n");
    CHECK(sampling::command::make({"no-such-program"}).has_error());
}

TEST_CASE("sampling command: what ends badly is said, with its first line") {
    CHECK_THAT(failure_of("echo no server; echo more; exit 3"),
               Catch::Equals("it ended with status 3: no server"));
    CHECK_THAT(failure_of("kill -9 $$"), Catch::Equals("it was ended by signal 9"));
    CHECK_THAT(failure_of("yes"), Catch::Contains("more than 64.0 KiB"));
    CHECK_THAT(failure_of("head -c 70000 /dev/zero"), Catch::Contains("more than 64.0 KiB"));
}

TEST_CASE("sampling command: one that hangs is killed with its group, and the next one runs") {
    auto runs = shell("if test -t 0; then echo 0; fi; sleep 1000 & sleep 1000");
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 2; ++i)
        CHECK_THAT(runs.run(200ms).error().message, Catch::Contains("longer than 200ms"));
    CHECK(std::chrono::steady_clock::now() - began < 10s);
    CHECK(os::descendants_of(::getpid()).empty());
}

TEST_CASE("sampling command: what it left running does not hold it up, and is ended") {
    const std::string mark = "9731";  // seconds that no other sleeps
    auto runs = shell("sleep " + mark + " & echo 7");
    const auto began = std::chrono::steady_clock::now();
    CHECK(runs.run(30s).value() == "7\n");
    CHECK(std::chrono::steady_clock::now() - began < 20s);
    const auto sleeps = [&] {
        const auto all = os::all_processes();
        return std::any_of(all.begin(), all.end(), [&](const auto& one) {
            const auto line = base::read_file(fmt::format("/proc/{}/cmdline", one.pid));
            return line && line->find("sleep") != line->npos && line->find(mark) != line->npos;
        });
    };
    // Killed, and reaped by whoever adopts orphans here.
    for (int i = 0; i < 100 && sleeps(); ++i)
        std::this_thread::sleep_for(50ms);
    CHECK_FALSE(sleeps());
}
