// SPDX-License-Identifier: GPL-3.0-or-later
// Whether an experiment can run on this machine; to be asked before anything is started or written.
//
// Looked at are the programs of all commands, root where storage is wanted, the storage's device
// (mounted, in use, holding what would be lost), the folder of its image, loop devices, and whether
// somebody listens already where the servers are to. Fails with one line that names file and line,
// what is wrong and what would be right. Limit: what only a command itself knows, such as a mount
// option that the kernel refuses, shows in the first run.
#pragma once

#include "base/result.hpp"
#include "experiment/experiment.hpp"

#include <string>

namespace postal::experiment {

struct check_options {
    std::string out{};       // the folder of the results, as an absolute path
    bool overwrite = false;  // devices may hold something
    bool resume = false;     // devices hold what the experiment has made
};

[[nodiscard]] base::expected<void> check_machine(const experiment& whole, const check_options& how);

// A variant's variables and the built-in ones, for a run in this folder; `device` is empty until it
// is known.
[[nodiscard]] variables values_of_run(const experiment& whole, std::size_t variant,
                                      const std::string& out, const std::string& run,
                                      std::uint64_t block, const std::string& device);

}  // namespace postal::experiment
