// SPDX-License-Identifier: GPL-3.0-or-later
// Whole runs, with programs that stand in for servers and loads: what takes place in which order,
// and that nothing is left behind wherever it fails.
#include "experiment/run.hpp"

#include "experiment/costs.hpp"
#include "experiment/servers.hpp"
#include "listener.hpp"
#include "os/process.hpp"
#include "support.hpp"
#include "testbed/device_content.hpp"
#include "testbed/image_file.hpp"
#include "testbed/loop_device.hpp"
#include "testbed/mounts.hpp"

#include <sys/wait.h>

#include <algorithm>

using namespace postal;
using namespace std::chrono_literals;
using experiment::command;
using experiment::run_end;

namespace {

// Writes its arguments and what it sees to its record, after a while.
const std::string load_script =
    "while [ \"$1\" != --record ]; do all=\"$all $1\"; shift; done; "
    "echo under load >> \"$ORDER\"; sleep \"$LASTS\"; echo \"$all\" > \"$2\"; exit $STATUS";

struct scene {
    test::folder here{};
    std::unique_ptr<experiment::supervisor> by = test::make_supervisor();
    experiment::journal book = test::open_journal(here.path());
    experiment::experiment what{};
    std::uint16_t port = test::free_port();
    std::vector<std::string> told{};

    scene() {
        what.file = here / "mail.toml";
        what.offered.duration = 1s;
        what.offered.warmup = 0s;
        what.command_limit = 30s;
        what.variants.resize(1);
        what.variants[0].name = "plain";
        what.variants[0].setup = {note("setup", 10)};
        what.variants[0].teardown = {note("teardown", 90), note("teardown-2", 91)};
        experiment::server& of = what.variants[0].of;
        of.prepare = {note("prepare", 20)};
        of.start = {{test::listener(port), 30}};
        of.stop = {note("stop", 80)};
        of.ready = {test::at(port)};
        of.line = 29;
        what.variants[0].on.drop_caches = false;
        what.files = {{"${run}/conf/server.conf", "variant ${variant}, block ${block}\n", 15}};
        add_load("sender");
    }
    scene(const scene&) = delete;
    scene& operator=(const scene&) = delete;
    // Of a test that fails, too, nothing is to be left.
    ~scene() { static_cast<void>(experiment::undo_above(0, book, *by)); }
    command note(const std::string& name, std::uint32_t line) const {
        return {{"sh", "-c", "echo " + name + " >> ${out}/order"}, line};
    }
    void add_load(const std::string& name, const std::string& status = "0",
                  const std::string& lasts = "0.2") {
        what.offered.programs.push_back({name,
                                         {{"env", "ORDER=${out}/order", "LASTS=" + lasts,
                                           "STATUS=" + status, "sh", "-c", load_script, "load"},
                                          40}});
    }
    void add_storage() {
        auto& on = what.variants[0].on;
        on.wanted = true;
        on.size = "16M";
        on.make = {{"mkfs.ext4", "-q", "${device}"}, 50};
        on.type = "ext4";
        on.options = "barrier=0";
        on.line = 49;
    }
    experiment::run_plan plan() const {
        return {.of = what, .seed = 7, .out = here.path(), .folder = here / "runs/1"};
    }
    experiment::run_result run() {
        return experiment::run_once(
            plan(), book, *by, [&](std::string_view step, std::optional<std::chrono::seconds>) {
                if (told.empty() || told.back() != step) told.emplace_back(step);
            });
    }
    std::string order() const { return test::read(here / "order"); }
};

// Processes, mounts, loop devices, images and folders, and what the journal says.
void check_clean(const scene& after) {
    for (const auto& one : os::descendants_of(::getpid()))
        CHECK((one.ended || one.name.empty()));
    for (const auto& one : testbed::read_mounts().value())
        CHECK(one.folder.find(after.here.path()) == std::string::npos);
    for (const auto& entry : std::filesystem::directory_iterator("/sys/block")) {
        const auto file = test::read(entry.path().string() + "/loop/backing_file");
        CHECK(file.find(after.here.path()) == std::string::npos);
    }
    for (const auto& entry : std::filesystem::directory_iterator(after.here.path()))
        CHECK(entry.path().extension() != ".image");
    CHECK_FALSE(std::filesystem::exists(after.here / "mount"));
    CHECK(after.book.left().empty());
    CHECK_FALSE(experiment::lets_in(test::at(after.port)).value());
}

}  // namespace

