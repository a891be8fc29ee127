// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the file that --config names: long option names as keys at the top level of a TOML
// document.
//
//     sessions = 50            # --sessions 50
//     rate = "600/min"
//     threshold = ["errors<1%", "p99(message)<1s"]     # a repeatable option
//     progress = true          # a flag
//
// Only the form is checked here; which keys are known, and what their values may be, is the
// parser's business. Fails with "FILE:LINE: reason" for a syntax error, a table, or a value that is
// no text, number, boolean or list of those. A file above 1 MiB is refused.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace postal::cli {

struct config_entry {
    std::string key;
    std::vector<std::string> values;
    std::uint32_t line = 0;
    std::string where;  // for messages: "FILE:LINE: key"
    bool is_boolean = false;
    bool is_list = false;
};

base::expected<std::vector<config_entry>> read_config(const std::string& path);

}  // namespace postal::cli
