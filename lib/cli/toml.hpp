// SPDX-License-Identifier: GPL-3.0-or-later
// TOML documents, read alike by all who have one.
#pragma once

#include "base/result.hpp"

#include <toml++/toml.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace postal::cli {

// `name` is what failures call the document: "NAME:LINE: reason". What a reason quotes may come
// from the document: it is made harmless and short here, and by cli::complaint.
inline constexpr std::size_t longest_reason = 1000;
[[nodiscard]] base::expected<toml::table> parse_toml(std::string_view text,
                                                     const std::string& name);

[[nodiscard]] base::failure at_line(const std::string& name, const toml::node& node,
                                    std::string_view reason);

}  // namespace postal::cli
