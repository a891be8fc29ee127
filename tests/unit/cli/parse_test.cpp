// The conventions of the command line, tried on a made-up program with one row of each kind.
#include "cli/parse.hpp"

#include "../temporary_file.hpp"
#include "base/file_descriptor.hpp"
#include "cli/binders.hpp"
#include "cli/content_look.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

using namespace postal;

namespace {

enum class mode { automatic, off };

constexpr cli::file_kind record_kind{"record", [](std::string_view beginning) {
                                         return beginning.find("\"record/") != beginning.npos;
                                     }};
constexpr cli::file_kind numbered_kind{
    "transcript", [](std::string_view beginning) { return beginning.starts_with("0.1 -> "); },
    true};

struct values {
    unsigned sessions = 1;
    std::int64_t per_connection = 1;
    std::uint64_t most = 10240;
    std::chrono::nanoseconds duration{0};
    std::optional<base::rate> limit;
    mode pipelining = mode::automatic;
    bool all = false, lmtp = false;
    unsigned tls = 0;
    std::vector<std::string> thresholds;
    std::string record, ledger, transcript, server, users;
};

cli::program describe(values& v) {
    return {
        "sample",
        "Does nothing at all, and does it for tests.",
        {{"Load",
          {
              {"-t,--sessions", "N", "1", "sessions", cli::count(v.sessions, 1, 1000)},
              {"-c,--per-connection", "N", "1", "messages", cli::count(v.per_connection, -1)},
              {"-m,--max-size", "SIZE", "10K", "size", cli::size(v.most, 1024, 1 << 30)},
              {"-r,--rate", "RATE", "", "rate", cli::rate(v.limit, base::rate_unit::per_minute)},
              {"-s,--tls-share", "PERCENT", "0", "share", cli::percent(v.tls)},
              {"--duration", "DURATION", "", "time", cli::duration(v.duration)},
              {"--pipelining", "auto|off", "auto", "mode",
               cli::choice(v.pipelining, {{"auto", mode::automatic}, {"off", mode::off}})},
          }},
         {"Report",
          {
              {"-a,--all", "", "", "log all", cli::flag(v.all)},
              {"-L,--lmtp", "", "", "LMTP", cli::flag(v.lmtp)},
              {"--threshold", "EXPR", "", "expression", cli::texts(v.thresholds), true},
              {"--record", "FILE", "", "record", cli::text(v.record), false, &record_kind},
              {"--ledger", "FILE", "", "ledger", cli::text(v.ledger), false, &record_kind},
              {"-z,--transcript", "BASE", "", "dialogues", cli::text(v.transcript), false,
               &numbered_kind},
          }}},
        {{"SERVER", "where to", cli::text(v.server)},
         {"USER-LIST", "for whom", cli::text(v.users), false}},
    };
}

base::expected<cli::parse_result> run(values& v, const std::vector<std::string>& words,
                                      std::vector<cli::effective_option>* effective = nullptr) {
    std::vector<cli::effective_option> ignored;
    return cli::parse(describe(v), words, effective == nullptr ? ignored : *effective);
}

std::string error_of(const std::vector<std::string>& words) {
    values v;
    const auto result = run(v, words);
    return result ? "no error" : result.error().message;
}

using test::temporary_file;

std::string config_error(const std::string& content) {
    const temporary_file file(content);
    std::string message = error_of({"--config", file.path(), "host"});
    const std::string path = file.path();
    const auto at = message.find(path);
    return at == std::string::npos ? message : message.replace(at, path.size(), "FILE");
}

}  // namespace

TEST_CASE("parse: every way to write an option sets its target") {
    values v;
    const auto result = run(v, {"-t", "5", "-c", "-1", "-m10", "--rate=10/s", "-aL", "--duration",
                                "1h30m", "--pipelining=off", "host:25", "users.txt"});
    REQUIRE(result.has_value());
    CHECK(*result == cli::parse_result::run);
    CHECK(v.sessions == 5);
    CHECK(v.per_connection == -1);
    CHECK(v.most == 10 * 1024);
    CHECK(v.limit->per_second == Approx(10));
    CHECK(v.all);
    CHECK(v.lmtp);
    CHECK(v.duration == std::chrono::minutes{90});
    CHECK(v.pipelining == mode::off);
    CHECK(v.server == "host:25");
    CHECK(v.users == "users.txt");
}

