// SPDX-License-Identifier: GPL-3.0-or-later
// What the main() of every program does the same way: the exit status and the line that says what
// went wrong.
//
// The first three statuses are those of the original programs.
#pragma once

#include "base/result.hpp"

#include <functional>
#include <string_view>

namespace postal::cli {

enum class exit_status : int {
    done = 0,
    bad_parameters = 1,     // the command line, or a file that it names, is wrong: nothing was sent
    system_error = 2,       // cannot bind, out of descriptors, disk full
    threshold_not_met = 3,  // the run is complete, a --threshold is not met
    nothing_delivered =
        4,  // not one message was accepted: the target never answered, or refused everything
    // What postal-report --verify finds wrong with a bundle, beside threshold_not_met: what was
    // printed does not follow from what is in it.
    file_changed = 5,
    file_missing = 6,
    file_unlisted = 7,
    other_version = 8,    // what was printed is not what this version prints
    not_signed = 9,       // no good signature, though one is asked for
    not_recomputed = 10,  // nothing is wrong, and for some of it there is nothing to compute from
};

// One line on standard error: "NAME: MESSAGE".
void complain(std::string_view program, std::string_view message);
// The same of why nothing is begun; gives the status.
exit_status refuse(std::string_view program, const base::failure& why, exit_status status);

// Runs the body and gives its status to main(). Exceptions are thrown only before a run starts and
// when memory runs out: the message is printed and the status is system_error; what another thread
// threw, or nothing may leave, ends the process so at once. A failure to write to standard output
// (a full disk, a closed pipe) also ends in system_error; of a pipe without a line, since nobody
// reads it any more.
int run_main(std::string_view program, const std::function<exit_status()>& body);

}  // namespace postal::cli
