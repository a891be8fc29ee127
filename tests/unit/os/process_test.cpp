// SPDX-License-Identifier: GPL-3.0-or-later
#include "os/process.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>

using namespace postal;

TEST_CASE("process: children are found, and watched to their end") {
    const auto before = os::clock_ticks();
    const pid_t child = ::fork();
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    const auto family = os::descendants_of(::getpid());
    CHECK(std::any_of(family.begin(), family.end(),
                      [&](const auto& one) { return one.pid == child; }));
    const auto seen = os::find_process(child);
    REQUIRE(seen);
    CHECK(seen->parent == ::getpid());
    CHECK(seen->start >= before);
    CHECK(seen->start <= os::clock_ticks());
    CHECK(seen->group == ::getpgrp());
    CHECK_FALSE(seen->ended);
    const auto watched = os::watch_process(child);
    REQUIRE(watched.is_open());
    pollfd end{watched.get(), POLLIN, 0};
    CHECK(::poll(&end, 1, 0) == 0);
    ::kill(child, SIGKILL);
    REQUIRE(::poll(&end, 1, 20'000) == 1);
    CHECK(os::find_process(child)->ended);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    CHECK_FALSE(os::find_process(child));
    CHECK_FALSE(os::watch_process(child).is_open());
    CHECK(os::boot_id().size() == 36);
}
