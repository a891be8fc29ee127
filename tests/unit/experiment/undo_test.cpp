// SPDX-License-Identifier: GPL-3.0-or-later
// What is undone from a journal alone, on this machine as it is.
#include "experiment/undo.hpp"

#include "base/read_file.hpp"
#include "base/units.hpp"
#include "support.hpp"
#include "testbed/image_file.hpp"
#include "testbed/loop_device.hpp"
#include "testbed/mounting.hpp"

#include <fstream>

#include <sys/mount.h>
#include <sys/wait.h>

using namespace postal;
using namespace std::chrono_literals;
using experiment::undo_entry;
using experiment::undo_kind;

namespace {

// A folder with a journal, and who undoes it.
struct scene {
    test::folder here{};
    std::unique_ptr<experiment::supervisor> by = test::make_supervisor();
    experiment::journal book = test::open_journal(here.path());
    test::folder elsewhere{};
    experiment::journal other_book = test::open_journal(elsewhere.path());

    void announce(undo_entry how) {
        how.where = "mail.toml:7";
        how.log = here / "log";
        if (how.limit == 0ns) how.limit = 1min;
        REQUIRE(book.announce(std::move(how)).has_value());
    }
    void announce(undo_kind kind, const std::string& script) {
        announce({.kind = kind, .words = {"sh", "-c", script}});
    }
    // Not announced in the book that is undone.
    experiment::process start(const std::string& script) {
        auto started =
            by->start({{"sh", "-c", script}, "mail.toml:7", here / "log"}, other_book, 1min);
        if (!started) FAIL(started.error().message);
        return std::move(*started);
    }
    void announce(const experiment::process& one, std::chrono::milliseconds limit = 1min) {
        const auto found = os::find_process(one.started.pid);
        REQUIRE(found.has_value());
        announce({.kind = undo_kind::process,
                  .pid = found->pid,
                  .started = found->start,
                  .limit = limit});
    }
    experiment::undo_report undo(std::uint64_t mark = 0) {
        return experiment::undo_above(mark, book, *by);
    }
    void wait_for(const std::string& name) {
        test::wait_until(*by, [&] { return std::filesystem::exists(here / name); });
    }
};

bool runs(pid_t pid) {
    const auto found = os::find_process(pid);
    return found && !found->ended;
}

}  // namespace

TEST_CASE("undo: newest first, and only what is above the mark") {
    scene s;
    for (const char* const name : {"a", "b", "c"})
        s.announce(undo_kind::command, "echo " + std::string(name) + " >> " + s.here / "order");
    CHECK(s.undo(1).left.empty());
    CHECK(test::read(s.here / "order") == "c\nb\n");
    CHECK(s.book.left().size() == 1);
    CHECK(s.undo().left.empty());
    CHECK(s.undo().left.empty());
    CHECK(test::read(s.here / "order") == "c\nb\na\n");
}

TEST_CASE("undo: what fails stays, is told with its remedy, and holds up nothing else") {
    scene s;
    s.announce(undo_kind::command, "echo >" + s.here / "first");
    s.announce(undo_kind::command, "echo \"it is not there\"; exit 1");
    s.announce(undo_kind::stop, "echo nothing runs; exit 1");
    const auto report = s.undo();
    REQUIRE(report.left.size() == 1);
    CHECK(report.left[0].what == "mail.toml:7: sh ended with status 1: it is not there");
    CHECK(report.left[0].remedy == "sh -c 'echo \"it is not there\"; exit 1'");
    CHECK(report.notes ==
          std::vector<std::string>{"mail.toml:7: sh ended with status 1: nothing runs"});
    CHECK(std::filesystem::exists(s.here / "first"));
    REQUIRE(s.book.left().size() == 1);
    CHECK(s.book.left()[0].number == 2);
    // Told once, it holds up nothing for ever.
    const auto later =
        experiment::undo_above(0, s.book, *s.by, experiment::failed_command::is_a_note);
    CHECK(later.left.empty());
    CHECK(later.notes == std::vector<std::string>{report.left[0].what});
    CHECK(s.book.left().empty());
}

