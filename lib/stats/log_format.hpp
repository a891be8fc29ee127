// SPDX-License-Identifier: GPL-3.0-or-later
// How intervals are printed; interval_log.hpp says what each looks like.
#pragma once

namespace postal::stats {

enum class log_format { csv, jsonl, extended };

}  // namespace postal::stats
