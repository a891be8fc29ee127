// Reads a whole file that a person named on the command line.
//
// Pipes and /dev/fd/N work as well as regular files. Fails with "PATH: reason" when it is missing,
// unreadable or a directory.
// Limits: no bound on the size; only for files that the person who runs the program chose.
#pragma once

#include "base/result.hpp"

#include <string>

namespace postal::mail {

[[nodiscard]] base::expected<std::string> read_file(const std::string& path);

}  // namespace postal::mail
