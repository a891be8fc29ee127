// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/process_tree.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <unordered_set>
#include <utility>

namespace postal::testbed {
base::expected<std::vector<process_reading>> process_tree::watch(pid_t root) {
    if (!folder_) folder_.reset(::opendir("/proc"));
    if (!folder_) return base::fail("/proc: {}", base::system_message(errno));
    adopt(watched_, find_unknown());
    const auto is_root = [root](const auto& one) { return one.stat().pid == root; };
    if (std::any_of(watched_.begin(), watched_.end(), is_root))
        return std::vector<process_reading>{};

    seen_.clear();
    std::vector<process_files> fresh;
    const auto stat = stat_of_process(proc(), root, problem_);
    if (auto opened = stat ? process_files::open(proc(), *stat, problem_) : std::nullopt)
        fresh.push_back(std::move(*opened));
    if (fresh.empty()) return base::fail("there is no process {} to be watched", root);
    auto unknown = find_unknown();
    remove(unknown, watched_);
    adopt(fresh, std::move(unknown));
    auto readings = read(fresh, closeness::quick);
    // In front: who is watched already may descend from them.
    watched_.insert(watched_.begin(), std::make_move_iterator(fresh.begin()),
                    std::make_move_iterator(fresh.end()));
    return readings;
}

std::vector<process_reading> process_tree::read(closeness how) {
    if (watched_.empty()) return {};
    adopt(watched_, find_unknown());
    return read(watched_, how);
}

std::vector<process_reading> process_tree::read(std::vector<process_files>& from, closeness how) {
    std::vector<process_reading> readings;
    readings.reserve(from.size());
    std::erase_if(from, [&](process_files& one) {
        auto reading = one.read(proc(), how);
        if (reading) readings.push_back(std::move(*reading));
        return !reading;
    });
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
        if (auto stat = stat_of_process(proc(), pid, problem_)) unknown.push_back(std::move(*stat));
    }
    seen_ = std::move(now);
    return unknown;
}

// Without those of `known`.
void process_tree::remove(std::vector<os::process_stat>& from,
                          const std::vector<process_files>& known) {
    if (from.empty()) return;
    std::unordered_map<pid_t, std::uint64_t> starts;
    for (const process_files& one : known)
        starts.emplace(one.stat().pid, one.stat().start);
    std::erase_if(from, [&starts](const os::process_stat& one) {
        const auto found = starts.find(one.pid);
        return found != starts.end() && found->second == one.start;
    });
}

// Puts those that descend from the family behind it.
void process_tree::adopt(std::vector<process_files>& family,
                         std::vector<os::process_stat> unknown) {
    remove(unknown, family);
    if (unknown.empty()) return;
    std::unordered_set<pid_t> parents;
    for (const process_files& one : family)
        parents.insert(one.stat().pid);
    // The id of who is gone belongs to a new process.
    for (const os::process_stat& one : unknown)
        parents.erase(one.pid);
    const auto is_taken = [&](const os::process_stat& one) {
        if (!parents.contains(one.parent)) return false;
        if (auto opened = process_files::open(proc(), one, problem_)) {
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

}  // namespace postal::testbed
