// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.hpp"
#include "experiment/experiment.hpp"
#include "postal-audit/options.hpp"

namespace postal::audit {

// Whether the audit can run on this machine: what an experiment needs, and what makes a disk that
// remembers. One line where it cannot.
[[nodiscard]] base::expected<void> check_machine(const options& given,
                                                 const experiment::experiment& whole);

}  // namespace postal::audit
