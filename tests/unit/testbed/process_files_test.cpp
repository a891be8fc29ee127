// SPDX-License-Identifier: GPL-3.0-or-later
// What is read of one process, from files that are not always there.
#include "testbed/process_files.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

using namespace postal;

namespace {

namespace fs = std::filesystem;

// A folder as /proc is, with a process of several threads. Its number is no process's.
struct made_up_proc {
    made_up_proc() : path(::mkdtemp(name.data())) {
        opened = base::file_descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        write("stat", "4194305 (server) S 1 1 1 0 -1 0 0 0 0 0 7 8 0 0 20 0 3 0 99 0 0");
    }
    made_up_proc(const made_up_proc&) = delete;
    made_up_proc& operator=(const made_up_proc&) = delete;
    ~made_up_proc() { fs::remove_all(path); }

    [[nodiscard]] fs::path at(const std::string& file) const { return path / "4194305" / file; }
    void write(const std::string& file, const std::string& text) const {
        fs::create_directories(at(file).parent_path());
        std::ofstream(at(file)) << text;
    }
    void thread(const std::string& number, unsigned switches) const {
        fs::remove_all(at("task/" + number));
        write("task/" + number + "/status",
              "Name:\tserver\nvoluntary_ctxt_switches:\t" + std::to_string(switches) + "\n");
    }
    // Is there, and cannot be read.
    void hide(const std::string& number) const {
        fs::remove(at("task/" + number + "/status"));
        fs::create_directory(at("task/" + number + "/status"));
    }

    std::string name = (fs::temp_directory_path() / "postal-proc-XXXXXX").string();
    fs::path path;
    base::file_descriptor opened;
};

testbed::process_files open_files(const made_up_proc& in) {
    std::optional<std::string> problem;
    os::process_stat found;
    found.pid = 4194305;
    found.start = 99;
    auto files = testbed::process_files::open(in.opened.get(), found, problem);
    REQUIRE(files.has_value());
    CHECK_FALSE(problem);
    return std::move(*files);
}

}  // namespace

TEST_CASE("process files: wake-ups of threads that end, come, and cannot be read for once") {
    const made_up_proc proc;
    proc.thread("1", 10);
    proc.thread("2", 20);
    auto files = open_files(proc);
    const auto wakeups = [&] {
        return files.read(proc.opened.get(), testbed::closeness::quick).value().wakeups;
    };
    CHECK(wakeups() == 30U);
    proc.hide("2");
    CHECK(wakeups() == 30U);
    proc.thread("2", 25);
    CHECK(wakeups() == 35U);
    fs::remove_all(proc.at("task/2"));
    CHECK(wakeups() == 35U);
    proc.thread("3", 1);
    CHECK(wakeups() == 36U);
    // Another thread that has its number.
    proc.thread("3", 0);
    CHECK(wakeups() == 36U);
}

TEST_CASE("process files: what could not be opened once is not unknown for ever") {
    const made_up_proc proc;
    proc.write("stat", "4194305 (server) S 1 1 1 0 -1 0 0 0 0 0 7 8 0 0 20 0 1 0 99 0 0");
    auto files = open_files(proc);
    const auto read = [&] {
        return files.read(proc.opened.get(), testbed::closeness::quick).value();
    };
    CHECK_FALSE(read().io);
    CHECK_FALSE(read().wakeups);
    proc.write("io", "read_bytes: 7\nwrite_bytes: 9\n");
    proc.write("status", "voluntary_ctxt_switches:\t5\n");
    CHECK(read().io.value().write_bytes == 9);
    CHECK(read().wakeups == 5U);
}
