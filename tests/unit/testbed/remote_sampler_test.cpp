// SPDX-License-Identifier: GPL-3.0-or-later
// Samples that a command fetches: cat on this machine, and commands that do not as they should.
#include "testbed/remote_sampler.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <cerrno>
#include <csignal>

using namespace postal;
using namespace std::chrono_literals;

namespace {

os::spawner make_spawner() {
    auto made = os::spawner::create();
    if (!made) FAIL(made.error().message);
    return std::move(*made);
}

testbed::remote_plan script(const char* text) {
    return {{"/bin/sh", "-c", text, "sh"}, {}, 1h};
}

// Starts the command and waits for its end.
std::optional<testbed::system_sample> sample_of(testbed::remote_sampler& sampler) {
    const auto none = sampler.take();
    CHECK_FALSE(none);
    pollfd end{sampler.descriptor(), POLLIN, 0};
    if (end.fd >= 0 && ::poll(&end, 1, 20'000) != 1) FAIL("the command does not end");
    return sampler.collect();
}

}  // namespace

TEST_CASE("remote sampler: what cat prints") {
    auto children = make_spawner();
    testbed::remote_sampler sampler(children, {{"/bin/cat"}, {"no-such-device"}, 1h});
    const auto before = std::chrono::steady_clock::now();
    const auto first = sample_of(sampler);
    const auto between = std::chrono::steady_clock::now();
    REQUIRE(first);
    CHECK(first->time >= before);
    CHECK(first->time <= between);
    CHECK(first->machine.processors);
    CHECK(first->machine.context_switches);
    CHECK(first->machine.dirty_bytes);
    REQUIRE(first->devices.size() == 1);
    CHECK_FALSE(first->devices[0]);
    CHECK_FALSE(first->programs);
    CHECK(sampler.descriptor() == -1);
    CHECK_FALSE(sampler.collect());  // once only

    const auto second = sample_of(sampler);
    REQUIRE(second);
    CHECK(second->time > first->time);
    CHECK(*second->machine.forks > *first->machine.forks);
    CHECK_FALSE(sampler.problem());
}

TEST_CASE("remote sampler: the time is that of the output, however late it is collected") {
    auto children = make_spawner();
    testbed::remote_sampler sampler(children, script("cat \"$@\"; sleep 0.2"));
    const auto sample = sample_of(sampler);
    const auto collected = std::chrono::steady_clock::now();
    REQUIRE(sample);
    // The kernel's clock for files goes by jiffies.
    CHECK(collected - sample->time > 150ms);
}

TEST_CASE("remote sampler: a command that also says other things") {
    auto children = make_spawner();
    testbed::remote_sampler sampler(
        children, script("echo 'Warning: added the host' >&2; echo hello; cat \"$@\"; echo bye"));
    const auto sample = sample_of(sampler);
    REQUIRE(sample);
    CHECK(sample->machine.forks);
    CHECK_FALSE(sampler.problem());
}

TEST_CASE("remote sampler: a command that fails gives no sample, and is tried again") {
    auto children = make_spawner();
    struct row {
        testbed::remote_plan plan;
        const char* problem;
    };
    const std::vector<row> table{
        {script("exit 3"), "/bin/sh: exit status 3"},
        {script("echo 'x: no\x1bsuch host' >&2; exit 255"),
         "/bin/sh: exit status 255: x: no\\x1bsuch host"},
        {script("cat \"$@\"; kill -9 $$"), "/bin/sh: ended by signal 9: cpu "},
        {script("true"), "/bin/sh: prints nothing of use"},
        {script("echo cpu 1 2 3"), "/bin/sh: prints nothing of use"},
        {{{"/no/such/program"}, {}, 1h},
         "/no/such/program: cannot run /no/such/program: No such file or directory"},
        {script("exec cat /dev/zero"), "/bin/sh: ended by signal 25"},  // SIGXFSZ, at 16 MiB
    };
    for (const auto& [plan, problem] : table) {
        INFO(problem);
        testbed::remote_sampler sampler(children, plan);
        for (int round = 0; round < 2; ++round) {
            CHECK_FALSE(sample_of(sampler));
            REQUIRE(sampler.problem());
            CHECK(sampler.problem()->substr(0, std::string_view{problem}.size()) == problem);
        }
    }
}

TEST_CASE("remote sampler: one that takes too long is killed") {
    auto children = make_spawner();
    auto plan = script("sleep 1000 & sleep 1000");
    plan.time_limit = 0s;
    testbed::remote_sampler sampler(children, plan);
    CHECK_FALSE(sampler.take());
    CHECK_FALSE(sampler.collect());
    CHECK(sampler.problem() == "/bin/sh: takes too long and is killed");
    pollfd end{sampler.descriptor(), POLLIN, 0};
    REQUIRE(::poll(&end, 1, 20'000) == 1);
    CHECK_FALSE(sampler.collect());
    CHECK(sampler.descriptor() == -1);
}

TEST_CASE("remote sampler: a slow command runs once, and no longer than its sampler") {
    auto children = make_spawner();
    {
        testbed::remote_sampler sampler(children, script("sleep 1000"));
        CHECK_FALSE(sampler.take());
        const int running = sampler.descriptor();
        CHECK(running >= 0);
        CHECK_FALSE(sampler.take());
        CHECK(sampler.descriptor() == running);
        CHECK_FALSE(sampler.problem());
    }
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
    CHECK(errno == ECHILD);
}
