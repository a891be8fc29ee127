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
// A process's own time is in nanoseconds where its clock can be read, and "children" in ticks, each
// of user and system cut to whole ones; debts are kept in nanoseconds. So up to two ticks of a debt
// may be there in the parent's "children" without being seen, and are never taken for dropped: of
// a parent that has dropped debts at most two ticks of what it waits for later are missing, and of
// one that had children before it was watched as much may be too much.
//
// What a process used between the last look and its end, and all of one that no look has seen, is
// the parent's "children"; of wake-ups that part is not known to anybody. A process that cannot be
// read in a look keeps what it had in the last one; one that lives and never could be read makes
// its program's amounts not known in that look, and in no other. Pure: no file is read here.
#pragma once

#include "os/proc_texts.hpp"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace postal::testbed {

// What cannot be seen is empty.
struct process_reading {
    os::process_stat stat{};
    std::optional<os::process_io> io{};
    std::optional<std::uint64_t> cpu_ns{};  // user and system; empty: the ticks count
    std::optional<std::uint64_t> wakeups{};
    std::optional<std::uint64_t> descriptors{};  // that are open
    std::optional<std::uint64_t> memory{};       // octets
};

// Descriptors and memory are looked at only by one that is thorough.
enum class closeness { quick, thorough };

struct process_amounts {
    std::uint64_t cpu_ns = 0;
    std::uint64_t read = 0;
    std::uint64_t written = 0;
};

// Since the first look at each process; "known" is what the last look could see.
struct program_amounts {
    std::uint64_t user = 0;    // ticks
    std::uint64_t system = 0;  // ticks
    // Of processes that ended unseen, or after they were seen.
    std::uint64_t children_ns = 0;
    std::uint64_t cpu_ns = 0;  // all of it, each nanosecond once
    std::uint64_t read = 0;    // octets, with the children's
    std::uint64_t written = 0;
    std::uint64_t wakeups = 0;
    std::uint64_t descriptors = 0;  // of those that are alive
    std::uint64_t memory = 0;
    bool io_known = true;
    bool wakeups_known = true;
    bool descriptors_known = false;
    bool memory_known = false;
};

class process_accounts {
  public:
    // After that many names of programs the others are taken together as "(others)".
    static constexpr std::size_t most_names = 100;

    // How long a tick of the kernel's accounting is.
    explicit process_accounts(std::uint64_t tick_ns = 10'000'000) : tick_ns_(tick_ns) {}

    // Processes that are there before the counting begins: what they have used is not counted.
    // Those that are known already stay as they are.
    void begin(const std::vector<process_reading>& processes);

    // All that are alive, ended ones that were not waited for among them. Each was read after its
    // parent, so that no child's time is in both. Who is known and missing here is gone; who is new
    // was started since the last look.
    void look(const std::vector<process_reading>& alive, closeness how = closeness::quick);

    [[nodiscard]] const std::map<std::string, program_amounts>& programs() const noexcept {
        return programs_;
    }

  private:
    // Older: may be dropped after this look. Newer: may still be paid at the next one. Hidden: less
    // than what "children" shows only when it is whole ticks.
    struct debt {
        process_amounts older{};
        process_amounts newer{};
        std::uint64_t hidden_ns = 0;
    };
    struct account {
        process_reading last{};
        bool is_whole = true;  // all that it ever used counts
        debt owed{};
    };
    // By which a look makes the counters of one process grow.
    struct growth {
        program_amounts* to = nullptr;
        process_amounts unpaid{};
    };

    void remove_gone(const std::vector<process_reading>& alive);
    growth grow(const process_reading& now, closeness how);
    void pay_debts(debt& owed, process_amounts& from) const;
    [[nodiscard]] process_amounts all_of(const process_reading& one) const;
    [[nodiscard]] std::uint64_t own_ns(const process_reading& one) const;
    program_amounts& amounts_of(const std::string& name, closeness how);

    std::uint64_t tick_ns_;
    std::unordered_map<pid_t, account> accounts_;
    debt orphans_;  // owed by nobody in particular
    std::map<std::string, program_amounts> programs_;
};

}  // namespace postal::testbed
