// SPDX-License-Identifier: GPL-3.0-or-later
// Commands as they really run: how their ends are told, limits, and interruptions.
#include "experiment/supervisor.hpp"

#include <sys/resource.h>

#include "os/process.hpp"
#include "support.hpp"

using namespace postal;
using namespace std::chrono_literals;
using experiment::patience;
using experiment::woken;

namespace {

experiment::job shell(const test::folder& in, std::string script) {
    return {{"sh", "-c", std::move(script)}, "mail.toml:7", in / "log"};
}

// What is said when the script is run; "" where it ends well.
std::string outcome(experiment::supervisor& by, experiment::job what,
                    std::chrono::nanoseconds limit = 1min,
                    patience how = patience::until_interrupted) {
    const test::folder books;
    auto book = test::open_journal(books.path());
    const auto ran = by.run(std::move(what), limit, how, book);
    CHECK(book.left().empty());
    return ran ? "" : ran.error().message;
}

void wait_for_file(experiment::supervisor& by, const std::string& path) {
    test::wait_until(by, [&] { return std::filesystem::exists(path); });
}

}  // namespace

TEST_CASE("supervisor: how a command ended is told with the last thing that it said") {
    const test::folder here;
    auto by = test::make_supervisor();
    struct row {
        std::string script;
        std::string wanted;
        std::string_view reason;
    };
    const std::vector<row> table{
        {"echo fine; exit 0", "", "success"},
        {"exit 3", "mail.toml:7: sh ended with status 3", "no output"},
        {"echo a; echo no such device >&2; echo; exit 1",
         "mail.toml:7: sh ended with status 1: no such device", "the last line that is not empty"},
        {"echo 'sh: no such device'; echo that is all; exit 1",
         "mail.toml:7: sh ended with status 1: sh: no such device", "diagnostics before a summary"},
        {"printf 'half a line'; kill -9 $$",
         "mail.toml:7: sh was ended by signal 9 (Killed): half a line", "a signal"},
        {"printf 'a\\033[2Jb\\n'; exit 1", "mail.toml:7: sh ended with status 1: a\\x1b[2Jb",
         "what would clear the screen"},
    };
    for (const auto& [script, wanted, reason] : table) {
        INFO(reason);
        CHECK(outcome(*by, shell(here, script)) == wanted);
    }
    // What an earlier command said is not taken for the last one's.
    CHECK(outcome(*by, shell(here, "echo early")).empty());
    CHECK(outcome(*by, shell(here, "exit 1")) == "mail.toml:7: sh ended with status 1");
    CHECK(test::read(here / "log").find("$ sh -c echo early\nearly\n") != std::string::npos);
}

TEST_CASE("supervisor: a program that cannot be run") {
    const test::folder here;
    auto by = test::make_supervisor();
    const auto refusal = [&](std::vector<std::string> words, const std::string& log = "log") {
        return outcome(*by, {std::move(words), "mail.toml:7", here / log});
    };
    CHECK(refusal({"no-such-program"}) ==
          "mail.toml:7: there is no program \"no-such-program\" in PATH");
    CHECK(refusal({"/no/such"}) == "mail.toml:7: /no/such is no program");
    CHECK(refusal({"/etc"}) == "mail.toml:7: /etc is no program");
    CHECK(refusal({}) == "mail.toml:7: there is no program \"\" in PATH");
    CHECK(refusal({"true"}, "no/log").find("no/log: cannot be written: No such file") !=
          std::string::npos);
    CHECK(refusal({"true"}).empty());
}

TEST_CASE("supervisor: programs are found in PATH, and in the system's folders") {
    const test::folder here;
    const std::string before = std::getenv("PATH");
    std::ofstream(here / "tool") << "#!/bin/sh\n";
    std::ofstream(here / "data") << "no program\n";
    std::filesystem::permissions(here / "tool", std::filesystem::perms::owner_all);
    ::setenv("PATH", (here.path() + "/none:" + here.path()).c_str(), 1);
    CHECK(experiment::find_program("tool").value() == here / "tool");
    CHECK(experiment::find_program("data").has_error());
    CHECK(experiment::find_program("sh").has_error());
    CHECK(experiment::find_program("ldconfig").value() == "/usr/sbin/ldconfig");
    CHECK(experiment::find_program(here / "tool").value() == here / "tool");
    ::setenv("PATH", before.c_str(), 1);
}