TEST_CASE("run: all steps in their order, and nothing left") {
    scene s;
    s.add_load("reader", "3", "0");
    const auto result = s.run();
    INFO(result.reason);
    REQUIRE(result.end == run_end::complete);
    CHECK(result.reason.empty());
    CHECK(result.left.empty());
    CHECK(result.notes.empty());
    CHECK(s.order() == "setup\nprepare\nunder load\nunder load\nstop\nteardown\nteardown-2\n");
    CHECK(s.told == std::vector<std::string>{"setup", "storage", "files", "prepare", "server",
                                             "flushes", "caches", "load", "undoing"});
    CHECK(result.steps.size() == s.told.size());
    CHECK(test::read(s.here / "runs/1/conf/server.conf") == "variant plain, block 1\n");
    CHECK(result.mount.empty());
    CHECK_FALSE(result.flush.has_value());
    // In the experiment's order, although the second ended first.
    const std::vector<experiment::load_result> wanted{{"sender", s.here / "runs/1/sender.json"},
                                                      {"reader", s.here / "runs/1/reader.json"}};
    CHECK(result.loads == wanted);
    const auto costs = experiment::from_json(test::read(result.costs));
    REQUIRE(costs.has_value());
    CHECK(costs->size() >= 2);
    check_clean(s);
}

TEST_CASE("run: loads are the same for all variants of a block, and for no other") {
    scene s;
    s.add_load("reader");
    s.what.offered.duration = 90s;
    s.what.offered.warmup = 10s;
    auto plan = s.plan();
    const auto first =
        experiment::load_words(plan, 0, {"postal"}, experiment::timed(plan.of.offered));
    CHECK(std::vector<std::string>(first.begin(), first.begin() + 8) ==
          std::vector<std::string>{"postal", "--duration", "1m30s", "--warmup", "10s", "--interval",
                                   "1s", "--seed"});
    CHECK(first[9] == "--record");
    CHECK(first[10] == s.here / "runs/1/sender.json");
    plan.position = 2;
    plan.folder = s.here / "runs/2";
    CHECK(experiment::load_words(plan, 0, {"postal"}, experiment::timed(plan.of.offered))[8] ==
          first[8]);
    CHECK(experiment::load_words(plan, 1, {"postal"}, experiment::timed(plan.of.offered))[8] !=
          first[8]);
    plan.block = 2;
    CHECK(experiment::load_words(plan, 0, {"postal"}, experiment::timed(plan.of.offered))[8] !=
          first[8]);
    plan.seed = 8;
    CHECK(experiment::load_words(plan, 0, {"postal"}, experiment::timed(plan.of.offered))[8] !=
          first[8]);
}

TEST_CASE("run: a launcher gets the program's path") {
    const std::vector<std::string> words{"/bin/true", "--rate", "5"};
    CHECK(experiment::launched({}, words).value() == words);
    CHECK(experiment::launched({"mpirun", "-n", "4"}, words).value() ==
          std::vector<std::string>{"mpirun", "-n", "4", "/bin/true", "--rate", "5"});
    const auto named = experiment::launched({"mpirun"}, {"true"}).value();
    CHECK(named[1].front() == '/');
    CHECK(experiment::launched({"mpirun"}, {"no-such-program"}).has_error());
}

