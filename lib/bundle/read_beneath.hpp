// SPDX-License-Identifier: GPL-3.0-or-later
// A file of a folder that somebody else may have filled: links in it lead nowhere, so that nothing
// from outside gets into what is made of it.
//
// Fails with "FOLDER/NAME: reason" where it is missing, no plain file, behind a link, or larger
// than `most` octets. Linux 5.6.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace postal::bundle {

[[nodiscard]] base::expected<std::string> read_beneath(const std::string& folder,
                                                       const std::string& name, std::uint64_t most);
// Nothing where it is missing or behind a link; fails with the others.
[[nodiscard]] base::expected<std::optional<std::string>> read_if_beneath(const std::string& folder,
                                                                         const std::string& name,
                                                                         std::uint64_t most);

}  // namespace postal::bundle
