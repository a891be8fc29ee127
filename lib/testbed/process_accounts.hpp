// SPDX-License-Identifier: GPL-3.0-or-later
// What the processes of a server have used, by the name of their program, from looks at the living.
//
// Linux adds what a process has used to its parent's "children" once the parent has waited for it,
// and drops it when the parent ignores its ends. Here nothing is counted twice and no sum goes
// back: what was seen of a process that is gone is owed by its parent, and the next growth of the
// parent's "children" pays that before any of it counts. What remains after a second look was
// dropped by the kernel, and the debt with it. Who owes is not known where parent and child go
// between two looks: then all are asked. I/O is handed on likewise, but in one sum with the
// parent's own; so of I/O a part may be missing where the kernel drops it.
//
// What a process used between the last look and its end, and all of one that no look has seen, is
// the parent's "children". Pure: no file is read here. Resolution is a tick of the kernel's
// accounting.
#pragma once

#include "os/proc_texts.hpp"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace postal::testbed {

struct process_reading {
    os::process_stat stat;
    std::optional<os::process_io> io;  // empty: the kernel does not let us see it
};

// In ticks and octets.
struct process_amounts {
    std::uint64_t ticks = 0;
    std::uint64_t read = 0;
    std::uint64_t written = 0;
};

// Since the first look at each process.
struct program_amounts {
    std::uint64_t user = 0;      // ticks
    std::uint64_t system = 0;    // ticks
    std::uint64_t children = 0;  // ticks of processes that ended unseen, or after they were seen
    std::uint64_t read = 0;      // octets, with the children's
    std::uint64_t written = 0;
    bool io_known = true;  // false: of at least one process it could not be seen
};

class process_accounts {
  public:
    // After that many names of programs the others are taken together as "(others)".
    static constexpr std::size_t most_names = 100;

    // Processes that are there before the counting begins: what they have used is not counted.
    // Those that are known already stay as they are.
    void begin(const std::vector<process_reading>& processes);

    // All that are alive, ended ones that were not waited for among them. Each was read after its
    // parent, so that no child's time is in both. Who is known and missing here is gone; who is new
    // was started since the last look.
    void look(const std::vector<process_reading>& alive);

    [[nodiscard]] const std::map<std::string, program_amounts>& programs() const noexcept {
        return programs_;
    }

  private:
    // Older: may be dropped after this look. Newer: may still be paid at the next one.
    struct debt {
        process_amounts older;
        process_amounts newer;
    };
    struct account {
        process_reading last;
        debt owed;
    };
    // By which a look makes the counters of one process grow.
    struct growth {
        program_amounts* to = nullptr;
        process_amounts unpaid;
    };

    void remove_gone(const std::vector<process_reading>& alive);
    growth grow(const process_reading& now);
    program_amounts& amounts_of(const std::string& name);

    std::unordered_map<pid_t, account> accounts_;
    debt orphans_;  // owed by nobody in particular
    std::map<std::string, program_amounts> programs_;
};

}  // namespace postal::testbed
