// SPDX-License-Identifier: GPL-3.0-or-later
// How postal is measured by itself before it searches (program/own_limit.hpp): it sends what it
// was told to send, as it was told to send it, to bhm.
#pragma once

#include "postal/plan.hpp"
#include "program/own_limit.hpp"

namespace postal::sender {

// Users are those of the plan, but for lists from standard input, which has been read; nobody logs
// in, and parameters that only the server knows are left out.
[[nodiscard]] program::alone_plan alone_plan_of(const plan& of);

}  // namespace postal::sender