TEST_CASE("run: whatever step fails is told, and what had begun is undone") {
    struct row {
        std::function<void(scene&)> harm;
        std::string wanted;
        std::string order;
        std::string_view reason;
    };
    const command failing{{"sh", "-c", "echo no luck; exit 1"}, 5};
    const std::string why = "mail.toml:5: sh ended with status 1: no luck";
    const std::string all_undone = "teardown\nteardown-2\n";
    const std::vector<row> table{
        {[&](scene& s) { s.what.variants[0].setup = {failing}; }, why, all_undone, "setup"},
        {[&](scene& s) {
             s.what.variants[0].setup = {{{"sh", "${nothing}"}, 5}};
         },
         "mail.toml:5: ${nothing} has no value", all_undone, "a variable"},
        {[&](scene& s) { s.what.files[0].path = "/proc/none/server.conf"; },
         "mail.toml:15: /proc/none", "setup\n" + all_undone, "files"},
        {[&](scene& s) { s.what.variants[0].of.prepare = {failing}; }, why, "setup\n" + all_undone,
         "prepare"},
        // What stops a server is tried: who knows how far its start came.
        {[&](scene& s) { s.what.variants[0].of.start = {failing}; }, why,
         "setup\nprepare\nstop\n" + all_undone, "server"},
        {[&](scene& s) { s.what.offered.programs[0].run = failing; }, why,
         "setup\nprepare\nstop\n" + all_undone, "a load that cannot begin"},
        {[&](scene& s) { s.add_load("weak", "4"); }, "mail.toml:40: env ended with status 4",
         "setup\nprepare\nunder load\nunder load\nstop\n" + all_undone, "one of two loads"},
        {[&](scene& s) { s.what.costs.devices = {"/dev/none"}; }, "/dev/none",
         "setup\nprepare\nstop\n" + all_undone, "samples"},
        {[&](scene& s) {
             s.what.offered.programs[0].run = {{"true"}, 41};
         },
         "mail.toml:41: load \"sender\" ended without its record",
         "setup\nprepare\nstop\n" + all_undone, "no record"},
    };
    for (const auto& [harm, wanted, order, reason] : table) {
        INFO(reason);
        scene s;
        harm(s);
        const auto result = s.run();
        CHECK(result.end == run_end::failed);
        INFO(result.reason);
        CHECK(result.reason.find(wanted) != std::string::npos);
        CHECK(result.left.empty());
        CHECK(s.order() == order);
        check_clean(s);
    }
}

TEST_CASE("run: a server that ends under load fails the run, which ends the load") {
    scene s;
    s.what.variants[0].of.start = {
        {test::listener(s.port, "",
                        "while not os.path.exists('" + s.here / "order" +
                            "') or 'load' not in open('" + s.here / "order" +
                            "').read(): time.sleep(0.02)\nos._exit(9)"),
         30}};
    s.what.offered.programs.clear();
    s.add_load("sender", "0", "60");
    const auto result = s.run();
    CHECK(result.end == run_end::failed);
    CHECK(result.reason.find("mail.toml:30: python3 ended with status 9") != std::string::npos);
    CHECK(result.loads.empty());
    CHECK(result.left.empty());
    CHECK_FALSE(result.costs.empty());
    check_clean(s);
}

TEST_CASE("run: what cannot be undone is told, with what would do it") {
    scene s;
    s.what.variants[0].teardown = {{{"sh", "-c", "echo no way back; exit 1"}, 90},
                                   s.note("end", 91)};
    const auto result = s.run();
    CHECK(result.end == run_end::complete);
    REQUIRE(result.left.size() == 1);
    CHECK(result.left[0].what.find("mail.toml:90: sh ended with status 1: no way back") !=
          std::string::npos);
    CHECK(result.left[0].remedy == "sh -c 'echo no way back; exit 1'");
    CHECK(s.order() == "setup\nprepare\nunder load\nstop\nend\n");
    CHECK(s.book.left().size() == 1);
}

TEST_CASE("run: an interruption ends it, and all is undone") {
    scene s;
    s.what.offered.programs.clear();
    s.add_load("sender", "0", "60");
    const auto result = experiment::run_once(
        s.plan(), s.book, *s.by, [&](std::string_view step, std::optional<std::chrono::seconds>) {
            if (step == "load" && s.order().find("under load") != std::string::npos &&
                s.by->interruptions() == 0)
                ::kill(::getpid(), SIGTERM);
        });
    CHECK(result.end == run_end::interrupted);
    CHECK(result.reason == "interrupted under load");
    CHECK(result.left.empty());
    CHECK(s.order() == "setup\nprepare\nunder load\nstop\nteardown\nteardown-2\n");
    check_clean(s);
}

