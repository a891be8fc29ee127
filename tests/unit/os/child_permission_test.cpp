// SPDX-License-Identifier: GPL-3.0-or-later
// A child whose start is written down before its program's first instruction.
#include "child_support.hpp"

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

// A file that a child makes when its program runs.
class mark {
  public:
    mark() {
        std::array<char, 32> name{"/tmp/postal-mark-XXXXXX"};
        if (::mkdtemp(name.data()) == nullptr) FAIL("mkdtemp");
        folder_ = name.data();
    }
    mark(const mark&) = delete;
    mark& operator=(const mark&) = delete;
    ~mark() { fs::remove_all(folder_); }

    [[nodiscard]] bool is_there() const { return fs::exists(folder_ / "ran"); }
    [[nodiscard]] job made_by(std::function<base::expected<void>(pid_t)> before) const {
        return {.argv = {"/usr/bin/touch", (folder_ / "ran").string()},
                .before_it_runs = std::move(before)};
    }

  private:
    fs::path folder_;
};

bool runs(pid_t pid) {
    const auto found = os::find_process(pid);
    return found && !found->ended;
}

}  // namespace

TEST_CASE("child: its program waits until its start is written down") {
    auto spawner = make_spawner();
    const mark made;
    pid_t told = -1;
    job wanted = made.made_by([&](pid_t pid) -> base::expected<void> {
        told = pid;
        CHECK(fs::read_symlink(fmt::format("/proc/{}/exe", pid)) ==
              fs::read_symlink("/proc/self/exe"));
        ::usleep(20'000);
        CHECK_FALSE(made.is_there());
        CHECK(::kill(pid, 0) == 0);
        return {};
    });
    const auto started = start(spawner, wanted, 2);
    REQUIRE(started.has_value());
    CHECK(started->pid == told);
    CHECK(wait_for(*started).status_or_signal == 0);
    CHECK(made.is_there());
}

TEST_CASE("child: a start that cannot be written down is none") {
    auto spawner = make_spawner();
    const mark made;
    job wanted =
        made.made_by([](pid_t) -> base::expected<void> { return base::fail("no room for it"); });
    const auto refused = start(spawner, wanted, 2);
    REQUIRE(refused.has_error());
    CHECK(refused.error().message == "no room for it");
    wanted.before_it_runs = [](pid_t) -> base::expected<void> {
        throw std::runtime_error("no memory for it");
    };
    const auto thrown = start(spawner, wanted, 2);
    REQUIRE(thrown.has_error());
    CHECK(thrown.error().message == "cannot start /usr/bin/touch: no memory for it");
    // What did not end within a moment is reaped later, or here.
    while (::waitpid(-1, nullptr, 0) > 0)
        ;
    CHECK_FALSE(made.is_there());
    wanted.before_it_runs = {};
    const auto fine = start(spawner, wanted, 2);
    REQUIRE(fine.has_value());
    CHECK(wait_for(*fine).status_or_signal == 0);
}

TEST_CASE("child: a kill before its start is written down leaves nothing that runs") {
    const mark made;
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const pid_t starter = ::fork();
    REQUIRE(starter >= 0);
    if (starter == 0) {
        auto spawner = os::spawner::create();
        job wanted = made.made_by([&](pid_t pid) -> base::expected<void> {
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
    CHECK_FALSE(made.is_there());
    if (runs(orphan)) ::kill(orphan, SIGKILL);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("child: a signal to its parent's group while its start is written down is not for it") {
    const mark made;
    const pid_t starter = ::fork();
    REQUIRE(starter >= 0);
    if (starter == 0) {
        ::setsid();
        sigset_t interrupts;
        ::sigemptyset(&interrupts);
        ::sigaddset(&interrupts, SIGINT);
        ::sigprocmask(SIG_BLOCK, &interrupts, nullptr);
        auto spawner = os::spawner::create();
        job wanted = made.made_by([](pid_t) -> base::expected<void> {
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
    CHECK(made.is_there());
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
