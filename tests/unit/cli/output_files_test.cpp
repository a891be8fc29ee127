// SPDX-License-Identifier: GPL-3.0-or-later
// What must not be written over, tried on a made-up program with a file of each kind.
#include "cli/output_files.hpp"

#include "../temporary_file.hpp"
#include "base/file_descriptor.hpp"
#include "cli/binders.hpp"
#include "cli/content_look.hpp"
#include "cli/parse.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace postal;
using test::temporary_file;

namespace {

constexpr cli::file_kind record_kind{"record", [](std::string_view beginning) {
                                         return beginning.find("\"record/") != beginning.npos;
                                     }};
constexpr cli::file_kind numbered_kind{
    "transcript", [](std::string_view beginning) { return beginning.starts_with("0.1 -> "); },
    true};

base::expected<cli::parse_result> run(const std::vector<std::string>& words,
                                      std::vector<cli::effective_option>& effective) {
    std::string record, ledger, transcript, server, users;
    const cli::program sample{
        "sample",
        "Does nothing at all, and does it for tests.",
        {{"Report",
          {{"--record", "FILE", "", "record", cli::text(record), false, &record_kind},
           {"--ledger", "FILE", "", "ledger", cli::text(ledger), false, &record_kind},
           {"-z,--transcript", "BASE", "", "dialogues", cli::text(transcript), false,
            &numbered_kind}}}},
        {{"SERVER", "where to", cli::text(server)},
         {"USER-LIST", "for whom", cli::text(users), false}},
    };
    return cli::parse(sample, words, effective);
}

std::string error_of(const std::vector<std::string>& words) {
    std::vector<cli::effective_option> ignored;
    const auto result = run(words, ignored);
    return result ? "no error" : result.error().message;
}

}  // namespace

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
        {{"--record", "new", "--ledger", "./new", "host"},
         "--record: new: is the file of --ledger, too; name another one",
         "two outputs, one bare"},
        {{"--record", std::filesystem::current_path() / "new", "--ledger", "new", "host"},
         "--record: " + (std::filesystem::current_path() / "new").string() +
             ": is the file of --ledger, too; name another one",
         "two outputs, one from the root on"},
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
    const temporary_file config("force = true\n");
    CHECK(error_of({"--config", config.path(), "host"}) ==
          "--config: " + config.path() + ":1: force: unknown option");
    std::vector<cli::effective_option> effective;
    REQUIRE(run({"--force", "host"}, effective).has_value());
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
        {"Received:\r\n by x\r\n", "a mail"},
        {"root:x:0:0:root:/root:/bin/bash\n", "text"},
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
