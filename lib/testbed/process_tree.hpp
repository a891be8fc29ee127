// SPDX-License-Identifier: GPL-3.0-or-later
// A server's processes, as /proc shows them: those with a given process id and all that descend
// from them.
//
// A process that was seen once stays watched when its parent ends and another adopts it; it is
// known by its id and the time of its start. Not found is who was never seen before its parent
// ended: a daemon whose starter is gone before watch() or read(). Three descriptors stay open for
// each process (os::raise_descriptor_limit()); who cannot be opened is left out, and problem() says
// so.
//
// Limits: /proc must show the processes (hidepid), and I/O is shown to root and the same user only.
#pragma once

#include "base/result.hpp"
#include "testbed/process_files.hpp"

#include <dirent.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace postal::testbed {

class process_tree {
  public:
    // A process and its descendants. Returns those of them that were not watched before, each
    // behind its parent. Fails when there is no such process.
    [[nodiscard]] base::expected<std::vector<process_reading>> watch(pid_t root);

    // All that are alive now, each read after its parent. Those that were started since the last
    // call are looked for first.
    [[nodiscard]] std::vector<process_reading> read(closeness how = closeness::quick);

    // The first thing that went wrong.
    [[nodiscard]] const std::optional<std::string>& problem() const noexcept { return problem_; }

  private:
    struct close_folder {
        void operator()(DIR* folder) const noexcept { ::closedir(folder); }
    };

    std::vector<os::process_stat> find_unknown();
    static void remove(std::vector<os::process_stat>& from,
                       const std::vector<process_files>& known);
    void adopt(std::vector<process_files>& family, std::vector<os::process_stat> unknown);
    std::vector<process_reading> read(std::vector<process_files>& from, closeness how);
    [[nodiscard]] int proc() const noexcept { return ::dirfd(folder_.get()); }

    std::unique_ptr<DIR, close_folder> folder_;
    std::unordered_map<pid_t, ino_t> seen_;  // those that need not be looked at again
    std::vector<process_files> watched_;     // each behind its parent
    std::optional<std::string> problem_;
};

}  // namespace postal::testbed