TEST_CASE("run: who was left behind by its commands is ended") {
    scene s;
    s.what.variants[0].of.prepare.push_back({{"sh", "-c",
                                              "setsid sh -c 'echo > ${out}/up; exec sleep 60' & "
                                              "while [ ! -e ${out}/up ]; do sleep 0.02; done"},
                                             21});
    const auto result = s.run();
    CHECK(result.end == run_end::complete);
    CHECK(result.left.empty());
    REQUIRE(result.notes.size() == 1);
    CHECK(result.notes[0] == "left behind and now ended: sleep");
    check_clean(s);
}

TEST_CASE("run: on a file system of its own, whatever step fails") {
    if (const auto reason = test::no_storage_because(); !reason.empty()) {
        WARN(reason);
        return;
    }
    struct row {
        std::function<void(scene&)> harm;
        std::string wanted;
        std::string_view reason;
    };
    const command failing{{"sh", "-c", "echo no luck; exit 1"}, 5};
    const std::string why = "mail.toml:5: sh ended with status 1: no luck";
    const std::vector<row> table{
        {[](scene&) {}, "", "none"},
        {[](scene& s) { s.what.variants[0].on.directory = "/proc/none"; },
         "mail.toml:49: ", "image"},
        {[](scene& s) { s.what.variants[0].on.size = "much"; }, "mail.toml:49: ", "size"},
        {[&](scene& s) { s.what.variants[0].on.make = failing; }, why, "file system"},
        {[](scene& s) { s.what.variants[0].on.options = "no_such_option"; },
         "mail.toml:49: ", "mount"},
        {[](scene& s) { s.what.variants[0].on.mount = "/proc"; }, "is mounted on /proc already",
         "a mount of somebody else's"},
        {[&](scene& s) { s.what.variants[0].of.prepare = {failing}; }, why, "prepare"},
        {[&](scene& s) { s.what.variants[0].of.start = {failing}; }, why, "server"},
        {[&](scene& s) { s.what.offered.programs[0].run = failing; }, why, "load"},
    };
    for (const auto& [harm, wanted, reason] : table) {
        INFO(reason);
        scene s;
        s.add_storage();
        s.what.files.push_back({"${mount}/users", "${device}\n", 16});
        s.what.variants[0].of.prepare.push_back(
            {{"sh", "-c", "cat ${mount}/users > ${run}/device; cd ${mount}; setsid sleep 60 &"},
             21});
        harm(s);
        const auto result = s.run();
        INFO(result.reason);
        CHECK((result.end == run_end::complete) == wanted.empty());
        CHECK(result.reason.find(wanted) != std::string::npos);
        CHECK(result.left.empty());
        CHECK(s.order().find("teardown\nteardown-2\n") != std::string::npos);
        check_clean(s);
        if (!wanted.empty()) continue;
        CHECK(result.mount.find("ext4") != std::string::npos);
        CHECK(result.mount.find("nobarrier") != std::string::npos);
        REQUIRE(result.flush.has_value());
        CHECK(result.flush->flushes > 0);
        CHECK(test::read(s.here / "runs/1/device").find("/dev/loop") == 0);
    }
}

TEST_CASE("run: killed at any step, the next program undoes what was begun") {
    const bool with_storage = test::no_storage_because().empty();
    const std::vector<std::string> steps{"setup",   "storage", "files", "prepare", "server",
                                         "flushes", "caches",  "load",  "undoing"};
    for (const std::string& last : steps) {
        INFO(last);
        scene s;
        s.what.variants[0].of.prepare.push_back(
            {{"sh", "-c", "sleep 0.01; echo up > ${out}/prepared"}, 21});
        s.what.offered.programs.clear();
        s.add_load("sender", "0", last == "load" ? "60" : "0");
        if (with_storage) s.add_storage();
        std::filesystem::create_directory(s.here / "killed");
        const pid_t runner = ::fork();
        if (runner == 0) {
            auto by = experiment::supervisor::create();
            auto book = experiment::journal::open(s.here / "killed");
            const auto end = [&](std::string_view step, std::optional<std::chrono::seconds>) {
                const bool now = step != "load" || s.order().find("load") != std::string::npos;
                if (step == last && now) ::kill(::getpid(), SIGKILL);
            };
            if (by && book) static_cast<void>(experiment::run_once(s.plan(), *book, **by, end));
            ::_exit(1);
        }
        int status = 0;
        REQUIRE(::waitpid(runner, &status, 0) == runner);
        REQUIRE(WIFSIGNALED(status));
        const bool mounted =
            testbed::mount_at(testbed::read_mounts().value(), s.here / "mount").has_value();
        CHECK(mounted == (with_storage && last != "setup" && last != "storage"));
        auto book = test::open_journal(s.here / "killed");
        for (const auto& one : experiment::undo_above(0, book, *s.by).left)
            CHECK(one.what.empty());
        CHECK(book.left().empty());
        const bool began = last != "setup";
        CHECK((s.order().find("teardown\nteardown-2\n") != std::string::npos) == began);
        check_clean(s);
    }
}

