// SPDX-License-Identifier: GPL-3.0-or-later
// The file that a word names as a program, as execvp(3) would find it.
#pragma once

#include "base/result.hpp"

#include <string>

namespace postal::os {

// A word with a slash is a path; others are looked for in `first`, where that is not empty, then in
// PATH, /usr/sbin and /sbin. Fails with one line that names the word.
[[nodiscard]] base::expected<std::string> find_program(const std::string& word,
                                                       const std::string& first = {});

}  // namespace postal::os
