// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/rank_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <variant>
#include <vector>

namespace postal::program {
namespace {

// Options that may differ from rank to rank.
constexpr std::string_view own_options[] = {"config",        "force",      "ledger",
                                            "local-address", "log-format", "progress",
                                            "record",        "threshold",  "workers"};

std::string text_of(const stats::option_value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
    std::string all;
    for (const std::string& one : std::get<std::vector<std::string>>(value))
        all += (all.empty() ? "" : " ") + one;
    return all;
}

}  // namespace

std::string load_of(const stats::run_description& run) {
    std::string text = fmt::format("--seed {}\n", run.seed);
    for (const auto& [name, value] : run.options) {
        if (std::find(std::begin(own_options), std::end(own_options), name) !=
            std::end(own_options))
            continue;
        text += fmt::format("--{} {}\n", name, text_of(value));
    }
    return text;
}

std::string file_of_rank(const std::string& file, std::uint64_t rank) {
    if (file.empty()) return file;
    if (file == "-") return {};
    const std::size_t folder = file.rfind('/');
    const std::size_t dot = file.rfind('.');
    const bool has_extension = dot != file.npos && (folder == file.npos || dot > folder + 1);
    const std::size_t at = has_extension ? dot : file.size();
    return fmt::format("{}.rank-{}{}", file.substr(0, at), rank, file.substr(at));
}

}  // namespace postal::program
