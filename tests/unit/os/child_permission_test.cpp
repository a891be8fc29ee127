// SPDX-License-Identifier: GPL-3.0-or-later
// A child whose start is written down before its program's first instruction.
#include "child_support.hpp"

#include "../temporary_file.hpp"
#include "os/process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

using namespace postal;
using namespace postal::os::test;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

// A child that takes a file away when its program runs.
struct mark {
    ::test::temporary_file file{""};

    [[nodiscard]] bool is_there() const { return fs::exists(file.path()); }
    [[nodiscard]] job taken_by(std::function<base::expected<void>(pid_t)> before) const {
        return {.argv = {"/bin/rm", file.path()}, .before_it_runs = std::move(before)};
    }
};

bool runs(pid_t pid) {
    const auto found = os::find_process(pid);
    return found && !found->ended;
}

}  // namespace

TEST_CASE("child: its program waits until its start is written down") {
    auto spawner = make_spawner();
    const mark left;
    pid_t told = -1;
    job wanted = left.taken_by([&](pid_t pid) -> base::expected<void> {
        told = pid;
        CHECK(fs::read_symlink(fmt::format("/proc/{}/exe", pid)) ==
              fs::read_symlink("/proc/self/exe"));
        ::usleep(20'000);
        CHECK(left.is_there());
        CHECK(::kill(pid, 0) == 0);
        return {};
    });
    const auto started = start(spawner, wanted, 2);
    REQUIRE(started.has_value());
    CHECK(started->pid == told);
    CHECK(wait_for(*started).status_or_signal == 0);
    CHECK_FALSE(left.is_there());
}

TEST_CASE("child: a start that cannot be written down is none") {
    auto spawner = make_spawner();
    const mark left;
    job wanted =
        left.taken_by([](pid_t) -> base::expected<void> { return base::fail("no room for it"); });
    const auto refused = start(spawner, wanted, 2);
    REQUIRE(refused.has_error());
    CHECK(refused.error().message == "no room for it");
    wanted.before_it_runs = [](pid_t) -> base::expected<void> {
        throw std::runtime_error("no memory for it");
    };
    const auto thrown = start(spawner, wanted, 2);
    REQUIRE(thrown.has_error());
    CHECK(thrown.error().message == "cannot start /bin/rm: no memory for it");
    // What did not end within a moment is reaped later, or here.
    while (::waitpid(-1, nullptr, 0) > 0)
        ;
    CHECK(left.is_there());
    wanted.before_it_runs = {};
    const auto fine = start(spawner, wanted, 2);
    REQUIRE(fine.has_value());
    CHECK(wait_for(*fine).status_or_signal == 0);
}

TEST_CASE("child: a kill before its start is written down leaves nothing that runs") {
    const mark left;
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const pid_t starter = ::fork();
    REQUIRE(starter >= 0);
    if (starter == 0) {
        auto spawner = os::spawner::create();
        job wanted = left.taken_by([&](pid_t pid) -> base::expected<void> {
            if (::write(ends[1], &pid, sizeof pid) == sizeof pid) ::raise(SIGKILL);
            return {};
        });
        if (spawner) static_cast<void>(start(*spawner, wanted, 2));
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(starter, &status, 0) == starter);
    CHECK(WIFSIGNALED(status));
    pid_t orphan = -1;
    REQUIRE(::read(ends[0], &orphan, sizeof orphan) == sizeof orphan);
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (runs(orphan) && std::chrono::steady_clock::now() < until)
        ::usleep(1000);
    CHECK_FALSE(runs(orphan));
    CHECK(left.is_there());
    if (runs(orphan)) ::kill(orphan, SIGKILL);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("child: a signal to its parent's group while its start is written down is not for it") {
    const mark left;
    const pid_t starter = ::fork();
    REQUIRE(starter >= 0);
    if (starter == 0) {
        ::setsid();
        sigset_t interrupts;
        ::sigemptyset(&interrupts);
        ::sigaddset(&interrupts, SIGINT);
        ::sigprocmask(SIG_BLOCK, &interrupts, nullptr);
        auto spawner = os::spawner::create();
        job wanted = left.taken_by([](pid_t) -> base::expected<void> {
            ::kill(0, SIGINT);
            return {};
        });
        const auto started = spawner ? start(*spawner, wanted, 2) : base::expected<os::child>{};
        ::_exit(started && !wait_for(*started).signalled ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(starter, &status, 0) == starter);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK_FALSE(left.is_there());
}

TEST_CASE("child: once it runs it may outlive the thread that started it") {
    auto spawner = make_spawner();
    job wanted{.argv = {"/bin/sleep", "60"},
               .before_it_runs = [](pid_t) -> base::expected<void> { return {}; }};
    os::child started;
    std::thread([&] {
        const auto made = start(spawner, wanted, 2);
        if (made) started = *made;
    }).join();
    REQUIRE(started.pid > 0);
    pollfd end{started.pidfd, POLLIN, 0};
    CHECK(::poll(&end, 1, 50) == 0);
    os::signal_group(started, SIGKILL);
    CHECK(wait_for(started).status_or_signal == SIGKILL);
}