TEST_CASE("run: on a disk of the user's, where nothing is lost that it did not make") {
    if (const auto reason = test::no_storage_because(); !reason.empty()) {
        WARN(reason);
        return;
    }
    scene s;
    const std::string disk = s.here / "disk";
    REQUIRE(testbed::create_image(disk, 16U << 20U, testbed::image_space::sparse).has_value());
    // Detached with the rest of the scene.
    REQUIRE(s.book.announce({.kind = experiment::undo_kind::loop, .path = disk}).has_value());
    const auto device = testbed::attach_loop(disk, testbed::loop_io::buffered);
    REQUIRE(device.has_value());
    s.add_storage();
    s.what.variants[0].on.device = "${disk}";
    s.what.variants[0].values["disk"] = {device->path};

    const auto empty = s.run();
    INFO(empty.reason);
    CHECK(empty.end == run_end::complete);
    CHECK(empty.mount.find(device->path + " ") == 0);
    // A file system of its own is made anew, also by the next program.
    CHECK_FALSE(s.book.made_on(device->path).empty());
    CHECK(s.run().end == run_end::complete);

    // Also one that was made in part, by this program or by one that was killed.
    const auto make_well = s.what.variants[0].on.make;
    s.what.variants[0].on.make = {{"sh", "-c", "mkfs.ext4 -q ${device}; exit 1"}, 50};
    CHECK(s.run().end == run_end::failed);
    s.what.variants[0].on.make = make_well;
    CHECK(s.run().end == run_end::complete);
    REQUIRE(s.book.note_making(device->path).has_value());
    const std::vector<std::string> remade{"mkfs.ext4", "-q", "-F", device->path};
    REQUIRE(s.by->run({remade, "", s.here / "log"}, 1min, experiment::patience::undoing, s.book)
                .has_value());
    CHECK(s.run().end == run_end::complete);
    CHECK_FALSE(s.book.is_making(device->path));

    const std::vector<std::string> make{"mkfs.ext4", "-q", "-F", "-L", "precious", device->path};
    REQUIRE(s.by->run({make, "", s.here / "log"}, 1min, experiment::patience::undoing, s.book)
                .has_value());
    const auto kept = s.run();
    CHECK(kept.end == run_end::failed);
    CHECK(kept.reason.find("precious") != std::string::npos);
    CHECK(testbed::probe_device(device->path)->label == "precious");
    CHECK(kept.left.empty());
    auto plan = s.plan();
    plan.existing = testbed::existing_data::overwrite;
    s.what.variants[0].on.make.words.insert(s.what.variants[0].on.make.words.begin() + 1, "-F");
    const auto overwritten = experiment::run_once(plan, s.book, *s.by, {});
    CHECK(overwritten.end == run_end::complete);
    CHECK(overwritten.left.empty());
    CHECK(s.book.left().size() == 1);
}

TEST_CASE("run: a record of an earlier attempt is not this one's") {
    scene s;
    CHECK(s.run().end == run_end::complete);
    s.what.offered.programs[0].run = {{"true"}, 41};
    const auto result = s.run();
    CHECK(result.end == run_end::failed);
    CHECK(result.reason.find("load \"sender\" ended without its record") != std::string::npos);
}
