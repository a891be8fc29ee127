// Writes a whole file or none: to a temporary file beside it, which is then renamed.
//
// "-" is standard output; what exists and is no regular file (a device, a pipe) is written straight
// to. Fails with one line that names the file (no such folder, disk full) and leaves no temporary
// file behind.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace postal::report {

base::expected<void> write_file(const std::string& path, std::string_view content);

}  // namespace postal::report