TEST_CASE("parse: values that look like something else stay values") {
    SECTION("a bracketed address") {
        values v;
        REQUIRE(run(v, {"--record", "[::1]", "[::1]", "-c", "-1"}).has_value());
        CHECK(v.record == "[::1]");
        CHECK(v.server == "[::1]");
        CHECK(v.per_connection == -1);
    }
    SECTION("a dash for standard output") {
        values v;
        REQUIRE(run(v, {"--record", "-", "host"}).has_value());
        CHECK(v.record == "-");
    }
    SECTION("what follows an option is its value, whatever it looks like") {
        values v;
        REQUIRE(run(v, {"--record", "--all", "--threshold", "--", "-am5", "--record=a=b", "h"})
                    .has_value());
        CHECK(v.record == "a=b");
        CHECK(v.thresholds == std::vector<std::string>{"--"});
        CHECK(v.all);
        CHECK(v.most == 5 * 1024);
    }
    SECTION("after two dashes everything is an argument") {
        values v;
        REQUIRE(run(v, {"-t", "2", "--", "-host", "--list"}).has_value());
        CHECK(v.server == "-host");
        CHECK(v.users == "--list");
    }
    SECTION("arguments before, between and after options") {
        values v;
        REQUIRE(run(v, {"host", "-t", "3", "list", "-a"}).has_value());
        CHECK(v.server == "host");
        CHECK(v.users == "list");
        CHECK(v.all);
    }
    SECTION("a leading plus") {
        values v;
        REQUIRE(run(v, {"+host,other"}).has_value());
        CHECK(v.server == "+host,other");
    }
}

TEST_CASE("parse: the last of several counts, unless the option is repeatable") {
    values v;
    REQUIRE(run(v, {"-t", "1", "-t", "7", "--threshold", "a<1", "--threshold=b<2", "host"})
                .has_value());
    CHECK(v.sessions == 7);
    CHECK(v.thresholds == std::vector<std::string>{"a<1", "b<2"});
}

TEST_CASE("parse: a mistake is one line that names the option and what would be right") {
    struct row {
        std::vector<std::string> arguments;
        std::string wanted;
    };
    const row table[] = {
        {{}, "SERVER is missing; usage: sample [OPTION]... SERVER [USER-LIST]"},
        {{"a", "b", "c"}, "c: one argument too many; usage: sample [OPTION]... SERVER [USER-LIST]"},
        {{"-t", "0", "h"}, "--sessions: 0 is out of range; give a whole number from 1 to 1000"},
        {{"-t", "x", "h"}, "--sessions: \"x\" is not a number; give a whole number from 1 to 1000"},
        {{"-t", "5x", "h"},
         "--sessions: \"5x\" is not a number; give a whole number from 1 to 1000"},
        {{"-t", "99999999999999999999", "h"},
         "--sessions: 99999999999999999999 is out of range; give a whole number from 1 to 1000"},
        {{"-c", "-2", "h"},
         "--per-connection: -2 is out of range; give a whole number of at least -1"},
        {{"-s", "101", "h"}, "--tls-share: \"101\" is not a percentage; give 0 to 100"},
        {{"--pipelining", "on", "h"}, "--pipelining: \"on\" is not known; give auto, off"},
        {{"h", "--duration"}, "--duration: needs a value: DURATION"},
        {{"h", "-t"}, "--sessions: needs a value: N"},
        {{"--record=", "h"}, "--record: needs a value: FILE"},
        {{"--record", "", "h"}, "--record: the value is empty"},
        {{"--durtion", "5s", "h"}, "--durtion: unknown option; did you mean --duration?"},
        {{"--dura", "h"}, "--dura: unknown option; did you mean --duration?"},
        {{"-duration", "h"}, "-duration: unknown option; did you mean --duration?"},
        {{"--quite-different=1", "h"}, "--quite-different: unknown option; --help lists them"},
        {{"--all=5", "h"}, "--all: \"5\" is a value, and this is a flag; give it without one"},
        {{"--all=", "h"}, "--all: \"\" is a value, and this is a flag; give it without one"},
        {{"--sesions=", "h"}, "--sesions: unknown option; did you mean --sessions?"},
        {{"-ax", "h"}, "-x: unknown option; did you mean -t?"},
        {{"-at"}, "--sessions: needs a value: N"},
        {{"-5", "h"}, "-5: unknown option; did you mean -t?"},
        {{"---all", "h"}, "---all: unknown option; did you mean --all?"},
        {{"--config"}, "--config: needs a value: FILE"},
        {{"--completio", "h"}, "--completio: unknown option; --help lists them"},
        {{"--completion", "csh"}, "--completion: \"csh\" is not a shell known here; give bash"},
    };
    for (const auto& [arguments, wanted] : table)
        CHECK(error_of(arguments) == wanted);
    CHECK_THAT(error_of({"-r", "0", "h"}), Catch::StartsWith("--rate: 0 is not a rate; give"));
    CHECK_THAT(error_of({"-r", "fast", "h"}), Catch::StartsWith("--rate: "));
    CHECK_THAT(error_of({"--duration", "5", "h"}), Catch::StartsWith("--duration: "));
    CHECK_THAT(error_of({"-m", "2G", "h"}), Catch::StartsWith("--max-size: 2G is too large"));
}

