// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/undo.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "testbed/dirty_limit.hpp"
#include "testbed/loop_device.hpp"
#include "testbed/mounting.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace postal::experiment {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds step = 20ms;
constexpr std::chrono::nanoseconds kill_limit = 5s;
constexpr std::chrono::nanoseconds device_patience = 10s;

// Undone; the text is a note or empty.
using undone = base::expected<std::string>;

undone well(std::string note = {}) {
    return {boost::system::in_place_value, std::move(note)};
}

// By its descriptor, in case that the number is another's by now.
void signal(const os::process_stat& to, int number) {
    const auto process = os::watch_process(to.pid);
    const auto now = os::find_process(to.pid);
    if (process.is_open() && now && now->start == to.start)
        ::syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0);
}

// The process itself, and all of the group that it leads or led. Once the leader is gone its number
// is given to nobody else while the group has members.
std::vector<os::process_stat> members_of(const undo_entry& one) {
    std::vector<os::process_stat> found;
    if (one.pid < 2) return found;  // the kernel's own threads are of group 0
    for (auto& each : os::all_processes()) {
        const bool itself = each.pid == one.pid;
        if (itself && each.start != one.started) return {};
        const bool of_group = each.group == one.pid && each.start >= one.started;
        if ((itself || of_group) && !each.ended) found.push_back(std::move(each));
    }
    return found;
}

// Of another boot: gone.
bool is_of_this_boot(const undo_entry& one) {
    return one.boot == os::boot_id();
}

undone undo_process(const undo_entry& one, supervisor& by) {
    const auto found = end_processes(by, one.limit, [&] { return members_of(one); });
    // One of ours is not heard of any more.
    ::waitpid(one.pid, nullptr, WNOHANG);
    if (!found.left.empty())
        return base::fail("process {} ({}) does not end", found.left.front().pid,
                          base::printable(found.left.front().name, 40));
    return well(found.killed ? fmt::format("{}: process {} was killed after {}", one.where, one.pid,
                                           base::format_duration(one.limit))
                             : std::string{});
}

undone undo_command(const undo_entry& one, journal& from, supervisor& by) {
    const auto ran = by.run({one.words, one.where, one.log}, one.limit, patience::undoing, from);
    if (!ran) return ran.error();
    return well();
}

std::chrono::milliseconds device_limit(supervisor& by) {
    return std::chrono::ceil<std::chrono::milliseconds>(by.undo_limit(device_patience));
}

dev_t number_of(const std::string& device) {
    struct stat found {};
    return ::stat(device.c_str(), &found) == 0 ? found.st_rdev : 0;
}

// Where what an entry mounted is to be seen besides, since somebody copied the mount: mount --bind,
// or --rbind of a folder above it.
std::vector<std::string> copies_of_mount(const undo_entry& one) {
    std::vector<std::string> folders;
    const auto all = testbed::read_mounts();
    if (!all) return folders;
    for (const testbed::mount_point& each : testbed::mounts_of(*all, number_of(one.device)))
        if (each.folder != one.path) folders.push_back(each.folder);
    return folders;
}

undone unmount(const undo_entry& one, supervisor& by) {
    const auto all = testbed::read_mounts();
    if (!all) return all.error();
    const auto top = testbed::mount_at(*all, one.path);
    if (!top) return well();
    const auto of_device = testbed::mounts_of(*all, number_of(one.device));
    const auto is_ours = [&](const testbed::mount_point& each) {
        return each.folder == top->folder &&
               (each.source == one.device ||
                std::find(of_device.begin(), of_device.end(), each) != of_device.end());
    };
    const std::string other = fmt::format("{} is mounted on {}", base::printable(top->source, 300),
                                          base::printable(one.path, 300));
    if (!is_ours(*top) && std::any_of(all->begin(), all->end(), is_ours))
        return base::fail("{} above {}", other, base::printable(one.device, 300));
    if (!is_ours(*top)) return well(other + " by somebody else, and left there");
    const auto gone = testbed::unmount(one.path, device_limit(by));
    if (!gone) return gone.error();
    return well();
}

undone undo_mount(const undo_entry& one, supervisor& by) {
    auto unmounted = unmount(one, by);
    const auto copies = copies_of_mount(one);
    if (!unmounted || copies.empty()) return unmounted;
    return base::fail("{} is still mounted on {}, where somebody else copied it to",
                      base::printable(one.device, 300),
                      base::printable(base::join(copies, ", "), 300));
}

undone undo_loop(const undo_entry& one, supervisor& by) {
    const auto devices = testbed::loops_of(one.path);
    if (!devices) return devices.error();
    for (const std::string& device : *devices) {
        const auto gone = testbed::detach_loop(device, one.path, device_limit(by));
        if (!gone) return gone.error();
    }
    return well();
}

