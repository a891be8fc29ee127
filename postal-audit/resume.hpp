// SPDX-License-Identifier: GPL-3.0-or-later
// What an audit that goes on, or of which a cut is looked at again, has to be: the one that was
// begun.
//
// The text and the variables must be the same, and so must be whatever is given again: the seed,
// the numbers of messages, cuts and draws, and the share of torn writes. Fails with one line that
// names the difference. Records of older versions hold no variables: those are not compared.
#pragma once

#include "audit/record.hpp"
#include "base/result.hpp"
#include "experiment/experiment.hpp"
#include "postal-audit/options.hpp"

namespace postal::audit {

// `whole` gets what the record decides.
[[nodiscard]] base::expected<void> take_up(const audit_record& begun, const options& given,
                                           experiment::experiment& whole);

}  // namespace postal::audit
