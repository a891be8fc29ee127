// SPDX-License-Identifier: GPL-3.0-or-later
// What one subject has to say, put together once and written by any of the printers: as plain text
// and as Markdown here, as a page by postal-report's page.hpp. None of the printers knows a
// subject.
//
// Blocks stand in the order in which text is read. A page has places instead: findings and remarks
// on top, then what stands in large type, charts, and tables. Texts are as their subject has them,
// without markup and, where they are sentences, without their full stop; each printer makes them
// harmless for its own output. Nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/table.hpp"

namespace postal::report {

// What a document is made for: there is more room on a page.
enum class medium : std::uint8_t { text, markdown, page };

// What must not be overlooked, one sentence.
struct remark {
    std::string kind{};  // "bad", "limit" or "note"
    std::string text{};
    bool loud = false;  // nothing else counts
    bool late = false;  // on a page among the tables: what they could not show
};

// The heading of a part; the document has its own.
struct heading {
    std::string text{};
};

// Who ran, when, or what came of it; a page has such lines below its title.
struct statement {
    std::string text{};
};

// One of several.
struct item {
    std::string text{};
};

// Sentences with the result.
struct findings {
    std::string id{};
    std::vector<std::string> sentences{};
    bool counts = true;  // false: what follows says why not
    bool small = false;
};

enum class place : std::uint8_t { open, folded, headline };

struct placed_table {
    table shown;
    place at = place::open;
    std::string summary = {};  // of a folded one; its title and the rows that are shown, if empty
};

// ---- what only a page has ----

struct tile {
    std::string name{};
    std::string value{};
    bool bad = false;
    bool good = false;
};

// A part of a whole, and its colour among eight.
struct part {
    std::string title{};
    std::uint64_t count = 0;
    std::size_t colour = 0;
    bool named = true;  // below the bar
};

// One result in large type with what belongs to it.
struct result_card {
    std::string value{};
    std::string unit{};
    std::string note{};
    std::vector<tile> tiles{};
    std::vector<part> parts{};
};

// Several results, one below the other, each with a bar. Details have a name and a value; one
// without a name is a warning.
struct lane {
    std::string name{};
    std::string value{};
    std::string unit{};
    std::string change{};
    double of_longest = 0;  // 0 to 1
    std::vector<tile> details{};
};
struct lanes {
    std::string title{};
    std::vector<lane> each{};
};

// Events of several, a row for each, with a mark at each one's place. A mark's kind counts from 0
// and has a shape of its own; the page's style sheet has as many as `kinds` may be long.
struct mark {
    double at = 0;  // from 0 to 1
    std::size_t kind = 0;
    std::string text{};  // what it was, where somebody points at it
};
struct marks_row {
    std::string name{};
    std::string counts{};
    std::vector<mark> each{};
};
struct marks {
    static constexpr std::size_t most_kinds = 5;
    std::string id{};
    std::string title{};
    std::string caption{};
    std::vector<std::string> kinds{};
    std::vector<marks_row> rows{};
};

// The place of a chart, that the page's script draws into.
struct chart {
    std::string id{};
    std::string title{};
    std::string caption{};
    double height_rem = 0;  // 0: as the style sheet has it
};

// A text as it stands, shown when the summary is chosen.
struct folded_text {
    std::string summary{};
    std::string text{};
};

using block = std::variant<heading, statement, item, findings, remark, placed_table, result_card,
                           lanes, marks, chart, folded_text>;

// What a page has around its blocks.
struct page_details {
    std::string title{};
    std::vector<std::string> subtitle{};
    std::string kind{};  // a class for the style sheet
    std::string footnote{};
    std::string chart_data = "{}";  // JSON that cannot end a script element
    std::string_view script{};      // draws the charts; without one no chart library is put in
};

struct document {
    std::string title{};  // the heading of Markdown
    std::vector<block> blocks = {};
    page_details page = {};

    void add(block one) { blocks.push_back(std::move(one)); }
    void add_remarks(std::vector<remark> all);
    // Without those that have no rows.
    void add_tables(std::vector<table> all, place at = place::open);
    // The other one as a part of this.
    void append(document part);
};

// Safe to print whatever the texts hold; both end in a line feed. The first one fits a terminal of
// so many columns; elsewhere a sentence is one line, and so is a table's row but for its words.
[[nodiscard]] std::string render_text(const document& of,
                                      std::optional<std::size_t> columns = std::nullopt);
[[nodiscard]] std::string render_markdown(const document& of);

}  // namespace postal::report
