// SPDX-License-Identifier: GPL-3.0-or-later
// Children of a user whose other processes do them no good: who stops all that is his.
#include "child_support.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>

using namespace postal;
using namespace postal::os::test;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

// Nobody else's on this machine, and no other test's at this time.
os::system_user made_up_user() {
    const auto id = static_cast<uid_t>(1'000'000'000) + static_cast<uid_t>(::getpid());
    return {"made-up", "/", id, id, {id}};
}

// A process of that user which sends this to all of his, again and again.
class pest {
  public:
    pest(const os::system_user& whose, int signal) : pid_(::fork()) {
        if (pid_ != 0) return;
        if (::setresgid(whose.gid, whose.gid, whose.gid) != 0 ||
            ::setresuid(whose.uid, whose.uid, whose.uid) != 0 ||
            ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
            ::_exit(1);
        }
        while (true)
            ::kill(-1, signal);
    }
    pest(const pest&) = delete;
    pest& operator=(const pest&) = delete;
    ~pest() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

  private:
    pid_t pid_;
};

}  // namespace

TEST_CASE("child: one that is stopped before it runs is killed, and said to have been stopped") {
    auto spawner = make_spawner();
    job wanted{.argv = {"/bin/true"}};
    wanted.before_it_runs = [](pid_t pid) -> base::expected<void> {
        ::kill(pid, SIGSTOP);
        return {};
    };
    const auto begun = steady_clock::now();
    const auto started = start(spawner, wanted, 2);
    REQUIRE_FALSE(started.has_value());
    CHECK(started.error().message ==
          "cannot start /bin/true: it was stopped by another process of its user and was killed");
    CHECK(steady_clock::now() - begun < 4s);  // seen, not waited for
    // Nothing is left behind, and others are started as before.
    wanted.before_it_runs = {};
    const auto fine = start(spawner, wanted, 2);
    REQUIRE(fine.has_value());
    CHECK(wait_for(*fine).status_or_signal == 0);
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("child: a user who stops all that is his holds up no start") {
    if (::geteuid() != 0) return;
    const os::system_user user = made_up_user();
    auto spawner = make_spawner();
    const pest stopper(user, SIGSTOP);
    job wanted{.argv = {"/bin/true"}, .run_as = &user};
    // With several processors a start in ten or so is hit, with one hardly any.
    for (int i = 0; i < 60; ++i) {
        const auto before = steady_clock::now();
        const auto started = start(spawner, wanted, 2);
        CHECK(steady_clock::now() - before < 10s);
        if (started) {
            os::signal_group(*started, SIGKILL);
            wait_for(*started);
            continue;
        }
        CHECK(started.error().message.find("cannot start /bin/true: it ") == 0);
    }
    CHECK(::waitpid(-1, nullptr, WNOHANG) == 0);  // the pest runs
    wanted.run_as = nullptr;
    const auto fine = start(spawner, wanted, 2);
    REQUIRE(fine.has_value());
    CHECK(wait_for(*fine).status_or_signal == 0);
}

TEST_CASE("child: it can be asked whether it stands still") {
    auto spawner = make_spawner();
    job wanted{.argv = {"/bin/sleep", "60"}};
    const auto started = start(spawner, wanted, 2);
    REQUIRE(started.has_value());
    CHECK_FALSE(os::is_stopped(*started));
    const auto becomes = [&](bool stopped) {
        const auto begun = steady_clock::now();
        while (os::is_stopped(*started) != stopped && steady_clock::now() - begun < 20s)
            ::usleep(1000);
        return os::is_stopped(*started) == stopped;
    };
    os::signal_group(*started, SIGSTOP);
    CHECK(becomes(true));
    CHECK(os::is_stopped(*started));  // as often as one asks
    os::signal_group(*started, SIGCONT);
    CHECK(becomes(false));
    os::signal_group(*started, SIGKILL);
    CHECK(wait_for(*started).status_or_signal == SIGKILL);
    CHECK_FALSE(os::is_stopped(*started));
    CHECK_FALSE(os::is_stopped({}));
}
