// SPDX-License-Identifier: GPL-3.0-or-later
// Starting real children from a plan whose parts a job keeps alive.
#pragma once

#include "os/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace postal::os::test {

// What a child gets, with everything that the plan points to kept alive.
struct job {
    std::vector<std::string> argv{};
    std::vector<std::string> environment{};
    const char* directory = "/";
    const os::system_user* run_as = nullptr;
    std::vector<os::limit> limits{};
    std::string input{};
    std::optional<mode_t> file_mask{};
    std::function<base::expected<void>(pid_t)> before_it_runs{};
};

struct outcome {
    os::child_end end;
    std::string output;
};

inline os::spawner make_spawner() {
    auto made = os::spawner::create();
    if (!made) FAIL(made.error().message);
    return std::move(*made);
}

inline std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (auto& text : texts)
        result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

inline base::expected<os::child> start(os::spawner& spawner, job& wanted, int output) {
    auto argv = pointers(wanted.argv);
    auto environment = pointers(wanted.environment);
    const int input = ::memfd_create("input", MFD_CLOEXEC);
    if (::write(input, wanted.input.data(), wanted.input.size()) < 0) FAIL("write");
    ::lseek(input, 0, SEEK_SET);
    os::child_plan plan;
    plan.program = wanted.argv.front().c_str();
    plan.argv = argv.data();
    plan.environment = environment.data();
    plan.input = input;
    plan.output = output;
    plan.directory = wanted.directory;
    plan.run_as = wanted.run_as;
    plan.limits = wanted.limits;
    plan.file_mask = wanted.file_mask;
    plan.before_it_runs = wanted.before_it_runs;
    auto started = spawner.start(plan);
    ::close(input);
    return started;
}

inline os::child_end wait_for(const os::child& started) {
    pollfd end{started.pidfd, POLLIN, 0};
    if (::poll(&end, 1, 20'000) != 1) FAIL("the child does not end");
    const auto result = os::reap(started);
    ::close(started.pidfd);
    if (!result) FAIL("ended, and not to be reaped");
    return *result;
}

}  // namespace postal::os::test
