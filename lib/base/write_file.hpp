// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a whole file or none: to a temporary file beside it, which is then renamed, so that a
// reader never sees half of it. The folder may belong to others: that file has no name, or one that
// nobody can guess.
//
// "-" is standard output; a path that is not a regular file (a pipe, a device) is written straight
// to. A symbolic link stays one: what it points to is replaced. Fails with "PATH: reason" (no such
// folder, disk full); then an older file stays as it was, and no temporary one is left.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace postal::base {

[[nodiscard]] expected<void> write_file(const std::string& path, std::string_view text);

// Writes all of it to a descriptor that blocks; 0, or the errno of the write that failed.
[[nodiscard]] int write_all(int number, std::string_view text) noexcept;

// The same from there on in the file; the descriptor's own offset stays where it is.
[[nodiscard]] int write_all(int number, std::string_view text, std::uint64_t at) noexcept;

// To be asked before there is anything to write. Leaves nothing behind.
[[nodiscard]] expected<void> check_writable(const std::string& path);

}  // namespace postal::base
