// SPDX-License-Identifier: GPL-3.0-or-later
// The two kinds of run of an audit: one that is recorded, and one on what a power cut left of it.
// They are experiment::run_once() with another disk, other loads and other steps, and never touch a
// disk of the user's.
#pragma once

#include "base/result.hpp"
#include "experiment/run.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace postal::audit {

// So many messages, on a new disk that remembers all that was written to it.
struct recording_plan {
    std::string log{};     // where the disk's writes go, in dm-log-writes' format; made here, stays
    std::string ledger{};  // of the messages; made by postal
    std::function<void()> begins{};  // right before the load begins
    std::function<void()> ends{};    // right behind its end
};
[[nodiscard]] experiment::run_result record_once(const experiment::run_plan& plan,
                                                 const recording_plan& recorded,
                                                 experiment::journal& book,
                                                 experiment::supervisor& by,
                                                 const experiment::progress& tell);

// The image below the disk of such a run, in its folder while it goes on.
[[nodiscard]] std::string recorded_disk_in(const std::string& folder);

// No load: what is found on an image that a power cut left.
struct recovery_plan {
    std::string image{};   // which the run changes
    std::string ledger{};  // of what is found; made here
    // Reads the Maildirs into that ledger; how many files could not be read.
    std::function<base::expected<std::uint64_t>(const std::vector<std::string>& folders)>
        read_maildirs{};
};
[[nodiscard]] experiment::run_result recover_once(const experiment::run_plan& plan,
                                                  const recovery_plan& recovered,
                                                  experiment::journal& book,
                                                  experiment::supervisor& by,
                                                  const experiment::progress& tell);

}  // namespace postal::audit