undone undo_file(const undo_entry& one) {
    std::error_code problem;
    std::filesystem::remove(one.path, problem);
    if (problem && problem != std::errc::no_such_file_or_directory)
        return base::fail("{}: cannot be removed: {}", base::printable(one.path, 300),
                          problem.message());
    return well();
}

undone undo_setting(const undo_entry& one) {
    const auto set = testbed::apply({one.path, base::join(one.words, " ")});
    if (!set) return set.error();
    return well();
}

undone undo(const undo_entry& one, journal& from, supervisor& by) {
    switch (one.kind) {
        case undo_kind::process:
            return is_of_this_boot(one) ? undo_process(one, by) : well();
        case undo_kind::stop:
            return is_of_this_boot(one) ? undo_command(one, from, by) : well();
        case undo_kind::command:
            return undo_command(one, from, by);
        case undo_kind::mount:
            return is_of_this_boot(one) ? undo_mount(one, by) : well();
        case undo_kind::loop:
            return is_of_this_boot(one) ? undo_loop(one, by) : well();
        case undo_kind::file:
            return undo_file(one);
        case undo_kind::setting:
            return is_of_this_boot(one) ? undo_setting(one) : well();
    }
    return well();
}

std::string remedy_of(const undo_entry& one) {
    switch (one.kind) {
        case undo_kind::process:
            return fmt::format("kill -9 {}", one.pid);
        case undo_kind::mount: {
            auto folders = copies_of_mount(one);
            if (folders.empty()) folders = {one.path};
            folders.insert(folders.begin(), "umount");
            return base::shell_line(folders);
        }
        case undo_kind::file:
            return base::shell_line({"rm", "-d", one.path});
        case undo_kind::setting:
            return fmt::format("echo {} > {}", base::shell_line(one.words),
                               base::shell_line({one.path}));
        case undo_kind::loop:
            break;
        case undo_kind::stop:
        case undo_kind::command:
            return base::shell_line(one.words);
    }
    const auto devices = testbed::loops_of(one.path);
    std::vector<std::string> words{"losetup", "-d"};
    if (devices) words.insert(words.end(), devices->begin(), devices->end());
    return base::shell_line(words);
}

// What lies in layers: each needs the one that was put upon it gone.
bool is_storage(const undo_entry& one) {
    return one.kind == undo_kind::mount || one.kind == undo_kind::loop ||
           one.kind == undo_kind::file;
}

}  // namespace

ending end_processes(supervisor& by, std::chrono::nanoseconds limit,
                     const std::function<std::vector<os::process_stat>()>& find) {
    ending result;
    std::set<pid_t> told;
    const auto began = std::chrono::steady_clock::now();
    auto killed_at = began;
    while (true) {
        result.left = find();
        const auto now = std::chrono::steady_clock::now();
        const bool over = result.killed && now >= killed_at + kill_limit;
        if (result.left.empty() || over) return result;
        if (!result.killed && now >= began + by.undo_limit(limit)) {
            result.killed = true;
            killed_at = now;
        }
        for (const auto& each : result.left)
            if (result.killed || told.insert(each.pid).second)
                signal(each, result.killed ? SIGKILL : SIGTERM);
        by.wait({}, now + step, patience::undoing);
    }
}

undo_report undo_above(std::uint64_t mark, journal& from, supervisor& by, failed_command failed) {
    undo_report report;
    bool storage_stays = false;
    auto entries = from.left();
    std::reverse(entries.begin(), entries.end());
    for (const undo_entry& one : entries) {
        if (one.number <= mark) continue;
        const bool is_command = one.kind == undo_kind::command;
        if (storage_stays && (is_storage(one) || is_command)) {
            report.left.push_back(
                {is_command ? fmt::format("{}: is not run while storage stays", one.where)
                            : fmt::format("{} is below what stays", base::printable(one.path, 300)),
                 remedy_of(one)});
            continue;
        }
        const auto result = undo(one, from, by);
        const bool may_fail =
            one.kind == undo_kind::stop || (is_command && failed == failed_command::is_a_note);
        if (!result && may_fail) report.notes.push_back(result.error().message);
        if (!result && !may_fail) {
            report.left.push_back({result.error().message, remedy_of(one)});
            storage_stays = storage_stays || is_storage(one);
            continue;
        }
        if (result && !result->empty()) report.notes.push_back(*result);
        const auto struck = from.strike_out(one.number);
        if (!struck) report.notes.push_back(struck.error().message);
    }
    return report;
}

bool undo_leftovers(journal& from, supervisor& by,
                    const std::function<void(const std::string&)>& say) {
    if (from.left().empty()) return true;
    say("undoing what was left behind: " + base::format_amount(from.left().size(), "step"));
    const auto report = undo_above(0, from, by, failed_command::is_a_note);
    for (const std::string& one : report.notes)
        say(one);
    for (const leftover& one : report.left)
        say(line_of(one));
    return report.left.empty();
}

std::string line_of(const leftover& one) {
    return fmt::format("{}; remove it with: {}", one.what, one.remedy);
}

}  // namespace postal::experiment