TEST_CASE("undo: processes end with their groups, politely if they can") {
    scene s;
    const auto polite = s.start("trap 'echo > " + s.here / "bye" + "; exit' TERM; echo > " +
                                s.here / "up" + "; while :; do sleep 0.05; done");
    s.announce(polite);
    s.wait_for("up");
    CHECK(s.undo().notes.empty());
    CHECK(std::filesystem::exists(s.here / "bye"));
    CHECK_FALSE(os::find_process(polite.started.pid));

    // The leader is gone, and leaves one behind that disregards SIGTERM.
    auto led = s.start("trap '' TERM; (echo > " + s.here / "deaf" +
                       "; while :; do sleep 0.05; done) & sleep 0.1; exit 0");
    s.announce(led, 200ms);
    s.wait_for("deaf");
    test::wait_until(*s.by, [&] { return s.by->has_ended(led); });
    const auto report = s.undo();
    CHECK(report.left.empty());
    CHECK(report.notes == std::vector<std::string>{fmt::format(
                              "mail.toml:7: process {} was killed after 200ms", led.started.pid)});
    for (const auto& one : os::all_processes())
        CHECK((one.group != led.started.pid || one.ended));
}

TEST_CASE("undo: a process of the same number that is another one is left alone") {
    scene s;
    auto other = s.start("exec sleep 60");
    s.announce({.kind = undo_kind::process, .pid = other.started.pid, .started = 1});
    CHECK(s.undo().left.empty());
    CHECK(runs(other.started.pid));
    // Of another boot is what a journal says with another id.
    s.announce(other);
    std::string text = test::read(s.here / "journal.jsonl");
    const std::string boot = os::boot_id();
    for (std::size_t at = text.find(boot); at != text.npos; at = text.find(boot))
        text.replace(at, boot.size(), "before");
    test::folder rebooted;
    std::ofstream(rebooted / "journal.jsonl") << text;
    auto book = test::open_journal(rebooted.path());
    REQUIRE(book.left().size() == 1);
    CHECK(experiment::undo_above(0, book, *s.by).left.empty());
    CHECK(book.left().empty());
    CHECK(runs(other.started.pid));
    CHECK(s.undo().left.empty());
    CHECK_FALSE(runs(other.started.pid));
}

TEST_CASE("undo: a setting of the kernel's gets its old value back") {
    scene s;
    const std::string path = s.here / "strict_limit";
    std::ofstream(path) << "1";
    s.announce({.kind = undo_kind::setting, .path = path, .words = {"0"}});
    const auto report = s.undo();
    CHECK(report.left.empty());
    CHECK(base::read_file(path).value() == "0");
    s.announce({.kind = undo_kind::setting, .path = s.here.path(), .words = {"0"}});
    const auto failed = s.undo();
    REQUIRE(failed.left.size() == 1);
    CHECK(failed.left.front().remedy == "echo 0 > " + s.here.path());
}

TEST_CASE("undo: what is gone already is undone") {
    scene s;
    s.announce({.kind = undo_kind::setting, .path = s.here / "none", .words = {"0"}});
    s.announce({.kind = undo_kind::file, .path = s.here / "none"});
    s.announce({.kind = undo_kind::loop, .path = s.here / "image"});
    s.announce({.kind = undo_kind::mount, .path = s.here.path()});
    s.announce({.kind = undo_kind::process, .pid = ::getpid(), .started = 1});
    s.announce({.kind = undo_kind::process, .pid = 0, .limit = 100ms});
    const auto nothing = s.undo();
    CHECK(nothing.left.empty());
    CHECK(nothing.notes.empty());
    CHECK(s.book.left().empty());
    // A folder that holds something is not emptied.
    std::filesystem::create_directory(s.here / "full");
    std::ofstream(s.here / "full/mail") << "mail";
    s.announce({.kind = undo_kind::file, .path = s.here / "full"});
    const auto report = s.undo();
    REQUIRE(report.left.size() == 1);
    CHECK(report.left[0].remedy == "rm -d " + s.here / "full");
    CHECK(std::filesystem::exists(s.here / "full/mail"));
}