TEST_CASE("parse: a repeatable argument takes all that are left") {
    std::string first;
    std::vector<std::string> others;
    const cli::program program{
        "sample",
        "",
        {},
        {{"FIRST", "", cli::text(first)}, {"OTHER", "", cli::texts(others), true, true}}};
    const auto result = cli::parse(program, {"a", "b", "[c]", "d"});
    INFO((result.has_error() ? result.error().message : "parsed"));
    REQUIRE(result.has_value());
    CHECK(first == "a");
    CHECK(others == std::vector<std::string>{"b", "[c]", "d"});
    const auto missing = cli::parse(program, {"a"});
    REQUIRE(missing.has_error());
    CHECK(missing.error().message == "OTHER is missing; usage: sample [OPTION]... FIRST OTHER...");
}

TEST_CASE("parse: the configuration file sets what the command line leaves open") {
    const temporary_file file(
        "# a comment\n"
        "sessions = 50\n"
        "rate = \"600/min\"\n"
        "all = true\n"
        "lmtp = false\n"
        "threshold = [\"a<1\", \"b<2\"]\n");
    values v;
    REQUIRE(run(v, {"--config", file.path(), "-t", "3", "host"}).has_value());
    CHECK(v.sessions == 3);
    CHECK(v.limit->per_second == Approx(10));
    CHECK(v.all);
    CHECK_FALSE(v.lmtp);
    CHECK(v.thresholds == std::vector<std::string>{"a<1", "b<2"});

    values replaced;
    REQUIRE(run(replaced, {"--config", file.path(), "--threshold", "c<3", "host"}).has_value());
    CHECK(replaced.sessions == 50);
    CHECK(replaced.thresholds == std::vector<std::string>{"c<3"});
}

TEST_CASE("parse: a mistake in the configuration file is told with file and line") {
    struct row {
        std::string content, wanted;
    };
    const row table[] = {
        {"\nsesions = 5\n", "--config: FILE:2: sesions: unknown option; did you mean sessions?"},
        {"elsewhere = 5\n", "--config: FILE:1: elsewhere: unknown option"},
        {"help = true\n", "--config: FILE:1: help: unknown option"},
        {"sessions = true\n", "--config: FILE:1: sessions takes N, not true or false"},
        {"sessions = [1, 2]\n", "--config: FILE:1: sessions takes one value, not a list"},
        {"all = 1\n", "--config: FILE:1: all is a flag; give true or false"},
        {"sessions = 1979-05-27\n",
         "--config: FILE:1: sessions is neither text, a number nor true or false"},
        {"threshold = [\"a\", [1]]\n",
         "--config: FILE:1: threshold: an element is neither text, a number nor true or false"},
        {"[load]\nsessions = 1\n",
         "--config: FILE:1: load is a table; options stand at the top level"},
        {"\n\nsessions = 0\n",
         "FILE:3: sessions: 0 is out of range; give a whole number from 1 to 1000"},
    };
    for (const auto& [content, wanted] : table)
        CHECK(config_error(content) == wanted);
    CHECK_THAT(config_error("sessions = \n"), Catch::StartsWith("--config: FILE:1: "));
    CHECK(error_of({"--config", "/nonexistent/x", "h"}) ==
          "--config: /nonexistent/x: cannot be read: No such file or directory");
    CHECK(error_of({"--config", "/tmp", "h"}) == "--config: /tmp: is a directory, not a file");
}

