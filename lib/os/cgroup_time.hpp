// SPDX-License-Identifier: GPL-3.0-or-later
// For how long CPU quotas of control groups held this process back: cgroups(7), and the kernel's
// admin-guide/cgroup-v2.rst and scheduler/sched-bwc.rst (version 1).
//
// A quota may be that of our own group or of any above it, as in containers. All that are mounted
// here are read, in both versions; the one that held longest counts, since who is held back by one
// is not held back by another at the same time. Any text may be given; what is not there is not
// known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::os {

// The `cpu.stat` files of the groups of which /proc/self/cgroup and /proc/self/mountinfo have these
// texts, our own first; at most 64.
[[nodiscard]] std::vector<std::string> parse_quota_files(std::string_view groups,
                                                         std::string_view mounts);

// From the text of a `cpu.stat`, in seconds; nothing of a group that knows no quota.
[[nodiscard]] std::optional<double> parse_throttled(std::string_view text);

class quota_watch {
  public:
    quota_watch() { static_cast<void>(since_last()); }
    // In seconds, of the group's processors added up; nothing where no group says it.
    [[nodiscard]] std::optional<double> since_last();

  private:
    std::string groups_;
    std::vector<std::string> files_;
    std::vector<std::pair<std::string, double>> before_;  // by file
};

}  // namespace postal::os
