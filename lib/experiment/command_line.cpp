// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/command_line.hpp"

#include "base/text.hpp"
#include "cli/binders.hpp"

#include <filesystem>

namespace postal::experiment {
namespace {

// Split at `at`; the name is not empty. Fails for npos.
base::expected<named_text> parse_pair(std::string_view text, std::size_t at,
                                      std::string_view form) {
    if (at == std::string::npos || at == 0)
        return base::fail("\"{}\" is not {}", base::printable(text, 80), form);
    return {boost::system::in_place_value, std::string(text.substr(0, at)),
            std::string(text.substr(at + 1))};
}

// The value of a variable may hold a "=".
base::expected<named_text> parse_setting(std::string_view text) {
    return parse_pair(text, text.find('='), "NAME=VALUE");
}

}  // namespace

cli::option check_option(shared_options& into, std::string_view it) {
    return {.names = "--check",
            .help = fmt::format("only say whether {} on this machine", it),
            .set = cli::flag(into.check)};
}

cli::option resume_option(shared_options& into, std::string_view it) {
    return {.names = "--resume",
            .help = fmt::format(
                "go on with an {} that was interrupted, after undoing what it left behind", it),
            .set = cli::flag(into.resume)};
}

cli::option set_option(shared_options& into) {
    return {.names = "--set",
            .value = "NAME=VALUE",
            .help = "a value in place of the one in the experiment's [variables]",
            .set = cli::appended(into.set, parse_setting),
            .repeatable = true};
}

cli::option seed_option(shared_options& into, std::string help) {
    return {.names = "--seed",
            .value = "N",
            .fallback = "a random one",
            .help = std::move(help),
            .set = cli::count(into.seed, 0)};
}

cli::option progress_option(shared_options& into) {
    return {.names = "--progress",
            .help = "show the live line also where standard error is no terminal",
            .set = cli::flag(into.progress)};
}

base::expected<named_text> parse_outcome(std::string_view text, std::string_view form) {
    return parse_pair(text, text.rfind('='), form);
}

std::string results_folder(const shared_options& given) {
    if (!given.out.empty()) return given.out;
    return std::filesystem::path(given.experiment).stem().string() + ".results";
}

}  // namespace postal::experiment