TEST_CASE("parse: what the options ended up as is reported") {
    const temporary_file file("sessions = 50\nmax-size = \"5K\"\n");
    values v;
    std::vector<cli::effective_option> effective;
    REQUIRE(run(v, {"--config", file.path(), "-t", "3", "-t", "4", "-a", "host"}, &effective)
                .has_value());
    std::string text;
    for (const auto& one : effective) {
        text += one.name + '=' + one.values.front() + (one.given ? " given\n" : "\n");
    }
    CHECK(text ==
          "sessions=4 given\nper-connection=1\nmax-size=5K given\ntls-share=0\npipelining=auto\n"
          "all=true given\n");
}

TEST_CASE("command line: no file is overwritten by mistake") {
    const temporary_file users("a@example.com\n");
    const temporary_file link("");
    const temporary_file older("{\n  \"schema\": \"record/1\"");
    const temporary_file empty("");
    const temporary_file config("record = \"" + users.path() + "\"\n");
    REQUIRE(std::remove(link.path().c_str()) == 0);
    REQUIRE(::symlink(users.path().c_str(), link.path().c_str()) == 0);
    const temporary_file base("");
    const std::string numbered = base.path() + ":3";
    const std::string linked = base.path() + "x";
    REQUIRE(std::ofstream(numbered).good());
    REQUIRE(::symlink(users.path().c_str(), (linked + ":0:1").c_str()) == 0);
    const std::string same = ": is the file of USER-LIST, too; name another one";
    const temporary_file mine("0.1 -> QUIT\r\n");
    const std::string dialogue = mine.path() + ":0";
    REQUIRE(std::rename(mine.path().c_str(), dialogue.c_str()) == 0);
    REQUIRE(std::ofstream(mine.path()).good());
    const temporary_file sizes("10 5\n");
    const std::string other =
        ": exists and is no record, but seems to be a user list; name another "
        "file, or give --force to write over it";
    const std::string no_dialogue =
        ": exists and is no transcript, but seems to be a user list; "
        "name another file, or give --force to write over it";
    struct row {
        std::vector<std::string> words;
        std::string said;
        const char* why;
    };
    const row rows[]{
        {{"--record", users.path(), "host", users.path()},
         "--record: " + users.path() + same,
         "a word forgotten"},
        {{"--record", link.path(), "host", users.path()},
         "--record: " + link.path() + same,
         "by another name"},
        {{"--config", config.path(), "host", users.path()},
         "--record: " + users.path() + same,
         "from the file"},
        {{"--config", config.path(), "--record", older.path(), "host", users.path()},
         "no error",
         "which the command line overrules"},
        {{"--config", config.path(), "--record", config.path(), "host"},
         "--record: " + config.path() + ": is the file of --config, too; name another one",
         "the configuration file itself"},
        {{"--record", users.path(), "host"}, "--record: " + users.path() + other, "something else"},
        {{"--record", users.path(), "--force", "host"}, "no error", "which is not needed any more"},
        {{"--record", users.path(), "--force=false", "host"},
         "--record: " + users.path() + other,
         "as it would be without it"},
        {{"--record", users.path(), "--force", "host", users.path()},
         "--record: " + users.path() + same,
         "an input is never written over"},
        {{"--record", sizes.path(), "--force", "host", "histogram:" + sizes.path()},
         "--record: " + sizes.path() + same,
         "an input behind a word"},
        {{"--record", older.path(), "host"}, "no error", "an older record"},
        {{"--record", empty.path(), "host"}, "no error", "an empty file"},
        {{"--record", "/dev/null", "--ledger", "/dev/zero", "host"}, "no error", "devices"},
        {{"--record", "/dev/null", "--ledger", "/dev/null", "host"}, "no error", "twice the same"},
        {{"--record", "-", "host", "-"}, "no error", "standard output"},
        {{"--record", "new", "--ledger", "new", "host"},
         "--record: new: is the file of --ledger, too; name another one",
         "two outputs"},
        {{"-z", base.path(), "host", numbered},
         "--transcript: " + numbered + same,
         "one of those with a number"},
        {{"-z", linked, "host", users.path()},
         "--transcript: " + linked + ":0:1" + same,
         "by a link, with two numbers"},
        {{"-z", "new", "--record", "new:1", "host"},
         "--transcript: new:1: is the file of --record, too; name another one",
         "two outputs, one with a number"},
        {{"--record", "./new:1:2", "-z", "new", "host"},
         "--transcript: ./new:1:2: is the file of --record, too; name another one",
         "with two numbers, by another name"},
        {{"-z", linked, "host"},
         "--transcript: " + linked + ":0:1" + no_dialogue,
         "no input, and no transcript"},
        {{"-z", linked, "--force", "host"}, "no error", "which is not needed any more"},
        {{"-z", mine.path(), "host"}, "no error", "an older transcript"},
        {{"-z", users.path(), "host", users.path()}, "no error", "only its beginning"},
        {{"-z", older.path(), "host", users.path()}, "no error", "of whatever kind that is"},
        {{"-z", "new", "--record", "new:1:2:3", "host"}, "no error", "three numbers"},
        {{"-z", "new", "--record", "new:x", "host"}, "no error", "no number"},
        {{"-z", "new", "--record", "new", "host"}, "no error", "no number at all"},
        {{"-z", "new", "--record", "elsewhere/new:1", "host"}, "no error", "another folder"},
        {{"-z", "host", "host:25"}, "no error", "no file"},
    };
    for (const row& each : rows) {
        INFO(each.why);
        CHECK(error_of(each.words) == each.said);
    }
    std::remove(dialogue.c_str());
}

