// SPDX-License-Identifier: GPL-3.0-or-later
// A table of texts, and how it looks as plain text, as Markdown and as HTML.
//
// Cells hold what a record said, unchanged; each renderer makes them harmless for its own output:
// control characters and bidirectional overrides are written as \xNN everywhere, Markdown's and
// HTML's own characters are escaped. Columns are counted in code points, one cell each, which is
// right for what a report contains apart from East Asian text.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::report {

enum class align { left, right };

struct column {
    std::string title;
    align side = align::left;
};

// Columns of numbers.
std::vector<column> numbers(std::initializer_list<const char*> titles);

struct table {
    std::string name;   // a word that stays the same, for the page's links and styles
    std::string title;  // for people
    std::vector<column> columns;
    std::vector<std::vector<std::string>> rows;  // each as long as columns
    std::string note = {};                       // one sentence under the table
    std::string bad_cell = {};  // cells with this text are red where there is colour
};

// Words of plain text are broken so that it is not wider.
inline constexpr std::size_t widest_text = 80;

// For a terminal of so many columns: one that is less wide than the table gets the columns that it
// has no room for below the others. Elsewhere a row is whole.
std::string render_text(const table& shown, std::optional<std::size_t> columns = std::nullopt);
std::string render_markdown(const table& shown);
std::string render_html(const table& shown);

// For text between tags and in quoted attributes.
std::string escape_html(std::string_view text);

// For text anywhere in a Markdown document, including the cells of a table.
std::string escape_markdown(std::string_view text);

}  // namespace postal::report
