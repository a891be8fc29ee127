// What the command line of postal-compare asks for.
#pragma once

#include "base/result.hpp"
#include "cli/parse.hpp"
#include "experiment/experiment.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace postal::compare {

struct options {
    std::string experiment;  // the file
    std::string out;         // the folder of results; empty: after the file's name
    std::string verify;      // a folder of results
    bool check = false;
    bool plan = false;
    bool resume = false;
    bool quick = false;
    bool classic = false;
    bool overwrite = false;
    bool progress = false;
    std::optional<std::uint64_t> blocks{};
    std::optional<std::uint64_t> max_blocks{};
    std::optional<std::uint64_t> seed{};
    std::chrono::nanoseconds duration{};  // 0: the file's
    std::optional<std::chrono::nanoseconds> warmup{};
    std::optional<double> until_width{};  // as a share
    experiment::overrides set{};
    std::vector<std::pair<std::string, std::string>> expect{};  // variant, verdict
};

// done when --help or --version was asked for and printed.
[[nodiscard]] base::expected<cli::parse_result> parse_options(
    options& into, const std::vector<std::string>& words);

// Durations and blocks of the command line in place of the file's. Fails when they do not fit
// together.
[[nodiscard]] base::expected<void> apply(const options& given, experiment::experiment& to);

// The folder of results: --out, else the file's name without its extension and with ".results".
[[nodiscard]] std::string results_folder(const options& given);

}  // namespace postal::compare
