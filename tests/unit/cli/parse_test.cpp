// SPDX-License-Identifier: GPL-3.0-or-later
// The conventions of the command line, tried on a made-up program with one row of each kind.
#include "cli/parse.hpp"

#include "../temporary_file.hpp"
#include "cli/binders.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using namespace postal;

namespace {

enum class mode { automatic, off };

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
    std::string record, server, users;
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
              {"--record", "FILE", "", "record", cli::text(v.record)},
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
        {{"--pipelining", "on", "h"}, "--pipelining: \"on\" is not known; give auto or off"},
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
        {{"-ax", "h"}, "-x: unknown option; --help lists them"},
        {{"-at"}, "--sessions: needs a value: N"},
        {{"-5", "h"}, "-5: unknown option; --help lists them"},
        {{"---all", "h"}, "---all: unknown option; did you mean --all?"},
        {{"--config"}, "--config: needs a value: FILE"},
        {{"--completio", "h"}, "--completio: unknown option; did you mean --completion?"},
        {{"--completion", "csh"},
         "--completion: \"csh\" is not a shell known here; give bash, zsh or fish"},
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
        // What a terminal would obey.
        {"\"\\u001b[31m\" = [[1]]\n",
         "--config: FILE:1: \\x1b[31m: an element is neither text, a number nor true or false"},
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
