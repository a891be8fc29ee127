// SPDX-License-Identifier: GPL-3.0-or-later
#include "sampling/printed_numbers.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>

namespace postal::sampling {

namespace {

constexpr std::size_t longest_name = 64;
constexpr std::size_t longest_shown = 80;
constexpr double most = 1e15;

bool is_name(std::string_view text) {
    return !text.empty() && !base::is_digit(text.front()) && text.size() <= longest_name &&
           base::is_valid_utf8(text) && std::none_of(text.begin(), text.end(), [](char c) {
               return static_cast<unsigned char>(c) < ' ' || c == 127;
           });
}

base::expected<stats::sampled_value> read_line(std::string_view line, std::string_view name) {
    const std::size_t blank = line.find_last_of(" \t");
    const std::string_view digits = blank == line.npos ? line : line.substr(blank + 1);
    const std::string_view own =
        blank == line.npos ? line.substr(0, 0) : base::trim(line.substr(0, blank));
    const auto value = base::parse_number(digits);
    if (!value || *value >= most || (blank != line.npos && !is_name(own)))
        return base::fail("it printed \"{}\", which is no number, and no name and number",
                          base::printable(line, longest_shown));
    stats::sampled_value made{.name = std::string(name), .value = *value};
    if (!own.empty()) made.name += fmt::format(" {}", own);
    return made;
}

}  // namespace

base::expected<std::vector<stats::sampled_value>> read_numbers(std::string_view output,
                                                               std::string_view name) {
    std::vector<stats::sampled_value> made;
    for (const std::string_view raw : base::split(output, '\n')) {
        const std::string_view line = base::trim(raw);
        if (line.empty()) continue;
        auto one = read_line(line, name);
        if (!one) return one.error();
        if (made.size() == stats::sample_history::most_figures)
            return base::fail("it printed more than {} figures",
                              stats::sample_history::most_figures);
        const bool twice = std::any_of(made.begin(), made.end(),
                                       [&](const auto& other) { return other.name == one->name; });
        if (twice)
            return base::fail("it printed \"{}\" twice", base::printable(one->name, longest_shown));
        made.push_back(std::move(*one));
    }
    if (made.empty()) return base::fail("it printed nothing");
    return made;
}

}  // namespace postal::sampling
