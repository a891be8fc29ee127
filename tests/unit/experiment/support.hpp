// SPDX-License-Identifier: GPL-3.0-or-later
// A folder for what a test starts, and a supervisor.
#pragma once

#include "../temporary_folder.hpp"
#include "experiment/journal.hpp"
#include "experiment/supervisor.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace test {

struct folder : temporary_folder {};

inline std::string read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

inline std::unique_ptr<postal::experiment::supervisor> make_supervisor() {
    auto made = postal::experiment::supervisor::create();
    if (!made) FAIL(made.error().message);
    return std::move(*made);
}

inline postal::experiment::journal open_journal(const std::string& folder) {
    auto made = postal::experiment::journal::open(folder);
    if (!made) FAIL(made.error().message);
    return std::move(*made);
}

// Empty where loop devices and mounts work, else why they do not.
inline std::string no_storage_because() {
    if (::geteuid() != 0) return "needs root";
    if (::access("/dev/loop-control", W_OK) != 0) return "needs /dev/loop-control";
    if (::access("/usr/sbin/mkfs.ext4", X_OK) != 0) return "needs mkfs.ext4";
    return {};
}

template <class Condition>
void wait_until(postal::experiment::supervisor& by, Condition is_true) {
    using namespace std::chrono_literals;
    for (int i = 0; i < 2000 && !is_true(); ++i)
        by.wait({}, std::chrono::steady_clock::now() + 10ms, postal::experiment::patience::undoing);
    REQUIRE(is_true());
}

}  // namespace test
