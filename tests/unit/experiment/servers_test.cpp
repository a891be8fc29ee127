// SPDX-License-Identifier: GPL-3.0-or-later
// Servers as they are started, awaited, watched and stopped.
#include "experiment/servers.hpp"

#include "experiment/undo.hpp"

#include "listener.hpp"
#include "os/process.hpp"
#include "support.hpp"

using namespace postal;
using namespace std::chrono_literals;
using experiment::servers;

namespace {

struct scene {
    test::folder here{};
    std::unique_ptr<experiment::supervisor> by = test::make_supervisor();
    experiment::journal book = test::open_journal(here.path());
    std::uint16_t port = test::free_port();

    experiment::job job(std::vector<std::string> words) const {
        return {std::move(words), "mail.toml:7", here / "log"};
    }
    experiment::server_plan plan(std::vector<std::string> words) const {
        return {.start = {job(std::move(words))},
                .ready = {test::at(port)},
                .start_limit = 30s,
                .stop_limit = 30s,
                .command_limit = 30s,
                .where = "mail.toml:5"};
    }
    std::string refusal(const experiment::server_plan& plan) {
        const auto started = servers::start(plan, book, *by);
        const std::string why = started ? "" : started.error().message;
        CHECK(undo().left.empty());
        return why;
    }
    experiment::undo_report undo() { return experiment::undo_above(0, book, *by); }
};

bool nothing_runs() {
    for (const auto& one : os::descendants_of(::getpid()))
        if (!one.ended) return false;
    return true;
}

}  // namespace

TEST_CASE("servers: ready once they let connections in, and stopped by SIGTERM") {
    scene s;
    auto started = servers::start(s.plan(test::listener(s.port, "time.sleep(0.3)")), s.book, *s.by);
    if (!started) FAIL(started.error().message);
    CHECK(experiment::lets_in(test::at(s.port)).value());
    CHECK(started->roots().size() == 1);
    CHECK(started->check(*s.by).has_value());
    const auto undone = s.undo();
    CHECK(undone.left.empty());
    CHECK(undone.notes.empty());
    CHECK_FALSE(experiment::lets_in(test::at(s.port)).value());
    CHECK(nothing_runs());
}

TEST_CASE("servers: what keeps one from being ready is told") {
    scene s;
    CHECK(s.refusal(s.plan({"sh", "-c", "echo no such mailbox; exit 75"})) ==
          "mail.toml:7: sh ended with status 75: no such mailbox");
    CHECK(s.refusal(s.plan({"sh", "-c", "exit 0"})) == "mail.toml:7: sh ended with status 0");
    CHECK(s.refusal(s.plan({"no-such-server"})) ==
          "mail.toml:7: there is no program \"no-such-server\" in PATH");
    auto silent = s.plan({"sleep", "60"});
    silent.start_limit = 100ms;
    CHECK(s.refusal(silent) == "mail.toml:5: " + test::at(s.port) +
                                   " lets no connection in after 100ms; sleep still runs");
    silent.ready = {"127.0.0.1"};
    CHECK(s.refusal(silent) == "mail.toml:5: 127.0.0.1 has no port");
    silent.ready = {};
    silent.pid_files = {s.here / "pid"};
    std::ofstream(s.here / "pid") << ::getpid() << "\n";
    CHECK(s.refusal(silent).find("mail.toml:5: " + s.here / "pid" +
                                 " names no process that was started since") == 0);
    // One of two ends while the other is not ready yet.
    auto two = s.plan({"sleep", "60"});
    two.start.push_back(s.job({"sh", "-c", "sleep 0.2; exit 3"}));
    CHECK(s.refusal(two) == "mail.toml:7: sh ended with status 3");
    CHECK(nothing_runs());
}

TEST_CASE("servers: another one at the same place is not measured") {
    scene s;
    scene other;
    auto running = servers::start(other.plan(test::listener(other.port)), other.book, *s.by);
    if (!running) FAIL(running.error().message);
    auto late = s.plan(test::listener(other.port));
    late.ready = {"unix:" + s.here / "none", test::at(other.port)};
    CHECK(s.refusal(late) ==
          "mail.toml:5: " + test::at(other.port) +
              " lets connections in before the server is started; end what listens there");
    CHECK(running->check(*s.by).has_value());
    CHECK(other.undo().left.empty());
}

