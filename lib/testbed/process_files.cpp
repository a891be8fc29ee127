// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/process_files.hpp"

#include "base/result.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

namespace postal::testbed {
namespace {

using text_buffer = std::array<char, 16384>;  // more than any of the files holds

struct close_folder {
    void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

// Empty when the process is gone, or may not be looked at.
std::string_view text_of(const base::file_descriptor& file, text_buffer& buffer) {
    if (!file.is_open()) return {};
    const ssize_t length = ::pread(file.get(), buffer.data(), buffer.size(), 0);
    return {buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

base::file_descriptor open_quietly(int proc, const std::string& path, int flags) {
    return base::file_descriptor(::openat(proc, path.c_str(), flags | O_RDONLY | O_CLOEXEC));
}

// Calls each for the names of a folder that are numbers; false where it cannot be read.
template <class Each>
bool for_numbers(int proc, const std::string& path, Each each) {
    base::file_descriptor opened = open_quietly(proc, path, O_DIRECTORY);
    if (!opened.is_open()) return false;
    const std::unique_ptr<DIR, close_folder> folder(::fdopendir(opened.get()));
    if (!folder) return false;
    opened.release();
    while (const dirent* entry = ::readdir(folder.get())) {
        std::string_view name = entry->d_name;
        const auto number = os::take_number(name);
        if (number && name.empty()) each(static_cast<pid_t>(*number));
    }
    return true;
}

// Since Linux 6.2 the folder's size says how many there are.
std::optional<std::uint64_t> descriptors_of(int proc, pid_t pid) {
    const std::string path = fmt::format("{}/fd", pid);
    struct stat about {};
    if (::fstatat(proc, path.c_str(), &about, 0) == 0 && about.st_size > 0)
        return static_cast<std::uint64_t>(about.st_size);
    std::uint64_t count = 0;
    const bool is_read = for_numbers(proc, path, [&count](pid_t) { ++count; });
    return is_read ? std::optional(count) : std::nullopt;
}

std::optional<std::uint64_t> memory_of(int proc, pid_t pid) {
    text_buffer buffer;
    return os::parse_proportional_memory(
        text_of(open_quietly(proc, fmt::format("{}/smaps_rollup", pid), 0), buffer));
}

// Of a thread: where it cannot be read, whether that is because it has ended.
struct thread_switches {
    std::optional<std::uint64_t> count;
    bool is_gone = false;
};

thread_switches switches_of(int proc, pid_t pid, pid_t thread) {
    const auto file = open_quietly(proc, fmt::format("{}/task/{}/status", pid, thread), 0);
    if (!file.is_open()) return {std::nullopt, errno == ENOENT || errno == ESRCH};
    text_buffer buffer;
    errno = 0;
    const std::string_view text = text_of(file, buffer);
    return {os::parse_voluntary_switches(text), text.empty() && errno == ESRCH};
}

// User and system of all its threads.
std::optional<std::uint64_t> processor_time_of(pid_t pid) {
    constexpr std::uint64_t ns_in_s = 1'000'000'000;
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
        return std::nullopt;
    return static_cast<std::uint64_t>(time.tv_sec) * ns_in_s +
           static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

base::file_descriptor open_process_file(int proc, const std::string& path,
                                        std::optional<std::string>& problem) {
    base::file_descriptor file = open_quietly(proc, path, 0);
    const bool is_told = file.is_open() || errno == ENOENT || errno == ESRCH || problem;
    if (!is_told) problem = fmt::format("/proc/{}: {}", path, base::system_message(errno));
    return file;
}

std::optional<os::process_stat> stat_of_process(int proc, pid_t pid,
                                                std::optional<std::string>& problem) {
    const auto file = open_process_file(proc, fmt::format("{}/stat", pid), problem);
    text_buffer buffer;
    return os::parse_process_stat(text_of(file, buffer));
}

std::optional<process_files> process_files::open(int proc, const os::process_stat& found,
                                                 std::optional<std::string>& problem) {
    process_files made(found);
    const auto file = [&](const char* name) {
        return open_process_file(proc, fmt::format("{}/{}", found.pid, name), problem);
    };
    made.stat_file_ = file("stat");
    made.io_file_ = file("io");
    made.status_file_ = file("status");
    text_buffer buffer;
    const auto now = os::parse_process_stat(text_of(made.stat_file_, buffer));
    if (!now || now->start != found.start) return std::nullopt;
    made.stat_.threads = now->threads;
    return made;
}

// The times last: whose times can still be read then was not waited for before, so that nothing of
// it is in its parent's, which was read earlier.
std::optional<process_reading> process_files::read(int proc, closeness how) {
    process_reading to;
    text_buffer buffer;
    // One that could not be opened once, as where there were no descriptors left, may be by now.
    const auto reopen = [&](base::file_descriptor& file, const char* name) {
        if (!file.is_open()) file = open_quietly(proc, fmt::format("{}/{}", stat_.pid, name), 0);
    };
    reopen(io_file_, "io");
    reopen(status_file_, "status");
    to.io = os::parse_process_io(text_of(io_file_, buffer));
    to.wakeups = wakeups(proc);
    if (how == closeness::thorough) {
        to.descriptors = descriptors_of(proc, stat_.pid);
        to.memory = memory_of(proc, stat_.pid);
    }
    to.cpu_ns = processor_time_of(stat_.pid);
    auto stat = os::parse_process_stat(text_of(stat_file_, buffer));
    if (!stat) return std::nullopt;
    stat_ = *stat;
    to.stat = std::move(*stat);
    return to;
}

std::optional<std::uint64_t> process_files::wakeups(int proc) {
    text_buffer buffer;
    if (stat_.threads <= 1 && threads_.empty())
        return os::parse_voluntary_switches(text_of(status_file_, buffer));
    std::unordered_map<pid_t, std::uint64_t> now;
    const auto look = [&](pid_t thread) {
        const auto before = threads_.find(thread);
        const bool is_known = before != threads_.end();
        const thread_switches read = switches_of(proc, stat_.pid, thread);
        if (!read.count && (read.is_gone || !is_known)) return;
        // A new one that has the number of one that ended.
        if (read.count && is_known && *read.count < before->second)
            ended_threads_ += before->second;
        now[thread] = read.count ? *read.count : before->second;
    };
    if (!for_numbers(proc, fmt::format("{}/task", stat_.pid), look)) return std::nullopt;
    // A listing may leave out threads while others end.
    for (const auto& [thread, count] : threads_) {
        if (!now.contains(thread)) look(thread);
        if (!now.contains(thread)) ended_threads_ += count;
    }
    if (now.empty()) return std::nullopt;
    threads_ = std::move(now);
    std::uint64_t sum = ended_threads_;
    for (const auto& [thread, count] : threads_)
        sum += count;
    return sum;
}

}  // namespace postal::testbed
