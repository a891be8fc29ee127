// SPDX-License-Identifier: GPL-3.0-or-later
// Gates for the pages of continuous integration: JUnit's XML, of which every such page reads this
// much. A gate of a variant is a test case; one that is missed has failed, an open one is skipped,
// and one without an answer is an error.
#pragma once

#include "experiment/analysis.hpp"

#include <string>

namespace postal::compare {

// While the experiment has not ended each gate is an error, and says so.
[[nodiscard]] std::string junit_text(const experiment::results& of,
                                     const experiment::analysis& found);

}  // namespace postal::compare
