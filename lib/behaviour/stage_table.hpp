// SPDX-License-Identifier: GPL-3.0-or-later
// The tables [rule.STAGE] of a behaviour's file.
#pragma once

#include "behaviour/rule.hpp"
#include "behaviour/stage.hpp"

#include "cli/section.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace postal::behaviour {

// Whether anything can be known at a stage of what a condition or a bucket's key is about: "helo",
// "sender", "size", ... What depends on no command is known everywhere.
[[nodiscard]] bool may_be_known(std::string_view what, stage at) noexcept;

// The value of a key that may be written as "10K" or as 10240; for others nothing, and a complaint.
[[nodiscard]] std::optional<std::string> text_or_number(cli::section& of, std::string_view name);

// What is wrong is a complaint of the table's.
[[nodiscard]] action read_action(cli::section of, stage at);

}  // namespace postal::behaviour
