// SPDX-License-Identifier: GPL-3.0-or-later
// What the command lines of the programs of experiments have in common.
#pragma once

#include "base/result.hpp"
#include "cli/options.hpp"
#include "experiment/experiment.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace postal::experiment {

using named_text = std::pair<std::string, std::string>;

struct shared_options {
    std::string experiment;  // the file
    std::string out;         // the folder of results; empty: after the file's name
    bool check = false;
    bool plan = false;
    bool resume = false;
    bool progress = false;
    std::optional<std::uint64_t> seed{};
    overrides set{};
    overrides expect{};  // variant, what is to come out
};

// Their rows. `it` can run on this machine, `it` goes on.
[[nodiscard]] cli::option check_option(shared_options& into, std::string_view it);
[[nodiscard]] cli::option resume_option(shared_options& into, std::string_view it);
[[nodiscard]] cli::option set_option(shared_options& into);
[[nodiscard]] cli::option seed_option(shared_options& into, std::string help);
[[nodiscard]] cli::option progress_option(shared_options& into);

// Of --expect, "VARIANT=OUTCOME"; the name of a variant may hold a "=". `form` is what it should
// be.
[[nodiscard]] base::expected<named_text> parse_outcome(std::string_view text,
                                                       std::string_view form);

// --out, or where that is empty the file's name without its extension and with ".results".
[[nodiscard]] std::string results_folder(const shared_options& given);

}  // namespace postal::experiment
