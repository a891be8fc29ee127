// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/figures.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::experiment {
namespace {

constexpr double as_factor = 2;
constexpr double largest_factor = 100;

}  // namespace

std::string factor_text(double ratio) {
    if (ratio > largest_factor) return fmt::format("> {:g}", largest_factor);
    if (ratio < 1 / largest_factor) return fmt::format("< {:g}", 1 / largest_factor);
    return fmt::format("{:.2f}", ratio);
}

std::string percent(double ratio) {
    return fmt::format("{:+.1f} %", (ratio - 1) * 100);
}

bool is_large(double ratio) {
    return ratio >= as_factor || ratio <= 1 / as_factor;
}

std::string how_much(double ratio) {
    return is_large(ratio) ? factor_text(ratio) + " times"
                           : fmt::format("{:.1f} %", (ratio - 1) * 100);
}

std::string bound_text(double share) {
    const double in_percent = share * 100;
    return in_percent < 10 ? fmt::format("{:.2g}", in_percent) : fmt::format("{:.0f}", in_percent);
}

std::string repeated_command(const std::vector<std::string>& argv, std::uint64_t seed) {
    std::string command = base::shell_line(argv);
    const bool is_there = std::any_of(argv.begin(), argv.end(), [](const std::string& word) {
        return word == "--seed" || word.starts_with("--seed=");
    });
    return is_there ? command : command + fmt::format(" --seed {}", seed);
}

std::string in_quotes(const std::string& name) {
    return "\"" + name + "\"";
}

std::optional<double> median(std::vector<double> values) {
    if (values.empty()) return std::nullopt;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace postal::experiment
