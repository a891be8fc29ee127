// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error_names.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"

namespace postal::base {

namespace {

using rows = std::span<const error_explanation>;

void append_list(std::string& to, std::string_view title, rows all) {
    to += fmt::format("{}:\n", title);
    for (const error_explanation& one : all)
        to += fmt::format("  {:<26} {}\n", one.name, one.counts);
}

void append_row(std::string& to, std::string_view name, std::string_view kind,
                const error_explanation& one) {
    to += fmt::format("{} ({}): {}\n", name, kind, one.counts);
    if (!one.cause.empty()) to += fmt::format("  usually  {}\n", one.cause);
    if (!one.remedy.empty()) to += fmt::format("  try      {}\n", one.remedy);
}

// RFC 5321 4.2.1; empty for what is no code of a refusal.
std::string explain_code(std::string_view name) {
    const bool is_code = name.size() == 3 && std::all_of(name.begin(), name.end(), is_digit);
    if (!is_code || (name[0] != '4' && name[0] != '5')) return {};
    return fmt::format(
        "{} (a reply code): the server refused {}; the words behind it are its own\n", name,
        name[0] == '4' ? "for now" : "for good");
}

std::string all_names() {
    std::string text;
    append_list(text, "Stages, the first word of an error", error_stages());
    append_list(text, "\nReasons, where no server has replied with a code", error_reasons());
    return text;
}

}  // namespace

expected<std::string> explain_error(std::string_view name) {
    if (name.empty()) return {boost::system::in_place_value, all_names()};
    const std::string_view row = name.starts_with("alert_") ? "alert_..." : name;
    std::string text = explain_code(name);
    std::vector<std::string> known;
    for (const error_explanation& one : error_stages()) {
        if (one.name == row) append_row(text, name, "a stage", one);
        known.emplace_back(one.name);
    }
    for (const error_explanation& one : error_reasons()) {
        if (one.name == row) append_row(text, name, "a reason", one);
        known.emplace_back(one.name);
    }
    if (!text.empty()) return {boost::system::in_place_value, std::move(text)};
    // So many names are there that one is near each short word.
    constexpr std::size_t shortest = 4;
    const std::string_view near =
        name.size() < shortest ? std::string_view() : nearest(name, known);
    return fail("\"{}\" is no name of an error; {}", printable(name, 40),
                near.empty() ? std::string("--explain alone lists all")
                             : fmt::format("did you mean {}?", near));
}

}  // namespace postal::base
