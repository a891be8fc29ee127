// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of children whose server is gone: real servers, which fork here and end as told.
#include "os/guardian.hpp"

#include "child_support.hpp"
#include "os/process.hpp"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <optional>

using namespace postal;
using namespace postal::os::test;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

bool ends(const base::file_descriptor& watched, int within_ms) {
    pollfd asked{watched.get(), POLLIN, 0};
    return ::poll(&asked, 1, within_ms) == 1;
}

// A server with a guardian and a child that runs this script, whose time is over in `time`. It has
// done so once it has said so, and waits for its end.
struct fake_server {
    std::string script;
    std::chrono::nanoseconds time;
    bool removed = false;  // from the list, before it says so
    bool orderly = false;  // ends by itself, through the guardian's destructor

    pid_t pid = -1;
    base::file_descriptor child{};
    base::file_descriptor guardian{};
    pid_t guardian_pid = -1;

    void run() {
        std::array<int, 2> said{};
        REQUIRE(::pipe2(said.data(), O_CLOEXEC) == 0);
        pid = ::fork();
        if (pid == 0) serve(said[1]);
        ::close(said[1]);
        pid_t started = -1;
        const bool told = ::read(said[0], &started, sizeof started) == sizeof started;
        ::close(said[0]);
        REQUIRE(told);
        child = os::watch_process(started);
        for (const os::process_stat& one : os::descendants_of(pid)) {
            if (one.name == "test-guardian") guardian_pid = one.pid;
        }
        REQUIRE(guardian_pid > 0);
        guardian = os::watch_process(guardian_pid);
    }

    [[noreturn]] void serve(int said) const {
        std::optional<base::expected<os::guardian>> made(os::guardian::start(
            {.name = "test-guardian", .lists = 2, .most_children = 4, .kill_after = 300ms}));
        auto spawner = os::spawner::create();
        if (!*made || !spawner) ::_exit(1);
        auto list = (*made)->list_of(1);
        job wanted{.argv = {"/bin/sh", "-c", script}};
        std::array<int, 2> ready{};
        if (::pipe2(ready.data(), O_CLOEXEC) != 0) ::_exit(1);
        const auto started = start(*spawner, wanted, ready[1]);
        char octet = 0;
        if (!started || ::read(ready[0], &octet, 1) != 1) ::_exit(1);
        // The place of the second is used again.
        const auto deadline = steady_clock::now() + time;
        const auto first = list.add(1, deadline);
        list.remove(list.add(1, deadline));
        const auto place = list.add(started->pid, deadline);
        list.remove(first);
        if (removed) list.remove(place);
        if (::write(said, &started->pid, sizeof started->pid) < 0) ::_exit(1);
        if (orderly) ::raise(SIGSTOP);
        while (!orderly)
            ::pause();
        made.reset();
        ::_exit(0);
    }

    void end(int signal) const {
        ::kill(pid, signal);
        ::waitpid(pid, nullptr, 0);
    }

    // Also of what a guardian that does not do its work has left.
    void clear_away() const {
        for (const base::file_descriptor* one : {&child, &guardian}) {
            if (one->is_open()) ::syscall(SYS_pidfd_send_signal, one->get(), SIGKILL, nullptr, 0);
        }
    }
};

}  // namespace

TEST_CASE("guardian: what a killed server left ends when its time is over, and the guardian") {
    struct row {
        std::string script;
        std::string_view reason;
    };
    const std::vector<row> table{
        {"echo; exec sleep 600", "SIGTERM is enough"},
        {"trap '' TERM; echo; while :; do sleep 0.05; done", "it is deaf"},
        {"echo; kill -STOP $$; exec sleep 600", "somebody stopped it"},
        {"trap '' TERM; echo; while :; do kill -STOP $$; done", "it stops itself for ever"},
    };
    for (const auto& [script, reason] : table) {
        INFO(reason);
        fake_server server{.script = script, .time = 200ms};
        server.run();
        server.end(SIGKILL);
        CHECK(ends(server.child, 20'000));
        CHECK(ends(server.guardian, 20'000));
        server.clear_away();
    }
}

TEST_CASE("guardian: nothing is ended before its time") {
    fake_server server{.script = "echo; exec sleep 600", .time = 1h};
    server.run();
    ::kill(server.guardian_pid, SIGTERM);  // as whoever ends a whole service says it, to the server
    server.end(SIGKILL);
    CHECK_FALSE(ends(server.child, 200));
    CHECK_FALSE(ends(server.guardian, 0));
    // But now it is the guardian who is told.
    const auto signalled = [&] {
        ::kill(server.guardian_pid, SIGTERM);
        return ends(server.child, 200);
    };
    const auto begun = steady_clock::now();
    bool ended = false;
    while (!ended && steady_clock::now() - begun < 20s)
        ended = signalled();
    CHECK(ended);
    CHECK(ends(server.guardian, 20'000));
    server.clear_away();
}

TEST_CASE("guardian: it ends with a server that left nobody, and with the last of the others") {
    SECTION("reaped children are not listed") {
        fake_server server{.script = "echo; exec sleep 600", .time = 1ms, .removed = true};
        server.run();
        server.end(SIGKILL);
        CHECK(ends(server.guardian, 20'000));
        CHECK_FALSE(ends(server.child, 100));
        server.clear_away();
    }
    SECTION("a child that ends by itself") {
        fake_server server{.script = "echo; sleep 0.2", .time = 1h};
        server.run();
        server.end(SIGKILL);
        CHECK(ends(server.guardian, 20'000));
    }
    SECTION("before the server does, when that ends in order") {
        fake_server server{
            .script = "echo; exec sleep 600", .time = 1h, .removed = true, .orderly = true};
        server.run();
        int status = 0;
        REQUIRE(::waitpid(server.pid, &status, WUNTRACED) == server.pid);
        server.end(SIGCONT);
        CHECK(ends(server.guardian, 0));
        server.clear_away();
    }
}

TEST_CASE("guardian: somebody else who has the number by now is left alone") {
    auto spawner = make_spawner();
    job wanted{.argv = {"/bin/sleep", "600"}};
    const auto bystander = start(spawner, wanted, 2);
    REQUIRE(bystander.has_value());
    const auto a_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    const auto now = os::clock_ticks();
    // When the child was made that had the number before.
    for (const std::uint64_t noted : {now - 2 * a_second, now + 60 * a_second}) {
        const pid_t server = ::fork();
        if (server == 0) {
            auto guardian = os::guardian::start({.name = "test-guardian", .kill_after = 1ms});
            auto list = guardian ? guardian->list_of(0) : os::guardian::list{};
            if (list.add(bystander->pid, steady_clock::now(), noted) != 0) ::_exit(1);
            ::raise(SIGKILL);
        }
        int status = 0;
        REQUIRE(::waitpid(server, &status, 0) == server);
        CHECK(WIFSIGNALED(status));
        CHECK_FALSE(ends(base::file_descriptor(::dup(bystander->pidfd)), 300));
    }
    os::signal_group(*bystander, SIGKILL);
    wait_for(*bystander);
}
