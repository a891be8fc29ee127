// SPDX-License-Identifier: GPL-3.0-or-later
#include "os/printing_child.hpp"

#include "base/read_file.hpp"
#include "os/limits.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace postal::os {

base::expected<printing_child> start_printing(spawner& children, const std::string& program,
                                              std::vector<std::string>& words,
                                              std::uint64_t most_octets, bool ends_with_parent,
                                              int input) {
    const base::file_descriptor none(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    printing_child made;
    made.printed = base::file_descriptor(::memfd_create("printed", MFD_CLOEXEC));
    if (!none.is_open() || !made.printed.is_open())
        return base::fail("no file in memory: {}", base::system_message(errno));
    std::vector<char*> argv;
    for (std::string& one : words)
        argv.push_back(one.data());
    argv.push_back(nullptr);
    const limit most = at_most(RLIMIT_FSIZE, most_octets);
    child_plan plan;
    plan.program = program.c_str();
    plan.argv = argv.data();
    plan.environment = environ;
    plan.input = input < 0 ? none.get() : input;
    plan.output = made.printed.get();
    plan.limits = {&most, 1};
    plan.ends_with_parent = ends_with_parent;
    const auto started = children.start(plan);
    if (!started) return started.error();
    made.running = *started;
    made.ended = base::file_descriptor(made.running.pidfd);
    return made;
}

base::expected<std::string> read_printed(const printing_child& of, const std::string& name,
                                         std::uint64_t most) {
    // Opened once more: where the child writes next is not to move.
    const std::string path = "/proc/self/fd/" + std::to_string(of.printed.get());
    const base::file_descriptor again(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!again.is_open()) return base::fail("{}: {}", name, base::system_message(errno));
    return base::read_descriptor(again.get(), name, most);
}

}  // namespace postal::os
