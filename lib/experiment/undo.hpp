// SPDX-License-Identifier: GPL-3.0-or-later
// Undoes what a journal says was done: at the end of a run, after a failure, an interruption, or by
// the next program after one that was killed. It is the same work each time, from the entries
// alone.
//
// Nothing here is undone twice or blindly: what is gone already counts as undone (mounts, loop
// devices and processes end with the boot; a process is the one that was started only when number
// and time of start agree).
#pragma once

#include "experiment/journal.hpp"
#include "experiment/supervisor.hpp"

#include "os/process.hpp"

#include <functional>
#include <string>
#include <vector>

namespace postal::experiment {

// What could not be undone.
struct leftover {
    std::string what;    // one line with the reason
    std::string remedy;  // a command for a person: "umount /out/mount"
    bool operator==(const leftover&) const = default;
};

struct undo_report {
    std::vector<leftover> left{};
    std::vector<std::string> notes{};  // such as a server that had to be killed
};

// What a command that fails is: told as left, or, when the end of an earlier program has told it
// already, and somebody may have done it by hand since, a note.
enum class failed_command : std::uint8_t { stays, is_a_note };

// All entries above `mark`, newest first; each is struck out once it is undone. After a mount or a
// loop device that stays, what it stands on is left as well, and so are the commands that were to
// follow. Tries all the others.
[[nodiscard]] undo_report undo_above(std::uint64_t mark, journal& from, supervisor& by,
                                     failed_command failed = failed_command::stays);

// What an earlier program left behind, told line by line. False where something stays.
[[nodiscard]] bool undo_leftovers(journal& from, supervisor& by,
                                  const std::function<void(const std::string&)>& say);
// How a person removes it.
[[nodiscard]] std::string line_of(const leftover& one);

// SIGTERM to those that `find` finds, after `limit` SIGKILL. How many are left, and whether SIGKILL
// was needed. `find` must not find those that ended.
struct ending {
    std::vector<os::process_stat> left{};
    bool killed = false;
};
[[nodiscard]] ending end_processes(supervisor& by, std::chrono::nanoseconds limit,
                                   const std::function<std::vector<os::process_stat>()>& find);

}  // namespace postal::experiment
