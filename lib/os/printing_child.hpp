// SPDX-License-Identifier: GPL-3.0-or-later
// A child for what it prints: its input is /dev/null or what it is given, and what it writes to
// standard output and standard error stands in a file in memory, which is as large as the largest
// file that it may write.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "os/child.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace postal::os {

struct printing_child {
    child running{};
    base::file_descriptor ended{};    // running.pidfd
    base::file_descriptor printed{};  // the file
};

// With this process's environment. `program` is a path; `words` are its argv, and not empty;
// `input` is a descriptor to read from, /dev/null where it is none.
base::expected<printing_child> start_printing(spawner& children, const std::string& program,
                                              std::vector<std::string>& words,
                                              std::uint64_t most_octets, bool ends_with_parent,
                                              int input = -1);

// From its beginning, also while it runs. Fails where it is more than `most` octets, with `name`.
base::expected<std::string> read_printed(const printing_child& of, const std::string& name,
                                         std::uint64_t most);

}  // namespace postal::os
