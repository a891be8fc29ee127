// SPDX-License-Identifier: GPL-3.0-or-later
// How postal is measured by itself before it searches (program/own_limit.hpp): it sends what it
// was told to send, as it was told to send it, to bhm.
#pragma once

#include "postal/plan.hpp"
#include "program/own_limit.hpp"

namespace postal::sender {

// Users are those of the plan; where their list can be read but once, as many as one message goes
// to. Nobody logs in, and what only the server knows, or this run keeps, is left out, and named.
[[nodiscard]] program::alone_plan alone_plan_of(const plan& of);

}  // namespace postal::sender
