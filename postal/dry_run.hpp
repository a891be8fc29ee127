// SPDX-License-Identifier: GPL-3.0-or-later
// --dry-run of postal: to whom, how fast, what; the first envelopes, and with --dry-run-message the
// first message whole.
#pragma once

#include <string>

#include "postal/plan.hpp"

namespace postal::sender {

// Lines for standard output. A message is made as the run would make it, but for its date.
std::string describe_dry_run(const plan& of);
// Message 1 of session 0, with the line ends that it is sent with.
std::string first_message(const plan& of);

}  // namespace postal::sender
