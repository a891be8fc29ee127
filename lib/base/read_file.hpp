// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a whole file.
//
// Of what a person named on the command line pipes and /dev/fd/N work as well as regular files; of
// what another file names, or a folder holds, only regular ones do, so that nobody waits for who
// writes into a FIFO. Fails with "PATH: reason" when it is missing, unreadable, of another kind or
// longer than `most` octets; the path is made fit for a terminal.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace postal::base {

constexpr std::uint64_t any_length = std::numeric_limits<std::uint64_t>::max();

[[nodiscard]] expected<std::string> read_file(const std::string& path,
                                              std::uint64_t most = any_length);

[[nodiscard]] expected<std::string> read_regular_file(const std::string& path,
                                                      std::uint64_t most = any_length);

// The same from what is open already, from where it stands to its end; `name` is for the reason.
[[nodiscard]] expected<std::string> read_descriptor(int number, const std::string& name,
                                                    std::uint64_t most = any_length);
[[nodiscard]] expected<std::string> read_regular_descriptor(int number, const std::string& name,
                                                            std::uint64_t most = any_length);

}  // namespace postal::base
