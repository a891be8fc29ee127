// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/help.hpp"

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/rows.hpp"
#include "os/terminal_size.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace postal::cli {

namespace {

constexpr std::size_t narrowest_page = 40;
constexpr std::size_t usual_page = 80;
constexpr std::size_t widest_page = 100;

struct help_row {
    std::string name;
    std::string text;
};

// As much of a sentence as fits, up to where it could have ended.
std::string_view first_clause(std::string_view text, std::size_t room) {
    if (text.size() <= room) return text;
    std::size_t end = 0;
    for (const std::string_view mark : {"; ", " (", ": "})
        if (const std::size_t at = text.rfind(mark, room); at != text.npos) end = std::max(end, at);
    return end == 0 ? text : text.substr(0, end);
}

// A page and its column of explanations.
struct layout {
    std::size_t width;
    std::size_t column;
};

void append_paragraph(std::string& out, std::string_view text, std::size_t width) {
    base::append_wrapped(out, text, 0, 0, width);
    out += '\n';
}

help_row to_help_row(const option& row) {
    const auto names = base::split(row.names, ',');
    help_row result;
    // Rows that have only a long name are indented so that the long names stand below each other.
    if (names.front().starts_with("--")) result.name = "    ";
    for (const auto& name : names) {
        if (&name != &names.front()) result.name += ", ";
        result.name += name;
    }
    if (!is_flag(row)) result.name += ' ' + row.value;
    result.text = row.help;
    if (row.repeatable) result.text += "; may be given more than once";
    if (!row.fallback.empty()) result.text += fmt::format(" [default: {}]", row.fallback);
    return result;
}

void append_rows(std::string& out, const std::vector<help_row>& rows, const layout& page) {
    for (const auto& row : rows) {
        out += "  " + row.name;
        std::size_t at = 2 + row.name.size();
        if (at + 2 > page.column) {
            out += '\n';
            at = 0;
        }
        out.append(page.column - at, ' ');
        base::append_wrapped(out, row.text, page.column, page.column, page.width);
        out += '\n';
    }
}

// Explanations start past the names, unless a few very long ones would push them too far.
layout layout_of(const std::vector<group>& groups, std::size_t width) {
    layout page{width, 0};
    for (const auto& one : groups) {
        for (const auto& row : one.options) {
            const std::size_t wanted = 2 + to_help_row(row).name.size() + 2;
            if (wanted <= width / 3 + 1) page.column = std::max(page.column, wanted);
        }
    }
    return page;
}

void append_beginning(std::string& out, const program& description, const layout& page,
                      bool whole = true) {
    append_paragraph(out, "Usage: " + usage_line(description), page.width);
    append_paragraph(out, description.summary, page.width);
    if (description.positionals.empty()) return;
    std::vector<help_row> rows;
    for (const auto& one : description.positionals)
        rows.push_back(
            {one.name,
             std::string(whole ? one.help : first_clause(one.help, page.width - page.column))});
    out += '\n';
    append_rows(out, rows, page);
}

void append_group(std::string& out, const group& one, const layout& page) {
    std::vector<help_row> rows;
    for (const auto& row : one.options)
        rows.push_back(to_help_row(row));
    out += '\n' + one.title + ":\n";
    append_rows(out, rows, page);
}

// A name that no option has is a mistake in the program's own rows.
const option& option_of(const std::vector<group>& groups, std::string_view name) {
    for (const group& one : groups)
        for (const option& row : one.options)
            if (long_name(row) == name) return row;
    throw std::logic_error("no option " + std::string(name));
}

// Lines that are indented are examples, and stay as they are.
void append_notes(std::string& out, std::string_view notes, std::size_t width) {
    if (notes.empty()) return;
    out += '\n';
    if (notes.ends_with('\n')) notes.remove_suffix(1);
    for (const std::string_view line : base::split(notes, '\n')) {
        if (line.starts_with(' ') || line.empty()) {
            out.append(line) += '\n';
        } else {
            append_paragraph(out, line, width);
        }
    }
}

}  // namespace

std::string usage_line(const program& description) {
    std::string line = description.name + " [OPTION]...";
    for (const auto& one : description.positionals) {
        line += ' ' + (one.required ? one.name : '[' + one.name + ']');
        if (one.repeatable) line += "...";
    }
    return line;
}

std::size_t page_width() {
    const auto asked = os::asked_columns();
    const auto columns = asked ? asked : os::terminal_columns(STDOUT_FILENO);
    return std::clamp(columns.value_or(usual_page), narrowest_page, widest_page);
}

std::string help_text(const program& description, std::size_t width, std::string_view word) {
    const auto groups = all_groups(description);
    const layout page = layout_of(groups, width);
    const bool all = word == "all";
    std::string out;
    if (all) append_beginning(out, description, page);
    for (const group& one : groups)
        if (all || word_of(one) == word) append_group(out, one, page);
    if (all) append_notes(out, description.notes, width);
    if (!all) out.erase(0, 1);  // the empty line before the group
    return out;
}

std::string short_help_text(const program& description, std::size_t width) {
    if (description.usual.empty()) return help_text(description, width);
    const auto groups = all_groups(description);
    group shown{"Most runs need", {}};
    for (const std::string_view name : description.usual)
        shown.options.push_back(option_of(groups, name));
    const layout page = layout_of({shown}, width);
    for (option& row : shown.options) {
        row.help = first_clause(row.help, width - page.column);
        row.fallback.clear();
        row.repeatable = false;
    }
    std::string out;
    append_beginning(out, description, page, false);
    append_group(out, shown, page);
    auto words = help_words(description);
    words.erase(words.begin());  // "all"
    out += '\n';
    append_paragraph(
        out,
        fmt::format("All options: --help; of one group: --help with {}. Explained: man {}.",
                    base::join(words, ", "), description.name),
        width);
    return out;
}

std::string version_text(const program& description) {
    std::string text = fmt::format("{} {}\n", description.name, base::build_version);
    if (!description.tls.empty()) text += fmt::format("TLS: {}\n", description.tls);
    if (!description.mpi.empty()) text += fmt::format("MPI: {}\n", description.mpi);
    return text;
}

}  // namespace postal::cli
