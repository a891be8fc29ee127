// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/process_tree.hpp"

#include "base/text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <unordered_set>
#include <utility>

namespace postal::testbed {
namespace {

using text_buffer = std::array<char, 4096>;  // more than either file holds

// Empty when the process is gone, or may not be looked at.
std::string_view text_of(const base::file_descriptor& file, text_buffer& buffer) {
    if (!file.is_open()) return {};
    const ssize_t length = ::pread(file.get(), buffer.data(), buffer.size(), 0);
    return {buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace

base::expected<std::vector<process_reading>> process_tree::watch(pid_t root) {
    if (!folder_) folder_.reset(::opendir("/proc"));
    if (!folder_) return base::fail("/proc: {}", base::system_message(errno));
    adopt(watched_, find_unknown());
    const auto is_root = [root](const auto& one) { return one.stat.pid == root; };
    if (std::any_of(watched_.begin(), watched_.end(), is_root))
        return std::vector<process_reading>{};

    seen_.clear();
    std::vector<process> fresh;
    const auto stat = stat_of(root);
    if (auto opened = stat ? open(*stat) : std::nullopt) fresh.push_back(std::move(*opened));
    if (fresh.empty()) return base::fail("there is no process {} to be watched", root);
    auto unknown = find_unknown();
    remove(unknown, watched_);
    adopt(fresh, std::move(unknown));
    auto readings = read(fresh);
    // In front: who is watched already may descend from them.
    watched_.insert(watched_.begin(), std::make_move_iterator(fresh.begin()),
                    std::make_move_iterator(fresh.end()));
    return readings;
}

std::vector<process_reading> process_tree::read() {
    if (watched_.empty()) return {};
    adopt(watched_, find_unknown());
    return read(watched_);
}

// I/O first: whose times can still be read then was not waited for before, so that neither is in
// its parent's, which was read earlier.
std::vector<process_reading> process_tree::read(std::vector<process>& from) {
    std::vector<process_reading> readings;
    readings.reserve(from.size());
    text_buffer buffer;
    for (process& one : from) {
        const auto io = os::parse_process_io(text_of(one.io_file, buffer));
        auto stat = os::parse_process_stat(text_of(one.stat_file, buffer));
        if (!stat) {
            one.stat_file.close();
            continue;
        }
        readings.push_back({*stat, io});
        one.stat = std::move(*stat);
    }
    std::erase_if(from, [](const process& one) { return !one.stat_file.is_open(); });
    return readings;
}

// Those of all processes that were not there at the last call. The number of a process's folder
// tells it from another with the same id; it may change with memory pressure, and is looked at
// again.
std::vector<os::process_stat> process_tree::find_unknown() {
    std::vector<os::process_stat> unknown;
    std::unordered_map<pid_t, ino_t> now;
    now.reserve(seen_.size() + 1);
    ::rewinddir(folder_.get());
    while (const dirent* entry = ::readdir(folder_.get())) {
        std::string_view name = entry->d_name;
        const auto number = os::take_number(name);
        if (!number || !name.empty()) continue;
        const auto pid = static_cast<pid_t>(*number);
        now.emplace(pid, entry->d_ino);
        const auto before = seen_.find(pid);
        if (before != seen_.end() && before->second == entry->d_ino) continue;
        if (auto stat = stat_of(pid)) unknown.push_back(std::move(*stat));
    }
    seen_ = std::move(now);
    return unknown;
}

// Without those of `known`.
void process_tree::remove(std::vector<os::process_stat>& from, const std::vector<process>& known) {
    if (from.empty()) return;
    std::unordered_map<pid_t, std::uint64_t> starts;
    for (const process& one : known)
        starts.emplace(one.stat.pid, one.stat.start);
    std::erase_if(from, [&starts](const os::process_stat& one) {
        const auto found = starts.find(one.pid);
        return found != starts.end() && found->second == one.start;
    });
}

// Puts those that descend from the family behind it.
void process_tree::adopt(std::vector<process>& family, std::vector<os::process_stat> unknown) {
    remove(unknown, family);
    if (unknown.empty()) return;
    std::unordered_set<pid_t> parents;
    for (const process& one : family)
        parents.insert(one.stat.pid);
    // The id of who is gone belongs to a new process.
    for (const os::process_stat& one : unknown)
        parents.erase(one.pid);
    const auto is_taken = [&](const os::process_stat& one) {
        if (!parents.contains(one.parent)) return false;
        if (auto opened = open(one)) {
            parents.insert(one.pid);
            family.push_back(std::move(*opened));
        }
        return true;
    };
    // Again where a parent's id is above its child's.
    for (std::size_t left = unknown.size() + 1; left > unknown.size();) {
        left = unknown.size();
        std::erase_if(unknown, is_taken);
    }
}

std::optional<os::process_stat> process_tree::stat_of(pid_t pid) {
    const auto file = open_file(pid, "stat");
    text_buffer buffer;
    return os::parse_process_stat(text_of(file, buffer));
}

// Nothing when it is gone meanwhile, also when another has its id.
std::optional<process_tree::process> process_tree::open(const os::process_stat& found) {
    process opened{found, open_file(found.pid, "stat"), open_file(found.pid, "io")};
    text_buffer buffer;
    const auto now = os::parse_process_stat(text_of(opened.stat_file, buffer));
    if (!now || now->start != found.start) return std::nullopt;
    return opened;
}

base::file_descriptor process_tree::open_file(pid_t pid, const char* name) {
    const std::string path = fmt::format("{}/{}", pid, name);
    base::file_descriptor file(
        ::openat(::dirfd(folder_.get()), path.c_str(), O_RDONLY | O_CLOEXEC));
    const bool is_told = file.is_open() || errno == ENOENT || errno == ESRCH || problem_;
    if (!is_told) problem_ = fmt::format("/proc/{}: {}", path, base::system_message(errno));
    return file;
}

}  // namespace postal::testbed
