// SPDX-License-Identifier: GPL-3.0-or-later
// Two runs of which the outcome is known before: without them an audit that sees nothing could not
// be told from a server that loses nothing.
//
// Both are bhm, which keeps each message in a Maildir on ext4 and replies once file and folder are
// flushed (--store-sync). One of them is lied to: libeatmydata makes its flushes do nothing.
#pragma once

#include "base/result.hpp"
#include "experiment/experiment.hpp"

namespace postal::audit {

inline constexpr const char* must_lose_name = "flushes that do nothing";
inline constexpr const char* must_keep_name = "file and folder flushed";

// Both as variants of one experiment, the one that must lose mail first. Fails where there is no
// bhm.
[[nodiscard]] base::expected<experiment::experiment> make_controls();

}  // namespace postal::audit
