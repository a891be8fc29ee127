// SPDX-License-Identifier: GPL-3.0-or-later
// Real children: what they are given, how they end, and how a start that cannot be is told.
#include "child_support.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

using namespace postal;
using namespace std::chrono_literals;

namespace {

using namespace postal::os::test;

outcome run(os::spawner& spawner, job wanted) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) FAIL("pipe2");
    const auto started = start(spawner, wanted, ends[1]);
    ::close(ends[1]);
    if (!started) FAIL(started.error().message);
    outcome result;
    std::array<char, 4096> buffer{};
    // Ends only if the spawner keeps no copy of the pipe's other end.
    for (ssize_t got = 1; got > 0;) {
        got = ::read(ends[0], buffer.data(), buffer.size());
        if (got > 0) result.output.append(buffer.data(), static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    result.end = wait_for(*started);
    return result;
}

outcome shell(os::spawner& spawner, std::string script) {
    return run(spawner, {.argv = {"/bin/sh", "-c", std::move(script)}});
}

std::string refusal(job wanted) {
    auto spawner = make_spawner();
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    const auto started = start(spawner, wanted, null);
    ::close(null);
    // Nothing is left to be waited for.
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
    return started.has_error() ? started.error().message : "started";
}

}  // namespace

TEST_CASE("child: how it ended is told") {
    auto spawner = make_spawner();
    struct row {
        std::string script;
        bool signalled;
        int wanted;
        std::string_view reason;
    };
    const std::vector<row> table{
        {"exit 0", false, 0, "success"},
        {"exit 75", false, 75, "EX_TEMPFAIL"},
        {"exit 255", false, 255, "the largest status"},
        {"kill -9 $$", true, SIGKILL, "cannot be caught"},
        {"kill -TERM $$", true, SIGTERM, "default action"},
        {"kill -PIPE $$", true, SIGPIPE, "which this process may ignore"},
    };
    for (const auto& [script, signalled, wanted, reason] : table) {
        INFO(script << ": " << reason);
        const auto end = shell(spawner, script).end;
        CHECK(end.signalled == signalled);
        CHECK(end.status_or_signal == wanted);
    }
    CHECK(run(spawner, {.argv = {"/bin/true"}}).end.status_or_signal == 0);
    CHECK(run(spawner, {.argv = {"/bin/false"}}).end.status_or_signal == 1);
}

TEST_CASE("child: input, output and error output are what the plan says") {
    auto spawner = make_spawner();
    const auto copied = run(spawner, {.argv = {"/bin/cat"}, .input = "From: a\r\n"});
    CHECK(copied.output == "From: a\r\n");
    CHECK(shell(spawner, "echo out; echo error >&2").output == "out\nerror\n");
}

TEST_CASE("child: a start that cannot be is a line, and leaves no process behind") {
    struct row {
        std::vector<std::string> argv;
        const char* directory;
        std::string_view wanted;
    };
    const std::vector<row> table{
        {{"/no/such/agent"}, "/", "cannot run /no/such/agent: No such file or directory"},
        {{"/etc/passwd"}, "/", "cannot run /etc/passwd: Permission denied"},
        {{"/etc"}, "/", "cannot run /etc: Permission denied"},
        {{"/etc/passwd/x"}, "/", "cannot run /etc/passwd/x: Not a directory"},
        {{"/bin/true"}, "/no/such", "cannot change to directory /no/such: No such file or direc"},
        {{"/bin/true"}, "/bin/sh", "cannot change to directory /bin/sh: Not a directory"},
    };
    for (const auto& [argv, directory, wanted] : table) {
        INFO(wanted);
        CHECK(refusal({.argv = argv, .directory = directory}).find(wanted) == 0);
    }
    job limited{.argv = {"/bin/true"}, .limits = {{RLIMIT_NOFILE, 2, 1}}};
    CHECK(refusal(limited) == "cannot set the limits of /bin/true: Invalid argument");
}