TEST_CASE("undo: mounts, loop devices and images, which stay when somebody holds them") {
    if (const auto reason = test::no_storage_because(); !reason.empty()) {
        WARN(reason);
        return;
    }
    scene s;
    const std::string image = s.here / "an image";
    const std::string folder = s.here / "mount";
    s.announce(undo_kind::command, "echo >" + s.here / "torn-down");
    s.announce({.kind = undo_kind::file, .path = image});
    REQUIRE(testbed::create_image(image, 16U << 20U, testbed::image_space::sparse).has_value());
    s.announce({.kind = undo_kind::loop, .path = image});
    const auto loop = testbed::attach_loop(image, testbed::loop_io::buffered);
    REQUIRE(loop.has_value());
    REQUIRE(s.by->run({{"mkfs.ext4", "-q", loop->path}, "here", s.here / "log"}, 1min,
                      experiment::patience::undoing, s.book)
                .has_value());
    std::filesystem::create_directory(folder);
    const undo_entry mounted{.kind = undo_kind::mount, .path = folder, .device = loop->path};
    s.announce(mounted);
    // Somebody else's is not unmounted, and what is below it is told.
    REQUIRE(::mount("theirs", folder.c_str(), "tmpfs", 0, nullptr) == 0);
    const auto theirs = s.undo(s.book.left().size() - 1);
    CHECK(theirs.left.empty());
    CHECK(theirs.notes == std::vector<std::string>{"theirs is mounted on " + folder +
                                                   " by somebody else, and left there"});
    CHECK(testbed::mount_at(testbed::read_mounts().value(), folder)->source == "theirs");
    REQUIRE(::umount(folder.c_str()) == 0);
    s.announce(mounted);
    REQUIRE(testbed::mount_device({loop->path, folder, "ext4", ""}).has_value());
    REQUIRE(::mount("theirs", folder.c_str(), "tmpfs", 0, nullptr) == 0);
    const auto below = s.undo(s.book.left().size() - 1);
    REQUIRE(below.left.size() == 1);
    CHECK(below.left[0].what == "theirs is mounted on " + folder + " above " + loop->path);
    REQUIRE(::umount(folder.c_str()) == 0);

    // Two interruptions leave little time to wait for who holds it.
    auto holder = s.start("cd " + folder + " && echo > " + s.here / "up" + "; exec sleep 60");
    s.wait_for("up");
    ::kill(::getpid(), SIGINT);
    test::wait_until(*s.by, [&] { return s.by->interruptions() == 1; });
    ::kill(::getpid(), SIGINT);
    test::wait_until(*s.by, [&] { return s.by->interruptions() == 2; });
    const auto held = s.undo();
    REQUIRE(held.left.size() == 4);
    CHECK(held.left[0].remedy == "umount " + folder);
    CHECK(held.left[0].what.find(std::to_string(holder.started.pid)) != std::string::npos);
    CHECK(held.left[1].remedy == "losetup -d " + loop->path);
    CHECK(held.left[2].remedy == "rm -d '" + image + "'");
    CHECK(held.left[3].what == "mail.toml:7: is not run while storage stays");
    CHECK(held.left[3].remedy == "sh -c 'echo >" + s.here / "torn-down" + "'");
    CHECK_FALSE(std::filesystem::exists(s.here / "torn-down"));
    s.by->end(holder, 1min);
    CHECK(s.undo().left.empty());
    CHECK_FALSE(testbed::mount_at(testbed::read_mounts().value(), folder));
    CHECK(testbed::loops_of(image)->empty());
    CHECK_FALSE(std::filesystem::exists(image));
    CHECK(std::filesystem::exists(s.here / "torn-down"));
}
