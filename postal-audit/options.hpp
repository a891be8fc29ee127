// SPDX-License-Identifier: GPL-3.0-or-later
// What the command line of postal-audit asks for.
#pragma once

#include "base/result.hpp"
#include "cli/parse.hpp"
#include "experiment/command_line.hpp"
#include "experiment/experiment.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace postal::audit {

struct options : experiment::shared_options {
    std::string keep;  // a folder for images; empty: none are kept
    bool replay = false;
    std::optional<std::uint64_t> messages{};
    std::optional<std::uint64_t> cuts{};
    std::optional<std::uint64_t> draws{};
    std::optional<double> torn{};
    std::optional<std::uint64_t> cut_at{};  // entries of the log
    std::optional<std::uint64_t> draw{};    // with cut_at: this one alone
    std::vector<std::string> variants{};    // none: all
};

// done when --help or --version was asked for and printed.
[[nodiscard]] base::expected<cli::parse_result> parse_options(
    options& into, const std::vector<std::string>& words);

// What the command line says in place of the file. Fails where the experiment is none that can be
// audited, or a variant is not there.
[[nodiscard]] base::expected<void> apply(const options& given, experiment::experiment& to);

// How an audit that is there already is taken up, --resume or --replay, for what is said.
[[nodiscard]] const char* action_of(const options& given) noexcept;

// Of the writes that survive in part, as draws and records have it.
[[nodiscard]] unsigned torn_percent(const experiment::audit& of);

// Whether --variant asks for it.
[[nodiscard]] bool is_wanted(const options& given, const std::string& variant);

}  // namespace postal::audit