TEST_CASE("child: it sees descriptors 0, 1 and 2 and no other") {
    auto spawner = make_spawner();
    // Above and below the slots of the next spawner, and both without close-on-exec.
    const int low = ::dup(STDERR_FILENO);
    auto second = make_spawner();
    const int high = ::fcntl(STDERR_FILENO, F_DUPFD, 150);
    REQUIRE(high >= 150);
    // The shell's test opens nothing; ls opens the folder, as the lowest number that is free.
    const std::string script =
        "n=0; while [ $n -lt 300 ]; do [ -e /proc/self/fd/$n ] && echo $n; n=$((n+1)); done; true";
    for (os::spawner* one : {&spawner, &second}) {
        CHECK(shell(*one, script).output == "0\n1\n2\n");
        CHECK(run(*one, {.argv = {"/bin/ls", "/proc/self/fd"}}).output == "0\n1\n2\n3\n");
    }
    // Nor did the child close anything of ours.
    CHECK(::fcntl(low, F_GETFD) == 0);
    CHECK(::fcntl(high, F_GETFD) == 0);
    ::close(low);
    ::close(high);
}

TEST_CASE("child: signals are at their defaults, and none is blocked") {
    auto* const pipe_before = std::signal(SIGPIPE, SIG_IGN);
    auto* const interrupt_before = std::signal(SIGINT, SIG_IGN);
    sigset_t blocked;
    sigset_t mask_before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGUSR1);
    REQUIRE(::pthread_sigmask(SIG_BLOCK, &blocked, &mask_before) == 0);
    auto spawner = make_spawner();
    const auto seen =
        run(spawner, {.argv = {"/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}});
    CHECK(seen.output == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    sigset_t mask_after;
    REQUIRE(::pthread_sigmask(SIG_SETMASK, &mask_before, &mask_after) == 0);
    CHECK(sigismember(&mask_after, SIGTERM) == 1);
    CHECK(sigismember(&mask_after, SIGINT) == 0);
    CHECK(std::signal(SIGPIPE, pipe_before) == SIG_IGN);
    CHECK(std::signal(SIGINT, interrupt_before) == SIG_IGN);
}

TEST_CASE("child: the environment is exactly the plan's, and so is the directory") {
    auto spawner = make_spawner();
    const auto seen = run(spawner, {.argv = {"/usr/bin/env"}, .environment = {"A=1", "B=x y"}});
    CHECK(seen.output == "A=1\nB=x y\n");
    CHECK(run(spawner, {.argv = {"/usr/bin/env"}}).output.empty());
    const auto place = run(spawner, {.argv = {"/bin/pwd"}, .directory = "/usr/share"});
    CHECK(place.output == "/usr/share\n");
}

TEST_CASE("child: a process group of its own, which is signalled as one") {
    auto spawner = make_spawner();
    // The process, its group, its terminal.
    const auto ids = shell(spawner, "set -- $(cat /proc/$$/stat); echo $1; echo $5 $7").output;
    const std::string pid = ids.substr(0, ids.find('\n'));
    CHECK(ids == pid + "\n" + pid + " 0\n");

    // A grandchild holds the pipe open until the group's signal reaches it too.
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    job wanted{.argv = {"/bin/sh", "-c", "sleep 60 & echo ready; wait"}};
    const auto started = start(spawner, wanted, ends[1]);
    ::close(ends[1]);
    REQUIRE(started.has_value());
    std::array<char, 64> buffer{};
    REQUIRE(::read(ends[0], buffer.data(), buffer.size()) == 6);
    CHECK_FALSE(os::reap(*started).has_value());
    CHECK(os::signal_group(*started, SIGTERM));
    CHECK(::read(ends[0], buffer.data(), buffer.size()) == 0);
    ::close(ends[0]);
    const auto end = wait_for(*started);
    CHECK(end.signalled);
    CHECK(end.status_or_signal == SIGTERM);
    CHECK_FALSE(os::signal_group({}, SIGTERM));
}

TEST_CASE("child: it has no terminal to type into, although this process has") {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(terminal >= 0);
    REQUIRE((::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0));
    const std::string name = ::ptsname(terminal);
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const pid_t owner = ::fork();
    if (owner == 0) {
        // A terminal that a session's leader opens becomes its own.
        if (::setsid() < 0 || ::open(name.c_str(), O_RDWR | O_CLOEXEC) < 0) ::_exit(1);
        auto spawner = os::spawner::create();
        if (!spawner) ::_exit(1);
        const std::string script =
            "set -- $(cat /proc/$$/stat); echo $7; : </dev/tty && echo opened; true";
        const auto seen = run(*spawner, {.argv = {"/bin/sh", "-c", script}}).output;
        const bool own = ::open("/dev/tty", O_RDWR | O_CLOEXEC) >= 0;
        const auto said = (own ? "" : "no terminal to be kept from; ") + seen;
        if (::write(ends[1], said.data(), said.size()) < 0) ::_exit(1);
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string seen(4096, ' ');
    seen.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(ends[0], seen.data(), 4096), 0)));
    ::close(ends[0]);
    ::close(terminal);
    int status = -1;
    REQUIRE(::waitpid(owner, &status, 0) == owner);
    CHECK(seen.find("0\n") == 0);
    CHECK(seen.find("opened") == seen.npos);
}

TEST_CASE("child: limits are those that it sees") {
    auto spawner = make_spawner();
    job wanted{.argv = {"/bin/sh", "-c", "ulimit -t; ulimit -v; ulimit -n"}};
    wanted.limits = {
        {RLIMIT_CPU, 30, 31}, {RLIMIT_AS, 1U << 29U, 1U << 29U}, {RLIMIT_NOFILE, 64, 64}};
    CHECK(run(spawner, wanted).output == "30\n524288\n64\n");
    CHECK(os::current_descriptor_limit().soft != 64);
}

TEST_CASE("child: whom its files are for is the plan's matter, else this process's") {
    auto spawner = make_spawner();
    const mode_t before = ::umask(0022);
    CHECK(shell(spawner, "umask").output == "0022\n");
    CHECK(run(spawner, {.argv = {"/bin/sh", "-c", "umask"}, .file_mask = 0077}).output == "0077\n");
    CHECK(::umask(before) == 0022);
}

TEST_CASE("child: what it used is told") {
    auto spawner = make_spawner();
    const auto end = shell(spawner, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").end;
    CHECK(end.user + end.system > 0ns);
    CHECK(end.user + end.system < 20s);
    CHECK(end.max_rss_bytes > 100'000);
    // Reaped twice, as if somebody else had been quicker: no success.
    const auto again = os::reap({.pid = ::getpid(), .pidfd = -1});
    REQUIRE(again.has_value());
    CHECK(again->signalled);
}

TEST_CASE("child: another user, for good") {
    const auto nobody = os::find_user("nobody");
    REQUIRE(nobody.has_value());
    if (::geteuid() != 0) {
        CHECK(refusal({.argv = {"/bin/true"}, .run_as = &*nobody}) ==
              "cannot change to user nobody: Operation not permitted");
        return;
    }
    auto spawner = make_spawner();
    const auto seen =
        run(spawner, {.argv = {"/bin/grep", "-E", "^(Uid|Gid|Groups|CapEff)", "/proc/self/status"},
                      .run_as = &*nobody});
    const std::string uid = std::to_string(nobody->uid);
    const std::string gid = std::to_string(nobody->gid);
    CHECK(seen.output == "Uid:\t" + uid + "\t" + uid + "\t" + uid + "\t" + uid + "\nGid:\t" + gid +
                             "\t" + gid + "\t" + gid + "\t" + gid + "\nGroups:\t" + gid +
                             " \nCapEff:\t0000000000000000\n");
    // This process is still who it was, in all of its threads.
    CHECK(::geteuid() == 0);
    job closed{.argv = {"/bin/true"}, .directory = "/root", .run_as = &*nobody};
    CHECK(refusal(closed) == "cannot change to directory /root: Permission denied");
}

TEST_CASE("child: who is that user already needs not be root") {
    if (::geteuid() != 0) return;
    const auto nobody = os::find_user("nobody");
    REQUIRE(nobody.has_value());
    const pid_t checker = ::fork();
    if (checker == 0) {
        const bool changed = ::setgid(nobody->gid) == 0 && ::setuid(nobody->uid) == 0;
        auto spawner = os::spawner::create();
        job wanted{.argv = {"/bin/true"}, .run_as = &*nobody};
        const bool same = changed && spawner.has_value() && start(*spawner, wanted, 2).has_value();
        const os::system_user root{"root", "/root", 0, 0, {0}};
        wanted.run_as = &root;
        const auto refused = start(*spawner, wanted, 2);
        ::_exit(same && refused.has_error() &&
                        refused.error().message ==
                            "cannot change to user root: Operation not permitted"
                    ? 0
                    : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(checker, &status, 0) == checker);
    CHECK(status == 0);
}

TEST_CASE("child: two threads start 500 each at once") {
    std::atomic<int> good = 0;
    const auto work = [&good](os::spawner spawner, const char* status) {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
        for (int i = 0; i < 500; ++i) {
            job wanted{.argv = {"/bin/sh", "-c", std::string("exit ") + status}};
            const auto started = start(spawner, wanted, ends[1]);
            if (!started) continue;
            pollfd end{started->pidfd, POLLIN, 0};
            if (::poll(&end, 1, 20'000) != 1) continue;
            const auto ended = os::reap(*started);
            ::close(started->pidfd);
            if (ended && !ended->signalled && ended->status_or_signal == status[0] - '0') ++good;
        }
        ::close(ends[0]);
        ::close(ends[1]);
    };
    std::thread first(work, make_spawner(), "3");
    std::thread second(work, make_spawner(), "7");
    first.join();
    second.join();
    CHECK(good == 1000);
}

TEST_CASE("child: starting leaves no descriptor behind") {
    const auto open_now = [] {
        int count = 0;
        for (int n = 0; n < 256; ++n)
            count += ::fcntl(n, F_GETFD) >= 0 ? 1 : 0;
        return count;
    };
    const int before = open_now();
    {
        auto spawner = make_spawner();
        for (int i = 0; i < 3; ++i)
            shell(spawner, "true");
        CHECK(refusal({.argv = {"/no/such"}}).starts_with("cannot run"));
    }
    CHECK(open_now() == before);
}

TEST_CASE("child: an inherited disregard of SIGCHLD is ended, closed descriptors are opened") {
    const pid_t checker = ::fork();
    if (checker == 0) {
        std::signal(SIGCHLD, SIG_IGN);
        ::close(0);
        ::close(2);
        const bool prepared = os::prepare_for_children().has_value();
        const bool open = ::fcntl(0, F_GETFD) == 0 && ::fcntl(2, F_GETFD) == 0;
        ::_exit(prepared && open && std::signal(SIGCHLD, SIG_DFL) == SIG_DFL ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(checker, &status, 0) == checker);
    CHECK(status == 0);
}

TEST_CASE("child: it ends with its parent where that is asked for") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const pid_t parent = ::fork();
    if (parent == 0) {
        auto spawner = os::spawner::create();
        const char* const argv[]{"/bin/sh", "-c", "echo ready; exec sleep 60", nullptr};
        char* const environment[]{nullptr};
        os::child_plan plan;
        plan.program = argv[0];
        plan.argv = const_cast<char* const*>(argv);
        plan.environment = environment;
        plan.input = 0;
        plan.output = ends[1];
        plan.ends_with_parent = true;
        if (!spawner || !spawner->start(plan)) ::_exit(1);
        ::pause();
    }
    ::close(ends[1]);
    std::array<char, 64> buffer{};
    REQUIRE(::read(ends[0], buffer.data(), buffer.size()) == 6);
    REQUIRE(::kill(parent, SIGKILL) == 0);
    REQUIRE(::waitpid(parent, nullptr, 0) == parent);
    // The pipe's other end is the child's alone.
    pollfd end{ends[0], POLLIN, 0};
    CHECK(::poll(&end, 1, 20'000) == 1);
    CHECK(::read(ends[0], buffer.data(), buffer.size()) == 0);
    ::close(ends[0]);
}