TEST_CASE("supervisor: a command that takes too long is ended with all of its group") {
    const test::folder here;
    auto by = test::make_supervisor();
    CHECK(outcome(*by, shell(here, "exec sleep 60"), 200ms) ==
          "mail.toml:7: sh did not end within 200ms");
    // The child disregards SIGTERM and outlives the shell, which does not.
    const std::string script =
        "(trap '' TERM; echo $$ > " + here / "ready" + "; while :; do sleep 1; done) & wait";
    CHECK_FALSE(outcome(*by, shell(here, script), 500ms).empty());
    const auto is_over = [] {
        for (const auto& one : os::descendants_of(::getpid()))
            if (!one.ended) return false;
        return true;
    };
    test::wait_until(*by, is_over);
}

TEST_CASE("supervisor: an interruption ends what may be interrupted, and not what undoes") {
    const test::folder here;
    auto by = test::make_supervisor();
    by->every_second([&, sent = false]() mutable {
        if (!sent && std::filesystem::exists(here / "ready")) ::kill(::getpid(), SIGINT);
        sent = sent || std::filesystem::exists(here / "ready");
    });
    const std::string script = "echo > " + here / "ready" + "; exec sleep 60";
    CHECK(outcome(*by, shell(here, script)) == "mail.toml:7: sh was interrupted");
    CHECK(by->interruptions() == 1);
    CHECK(outcome(*by, shell(here, "exec sleep 60")) == "mail.toml:7: sh was interrupted");
    CHECK(outcome(*by, shell(here, "sleep 0.2"), 1min, patience::undoing).empty());
    // The second one leaves little time, also for what waits already.
    by->every_second([sent = false]() mutable {
        if (!sent) ::kill(::getpid(), SIGTERM);
        sent = true;
    });
    CHECK(outcome(*by, shell(here, "exec sleep 60"), 1h, patience::undoing) ==
          "mail.toml:7: sh did not end within 1s");
    CHECK(by->interruptions() == 2);
}

TEST_CASE("supervisor: what stays is ended, first politely") {
    const test::folder here;
    auto by = test::make_supervisor();
    auto book = test::open_journal(here.path());
    auto polite = by->start(shell(here, "trap 'echo bye; exit 0' TERM; echo > " + here / "one" +
                                            "; while :; do sleep 0.05; done"),
                            book, 7s);
    REQUIRE(polite.has_value());
    REQUIRE(book.left().size() == 1);
    CHECK(book.left().front().number == polite->number);
    CHECK(book.left().front().pid == polite->started.pid);
    CHECK(book.left().front().limit == 7s);
    wait_for_file(*by, here / "one");
    CHECK_FALSE(by->has_ended(*polite));
    CHECK(experiment::ending_of(*polite) == "sh still runs");
    CHECK(by->end(*polite, 1min));
    CHECK(experiment::ending_of(*polite) == "sh ended with status 0: bye");
    CHECK(by->end(*polite, 1min));

    auto deaf = by->start(
        shell(here, "trap '' TERM; echo > " + here / "two" + "; while :; do sleep 0.05; done"),
        book, 7s);
    REQUIRE(deaf.has_value());
    wait_for_file(*by, here / "two");
    CHECK_FALSE(by->end(*deaf, 100ms));
    CHECK(deaf->end->status_or_signal == SIGKILL);
}

TEST_CASE("supervisor: each second of waiting is a second for others, too") {
    const test::folder here;
    auto by = test::make_supervisor();
    int calls = 0;
    std::vector<std::chrono::steady_clock::time_point> times;
    by->every_second([&] {
        ++calls;
        times.push_back(std::chrono::steady_clock::now());
        // Not called again while it is under way.
        by->wait({}, times.back() + 5ms, patience::undoing);
    });
    while (calls < 3)
        by->wait({}, std::chrono::steady_clock::now() + 100ms, patience::undoing);
    CHECK(times[2] - times[1] > 500ms);
    by->every_second({});
    CHECK(by->wait({}, std::chrono::steady_clock::now(), patience::undoing) == woken::by_time);
    CHECK(calls == 3);
}

TEST_CASE("supervisor: who may open many files, and who gets the limit that was found") {
    const test::folder here;
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit lower = before;
    lower.rlim_cur = 321;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &lower) == 0);
    {
        auto by = test::make_supervisor();
        auto one = shell(here, "ulimit -Sn; ulimit -Hn");
        CHECK(outcome(*by, one).empty());
        one.log = here / "many";
        one.many_files = true;
        CHECK(outcome(*by, one).empty());
    }
    const std::string hard = std::to_string(before.rlim_max) + "\n";
    CHECK(test::read(here / "log").ends_with("\n321\n" + hard));
    CHECK(test::read(here / "many").ends_with("\n" + hard + hard));
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}
