// SPDX-License-Identifier: GPL-3.0-or-later
#include "os/process.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>

namespace postal::os {
std::optional<process_stat> find_process(pid_t pid) {
    const auto stat = base::read_file(fmt::format("/proc/{}/stat", pid));
    return stat ? parse_process_stat(*stat) : std::nullopt;
}

std::vector<process_stat> all_processes() {
    std::vector<process_stat> all;
    std::error_code gone;
    for (std::filesystem::directory_iterator entry("/proc", gone), end; !gone && entry != end;
         entry.increment(gone)) {
        const std::string name = entry->path().filename().string();
        const auto number = base::parse_count(name);
        if (!number) continue;
        if (auto found = find_process(static_cast<pid_t>(*number)))
            all.push_back(std::move(*found));
    }
    return all;
}

std::vector<process_stat> descendants_of(pid_t pid) {
    const auto all = all_processes();
    std::vector<process_stat> found;
    const auto add_children = [&](pid_t parent) {
        for (const process_stat& one : all)
            if (one.parent == parent) found.push_back(one);
    };
    add_children(pid);
    for (std::size_t i = 0; i < found.size(); ++i)
        add_children(found[i].pid);
    return found;
}

std::uint64_t clock_ticks() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const auto a_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    return static_cast<std::uint64_t>(now.tv_sec) * a_second +
           static_cast<std::uint64_t>(now.tv_nsec) * a_second / 1'000'000'000;
}

base::file_descriptor watch_process(pid_t pid) {
    return base::file_descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

void adopt_orphans() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

std::string boot_id() {
    const auto text = base::read_file("/proc/sys/kernel/random/boot_id");
    return text ? std::string(base::trim(*text)) : std::string{};
}

}  // namespace postal::os
