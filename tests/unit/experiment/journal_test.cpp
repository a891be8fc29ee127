// SPDX-License-Identifier: GPL-3.0-or-later
// What a journal says after its writer was killed at any octet.
#include "experiment/journal.hpp"

#include "os/process.hpp"
#include "support.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

using namespace postal;
using experiment::journal;
using experiment::undo_kind;

namespace {

experiment::undo_entry mount(std::string path) {
    return {.kind = undo_kind::mount, .path = std::move(path)};
}

std::string refusal(std::string_view text) {
    const auto read = experiment::parse_journal(text, "j");
    return read ? "" : read.error().message;
}

}  // namespace

TEST_CASE("journal: what was announced and not struck out is left") {
    const test::folder here;
    {
        auto written = test::open_journal(here.path());
        REQUIRE(written.announce(mount("/a b")).value() == 1);
        for (const std::uint64_t number : {2, 3})
            REQUIRE(written.announce({.kind = undo_kind::process, .pid = 12}).value() == number);
        REQUIRE(written.strike_out(1).has_value());
        CHECK(written.made_on("/dev/sdb").empty());
        for (const char* const device : {"/dev/sdb", "/dev/sdc"})
            REQUIRE(written.note_making(device).has_value());
        for (const char* const uuid : {"1-2", "3-4"})
            REQUIRE(written.note_made("/dev/sdb", uuid).has_value());
        CHECK(journal::open(here.path()).error().message.find("another program") !=
              std::string::npos);
    }
    auto again = test::open_journal(here.path());
    REQUIRE(again.left().size() == 2);
    CHECK(again.left()[0].number == 2);
    CHECK(again.left()[1].pid == 12);
    CHECK(again.made_on("/dev/sdb") == "3-4");
    CHECK_FALSE(again.is_making("/dev/sdb"));
    CHECK(again.is_making("/dev/sdc"));
    CHECK(again.announce(mount("/b")).value() == 4);
    CHECK(again.announce(mount("/\xff")).error().message.find("is not UTF-8") != std::string::npos);
}

TEST_CASE("journal: cut at each octet, it says what was whole, and goes on") {
    const test::folder here;
    {
        auto written = test::open_journal(here.path());
        for (const char* const path : {"/a", "/b"})
            REQUIRE(written.announce(mount(path)).has_value());
        REQUIRE(written.strike_out(2).has_value());
    }
    const std::string whole = test::read(here / "journal.jsonl");
    // What is left after so many lines.
    const std::vector<std::size_t> wanted{0, 0, 1, 2, 1};
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
        INFO(cut);
        const std::string text = whole.substr(0, cut);
        const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
        const auto read = experiment::parse_journal(text, "j");
        REQUIRE(read.has_value());
        CHECK(read->left.size() == wanted[lines]);
        // Each of these waits for the disk.
        if (cut % 9 != 0) continue;
        std::ofstream(here / "journal.jsonl", std::ios::binary | std::ios::trunc) << text;
        {
            auto found = test::open_journal(here.path());
            CHECK(found.left().size() == wanted[lines]);
            REQUIRE(found.announce(mount("/next")).has_value());
        }
        auto again = test::open_journal(here.path());
        REQUIRE(again.left().size() == wanted[lines] + 1);
        CHECK(again.left().back().path == "/next");
    }
}

TEST_CASE("journal: what somebody else wrote is refused with its line") {
    const std::string first = "{\"journal\":\"postal-journal/1\"}\n";
    struct row {
        std::string text;
        std::string wanted;
    };
    const std::vector<row> table{
        {"hello\n", "j:1: the first line is not {\"journal\":\"postal-journal/1\"}"},
        {"{\"journal\":\"postal-journal/2\"}\n",
         "j:1: the first line is not {\"journal\":\"postal-journal/1\"}"},
        {first + "\n" + first, "j:2: is not a JSON object"},
        {first + "{\"undo\":1,\"kind\":\"explode\"}\n",
         "j:2: kind is not one of process, stop, command, mount, loop, file, setting"},
        {first + "{\"undo\":\"1\",\"kind\":\"file\"}\n",
         "j:2: undo is not a whole number, 0 or more"},
        {first + "{\"undo\":0,\"kind\":\"file\"}\n", "j:2: undo is not larger than those above"},
        {first + "{\"undone\":7}\n", "j:2: undone is not announced above"},
        {first + "{\"block\":1}\n", "j:2: this line is not one that is known here"},
        {first + "not whole", ""},
        {"", ""},
    };
    for (const auto& [text, wanted] : table)
        CHECK(refusal(text) == wanted);
    std::string many = first;
    for (int i = 1; i <= 1001; ++i)
        many += fmt::format("{{\"undo\":{},\"kind\":\"file\",\"path\":\"/a\"}}\n", i);
    CHECK(refusal(many) == "j:1002: this line is not one of few to be undone");
}

TEST_CASE("journal: a folder that cannot have one") {
    CHECK(journal::open("/no/such").error().message ==
          "/no/such: cannot be opened: No such file or directory");
    // Full: nothing is taken for announced.
    const test::folder here;
    const pid_t full = ::fork();
    if (full == 0) {
        auto written = journal::open(here.path());
        const rlimit none{60, 60};
        std::signal(SIGXFSZ, SIG_IGN);
        ::setrlimit(RLIMIT_FSIZE, &none);
        const bool refused = written && !written->announce(mount("/a")) && written->left().empty();
        ::_exit(refused ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(full, &status, 0) == full);
    CHECK(status == 0);
    CHECK(test::open_journal(here.path()).left().empty());
    CHECK(test::read(here / "journal.jsonl") == "{\"journal\":\"postal-journal/1\"}\n");
}

TEST_CASE("journal: what others may have written is not gone on with") {
    const test::folder here;
    const std::string file = here / "journal.jsonl";
    const auto why = [&](const std::string& folder) {
        const auto opened = journal::open(folder);
        return opened ? "" : opened.error().message;
    };
    CHECK(why(here.path()).empty());
    for (const std::string& path : {file, here.path()}) {
        struct stat before {};
        REQUIRE(::stat(path.c_str(), &before) == 0);
        for (const mode_t bit : {S_IWGRP, S_IWOTH}) {
            REQUIRE(::chmod(path.c_str(), before.st_mode | bit) == 0);
            CHECK(why(here.path()).starts_with(path + " can be written by other users"));
        }
        REQUIRE(::chmod(path.c_str(), before.st_mode) == 0);
        if (::geteuid() != 0) continue;
        REQUIRE(::chown(path.c_str(), 65534, before.st_gid) == 0);
        CHECK(why(here.path()) == path + " belongs to another user");
        REQUIRE(::chown(path.c_str(), 0, before.st_gid) == 0);
    }
    CHECK(why(here.path()).empty());
    std::filesystem::rename(file, here / "elsewhere");
    std::filesystem::create_symlink("elsewhere", file);
    CHECK(why(here.path()).starts_with(file + ": cannot be opened: "));
    std::filesystem::remove(file);
    REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    CHECK(why(here.path()) == file + " is not a regular file");
    const test::folder other;
    std::filesystem::create_directory_symlink(here.path(), other / "link");
    CHECK(why(other / "link").starts_with(other / "link" + ": cannot be opened: "));
}
