// SPDX-License-Identifier: GPL-3.0-or-later
// The errors of one interval as a few lines for standard error.
//
// "12 x rcpt 550 5.1.1: no such user" for the most frequent kinds, then one line for all the rest,
// so that no flood of errors becomes a flood of lines. Lines have no end and no program name.
// Nothing here fails.
#pragma once

#include "stats/error_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace postal::stats {

// `kinds`: the most frequent first.
[[nodiscard]] std::vector<std::string> interval_diagnostics(const std::vector<error_entry>& kinds,
                                                            std::size_t max_lines = 5);

// One kind without its count: "rcpt 550 5.1.1: no such user", "connect refused: 127.0.0.1:25".
[[nodiscard]] std::string describe_error(const error_entry& entry);

}  // namespace postal::stats
