#include "cli/help.hpp"

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace postal::cli {

namespace {

constexpr std::size_t page_width = 100;
constexpr std::size_t widest_name_column = 34;

struct help_row {
    std::string name;
    std::string text;
};

// The length of the word that a text begins with; "[default: 10 s]" counts as one word.
std::size_t first_word(std::string_view text) {
    const bool is_default = text.starts_with("[default: ");
    const std::size_t from = is_default ? std::min(text.find(']'), text.size()) : 0;
    return std::min(text.find(' ', from), text.size());
}

// Appends `text` wrapped between the columns `indent` and page_width; the first line starts at
// column `at`.
void append_wrapped(std::string& out, std::string_view text, std::size_t at, std::size_t indent) {
    while (!text.empty()) {
        const std::size_t end = first_word(text);
        if (at > indent && at + 1 + end > page_width) {
            out += '\n';
            at = 0;
        }
        if (at < indent) {
            out.append(indent - at, ' ');
            at = indent;
        } else if (at > indent) {
            out += ' ';
            ++at;
        }
        out += text.substr(0, end);
        at += end;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
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

void append_rows(std::string& out, const std::vector<help_row>& rows, std::size_t name_column) {
    for (const auto& row : rows) {
        out += "  " + row.name;
        std::size_t at = 2 + row.name.size();
        if (at + 2 > name_column) {
            out += '\n';
            at = 0;
        }
        append_wrapped(out, row.text, at, name_column);
    }
}

// The column at which the explanations start: past the names, unless a few very long ones would
// push it too far.
std::size_t name_column_of(const std::vector<group>& groups) {
    std::size_t column = 0;
    for (const auto& one : groups) {
        for (const auto& row : one.options) {
            const std::size_t width = 2 + to_help_row(row).name.size() + 2;
            if (width <= widest_name_column) column = std::max(column, width);
        }
    }
    return column;
}

void append_notes(std::string& out, std::string_view notes) {
    if (notes.empty()) return;
    out += '\n';
    out += notes;
    if (!notes.ends_with('\n')) out += '\n';
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

std::string help_text(const program& description) {
    const auto groups = all_groups(description);
    const std::size_t name_column = name_column_of(groups);

    std::string out = "Usage: " + usage_line(description) + '\n';
    append_wrapped(out, description.summary, 0, 0);
    if (!description.positionals.empty()) {
        std::vector<help_row> rows;
        for (const auto& one : description.positionals)
            rows.push_back({one.name, one.help});
        out += '\n';
        append_rows(out, rows, name_column);
    }
    for (const auto& one : groups) {
        std::vector<help_row> rows;
        for (const auto& row : one.options)
            rows.push_back(to_help_row(row));
        out += '\n' + one.title + ":\n";
        append_rows(out, rows, name_column);
    }
    append_notes(out, description.notes);
    return out;
}

std::string version_text(const program& description) {
    std::string text = fmt::format("{} {}\n", description.name, base::build_version);
    if (!description.tls.empty()) text += fmt::format("TLS: {}\n", description.tls);
    if (!description.mpi.empty()) text += fmt::format("MPI: {}\n", description.mpi);
    return text;
}

}  // namespace postal::cli