TEST_CASE("command line: an output is none of the files that are open already") {
    const temporary_file older("{\n  \"schema\": \"record/1\"");
    const base::file_descriptor open(::open(older.path().c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(open.is_open());
    const std::string number = fmt::format("/proc/self/fd/{}", open.get());
    CHECK(error_of({"--record", number, "host", older.path()}) ==
          "--record: " + number + ": is the file of USER-LIST, too; name another one");
    CHECK(error_of({"--record", number, "host"}) == "no error");
    const int output = ::dup(STDOUT_FILENO);
    std::fflush(stdout);
    REQUIRE(::dup2(open.get(), STDOUT_FILENO) == STDOUT_FILENO);
    const std::string log_and_record = error_of({"--record", older.path(), "host"});
    const std::string log_and_list = error_of({"--record", "-", "host", older.path()});
    const std::string log_alone = error_of({"--record", "-", "host"});
    const std::string into_list = error_of({"host", older.path()});
    ::dup2(output, STDOUT_FILENO);
    ::close(output);
    CHECK(log_and_record ==
          "--record: " + older.path() + ": is the file of standard output, too; name another one");
    const std::string list =
        "standard output: " + older.path() + ": is the file of USER-LIST, too; name another one";
    CHECK(log_and_list == list);
    CHECK(into_list == list);
    CHECK(log_alone == "no error");
}

TEST_CASE("command line: --force is there where files are written, and on the command line alone") {
    CHECK(config_error("force = true\n") == "--config: FILE:1: force: unknown option");
    values v;
    std::vector<cli::effective_option> effective;
    REQUIRE(run(v, {"--force", "host"}, &effective).has_value());
    CHECK(effective.back().name == "force");
    const cli::program reads{"reader", "Reads.", {}, {}};
    CHECK(cli::parse(reads, {"--force"}).error().message ==
          "--force: unknown option; --help lists them");
}

TEST_CASE("command line: what a file seems to be") {
    struct row {
        std::string_view beginning, look;
    };
    const row rows[]{
        {"a@example.com secret\n", "a user list"},
        {"# users\r\n\r\na@example.com\r\n", "a user list"},
        {"# nothing else", "text"},
        {"Received: by x\r\n\tfor y\r\n", "a mail"},
        {"From a@example.com Mon Jan  1 00:00:00 2026\n", "a mailbox"},
        {"\x7f"
         "ELF\x02\x01",
         "a program"},
        {"#!/bin/sh\n", "a script"},
        {"-----BEGIN PRIVATE KEY-----\n", "a key or a certificate"},
        {"{\"schema\": \"postal-record/1\"", "a run record"},
        {"{\"x\": 1}", "JSON"},
        {"<!DOCTYPE html>", "HTML"},
        {{"SQLite format 3\0", 16}, "a SQLite database"},
        {{"a\0b", 3}, "binary data"},
        {"shopping", "text"},
        {"a = \"b@example.com\"", "text"},
    };
    for (const row& each : rows) {
        INFO(each.beginning);
        CHECK(cli::content_look(each.beginning) == each.look);
    }
}
