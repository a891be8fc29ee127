// SPDX-License-Identifier: GPL-3.0-or-later
// What the command line of postal-compare asks for.
#pragma once

#include "base/result.hpp"
#include "cli/parse.hpp"
#include "experiment/command_line.hpp"
#include "experiment/experiment.hpp"
#include "experiment/gate.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace postal::compare {

struct options : experiment::shared_options {
    std::string verify;  // a folder of results
    bool quick = false;
    bool classic = false;
    bool overwrite = false;
    std::optional<std::uint64_t> blocks{};
    std::optional<std::uint64_t> max_blocks{};
    std::chrono::nanoseconds duration{};  // 0: the file's
    std::optional<std::chrono::nanoseconds> warmup{};
    std::optional<double> until_width{};  // as a share
    std::vector<experiment::gate> gates{};
    std::string baseline{};  // a folder of results that were kept
    std::string junit{};     // where their answers go as JUnit's XML; empty: nowhere
};

// done when --help or --version was asked for and printed.
[[nodiscard]] base::expected<cli::parse_result> parse_options(
    options& into, const std::vector<std::string>& words);

// Durations and blocks of the command line in place of the file's. Fails when they do not fit
// together.
[[nodiscard]] base::expected<void> apply(const options& given, experiment::experiment& to);

}  // namespace postal::compare