TEST_CASE("servers: one that ends under load is told") {
    scene s;
    auto started = servers::start(
        s.plan(test::listener(s.port, "",
                              "while not os.path.exists('" + s.here / "end" +
                                  "'): time.sleep(0.02)\nprint('out of memory')\nos._exit(9)")),
        s.book, *s.by);
    if (!started) FAIL(started.error().message);
    CHECK(started->check(*s.by).has_value());
    std::ofstream(s.here / "end") << "";
    const auto watched = started->watched();
    CHECK(s.by->wait(watched, std::chrono::steady_clock::now() + 30s,
                     experiment::patience::until_interrupted) == experiment::woken::by_end);
    CHECK(started->check(*s.by).error().message.find("mail.toml:7: python3 ended with status 9") ==
          0);
    CHECK(s.undo().left.empty());
}

TEST_CASE("servers: one that goes to the background is found, watched and stopped") {
    for (const bool with_pid_file : {true, false}) {
        INFO("pid file: " << with_pid_file);
        scene s;
        const std::string leave =
            "if os.fork(): os._exit(0)\nos.setsid()\n"
            "open('" +
            s.here / "pid.new" +
            "', 'w').write(str(os.getpid()) + '\\n')\n"
            "os.rename('" +
            s.here / "pid.new" + "', '" + s.here / "pid" + "')";
        auto plan = s.plan(test::listener(s.port, leave));
        if (with_pid_file) plan.pid_files = {s.here / "pid"};
        plan.stop = {s.job({"sh", "-c", "echo >> " + s.here / "stopped"})};
        auto started = servers::start(plan, s.book, *s.by);
        if (!started) FAIL(started.error().message);
        CHECK(started->check(*s.by).has_value());
        const pid_t pid = static_cast<pid_t>(std::stoi(test::read(s.here / "pid")));
        if (with_pid_file) CHECK(started->roots() == std::vector<pid_t>{pid});
        // The stop command says so, and does nothing: SIGTERM ends it.
        CHECK(s.undo().left.empty());
        CHECK(test::read(s.here / "stopped") == "\n");
        CHECK_FALSE(os::find_process(pid));
        if (with_pid_file)
            CHECK(started->check(*s.by).error().message ==
                  s.here / "pid" + ": process " + std::to_string(pid) + ", a server, has ended");
        CHECK(nothing_runs());
    }
}

TEST_CASE("servers: stop commands come before signals, newest process first") {
    scene s;
    const auto noting = [&](const std::string& name, const std::string& before) {
        return test::listener(name == "one" ? s.port : test::free_port(),
                              "import signal\ndef end(*a):\n    open('" + s.here / "order" +
                                  "', 'a').write('" + name + "\\n')\n    os._exit(0)\n" +
                                  "signal.signal(signal.SIGTERM, end)\n" + before,
                              "open('" + s.here / name + "', 'w')\ntime.sleep(60)");
    };
    auto plan = s.plan(noting("one", ""));
    plan.start.push_back(s.job(noting("two", "")));
    plan.stop = {s.job({"sh", "-c", "echo first >> " + s.here / "order"}),
                 s.job({"sh", "-c", "echo second >> " + s.here / "order; exit 1"})};
    auto started = servers::start(plan, s.book, *s.by);
    if (!started) FAIL(started.error().message);
    for (const char* const name : {"one", "two"})
        test::wait_until(*s.by, [&] { return std::filesystem::exists(s.here / name); });
    const auto undone = s.undo();
    CHECK(undone.left.empty());
    CHECK(undone.notes == std::vector<std::string>{"mail.toml:7: sh ended with status 1"});
    CHECK(test::read(s.here / "order") == "first\nsecond\ntwo\none\n");
    CHECK(s.book.left().empty());
}
