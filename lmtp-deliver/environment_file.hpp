// SPDX-License-Identifier: GPL-3.0-or-later
// environment_file: variables for agents from a file, so that secrets stand on no command line.
//
//   # a comment, or nothing
//   NAME=VALUE
//
// A NAME is letters, digits and _, not a digit first; the VALUE is the rest of the line as it is,
// without its line end, and may be empty: no quotes, no placeholders. A name may stand once. The
// file must be a regular one of root's or of this process's user, and closed to all others (0600).
//
// Fails with "FILE:LINE: reason" or "FILE: reason", in which nothing of the file stands but names.
// Limits: 64 KiB.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace postal::lmtp_deliver {

// NAME=VALUE each.
[[nodiscard]] base::expected<std::vector<std::string>> load_environment(const std::string& path);

// name: what errors call it.
[[nodiscard]] base::expected<std::vector<std::string>> parse_environment(std::string_view text,
                                                                         const std::string& name);

}  // namespace postal::lmtp_deliver
