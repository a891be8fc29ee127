// SPDX-License-Identifier: GPL-3.0-or-later
// A child's way from clone(2) to its program, in the memory of the process that starts it.
#pragma once

#include "os/child.hpp"

#include <cstddef>
#include <cstdint>

namespace postal::os {

// Of a signal set, in octets.
inline constexpr std::size_t kernel_set_size = 8;

// What a child was at when it failed.
enum class child_step { none, descriptors, group, signals, limits, user, directory, program, late };

// What a child that has to ask reads: a word that its parent writes once, and wakes it (futex).
enum class permission : std::uint32_t { awaited, given, refused };

// What the child needs, and where it leaves why it could not run.
struct handover {
    const child_plan* plan = nullptr;
    const system_user* user = nullptr;  // null: nothing to change
    const limit* limits = nullptr;
    std::size_t limit_count = 0;
    const int* signals = nullptr;
    std::size_t signal_count = 0;
    std::uint32_t* permission = nullptr;  // null: it need not ask
    int terminal = -1;                    // ours
    bool new_session = false;
    int input_slot = -1;
    int output_slot = -1;
    pid_t parent = -1;
    child_step failed = child_step::none;
    int error = 0;
};

// What clone(2) calls; `argument` is a handover. Does not return.
int run_before_exec(void* argument);

}  // namespace postal::os
