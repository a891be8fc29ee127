// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "base/text.hpp"

namespace postal::report {

namespace {

constexpr std::size_t least_text = 24;  // columns for words that are broken
constexpr std::size_t longest_text_cell = 120;
constexpr std::size_t longest_text = 400;       // in the last column
constexpr std::size_t most_narrow_columns = 3;  // that a telephone has room for
constexpr std::size_t longest_cell = 2000;

std::string pad(const std::string& text, std::size_t width, align side) {
    const std::string blanks(width - std::min(width, base::columns_of(text)), ' ');
    return side == align::left ? text + blanks : blanks + text;
}

std::string without_trailing_blanks(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

}  // namespace

std::vector<column> numbers(std::initializer_list<const char*> titles) {
    std::vector<column> columns;
    for (const char* title : titles)
        columns.push_back({title, align::right});
    return columns;
}

namespace {

using cell_lines = std::vector<std::string>;

cell_lines lines_of(const std::string& cell, std::size_t width) {
    const std::string broken = base::wrapped(cell, width);
    cell_lines lines;
    for (const std::string_view line : base::split(broken, '\n'))
        lines.emplace_back(base::trim(line));
    return lines;
}

// How a table stands on a page of so many columns: titles of two words on two lines and the last
// column's text on several, if it has to be. What still has no room comes below the rest, behind
// the first column once more.
class text_layout {
  public:
    text_layout(const table& of, std::size_t page, std::size_t room)
        : shown_(of), page_(page), room_(room) {
        for (const column& one : of.columns)
            titles_.push_back({base::printable(one.title, longest_text_cell)});
        for (const auto& row : of.rows) {
            auto& made = rows_.emplace_back();
            for (std::size_t i = 0; i < row.size(); ++i)
                made.push_back(
                    {base::printable(row[i], is_text(i) ? longest_text : longest_text_cell)});
        }
        if (width() > page_) split_titles();
        if (width() > page_) break_text();
        for (std::size_t i = 0; i < titles_.size(); ++i)
            widths_.push_back(width_of(i));
    }

    [[nodiscard]] std::string printed() const {
        std::string out = shown_.title.empty() ? "" : base::printable(shown_.title, 200) + "\n";
        for (std::size_t from = 1; const std::size_t to : ends_of_parts()) {
            append_part(out, from, to);
            from = to;
        }
        if (!shown_.note.empty())
            out += base::wrapped("  (" + base::printable(shown_.note, 400) + ")", page_) + "\n";
        return out;
    }

  private:
    // Of a cell that has fewer lines than others of its row.
    enum class stands : std::uint8_t { on_top, at_the_bottom };

    // The last column is one of words.
    [[nodiscard]] bool is_text(std::size_t column) const {
        return column + 1 == shown_.columns.size() && shown_.columns[column].side == align::left;
    }

    [[nodiscard]] std::size_t width_of(std::size_t column) const {
        std::size_t widest = 0;
        const auto look = [&](const cell_lines& cell) {
            for (const std::string& line : cell)
                widest = std::max(widest, base::columns_of(line));
        };
        look(titles_[column]);
        for (const auto& row : rows_)
            if (column < row.size()) look(row[column]);
        return widest;
    }

    [[nodiscard]] std::size_t width() const {
        std::size_t sum = 0;
        for (std::size_t i = 0; i < titles_.size(); ++i)
            sum += 2 + width_of(i);
        return sum;
    }

    void split_titles() {
        for (cell_lines& title : titles_) {
            const std::string whole = title.front();
            if (const std::size_t blank = whole.find(' ', whole.size() / 3); blank != whole.npos)
                title = {whole.substr(0, blank), whole.substr(blank + 1)};
        }
    }

    void break_text() {
        if (titles_.empty() || !is_text(titles_.size() - 1)) return;
        const std::size_t others = width() - width_of(titles_.size() - 1);
        const std::size_t room = std::max(least_text, page_ - std::min(others, page_));
        for (auto& row : rows_)
            if (row.size() == titles_.size()) row.back() = lines_of(row.back().front(), room);
    }

    // Behind the last column of each part that the page has room for; the first column is in all of
    // them.
    [[nodiscard]] std::vector<std::size_t> ends_of_parts() const {
        std::vector<std::size_t> ends;
        const std::size_t first = widths_.empty() ? 0 : 2 + widths_.front();
        std::size_t taken = first;
        for (std::size_t i = 1; i < widths_.size(); ++i) {
            if (taken > first && taken + 2 + widths_[i] > room_) {
                ends.push_back(i);
                taken = first;
            }
            taken += 2 + widths_[i];
        }
        ends.push_back(widths_.size());
        return ends;
    }

    void append_part(std::string& out, std::size_t from, std::size_t to) const {
        // A header without any text would only be an empty line.
        if (std::any_of(titles_.begin(), titles_.end(),
                        [](const cell_lines& title) { return title != cell_lines{""}; }))
            append(out, titles_, from, to, stands::at_the_bottom);
        for (const auto& row : rows_)
            append(out, row, from, to, stands::on_top);
    }

    // The first cell of a row, and those from one column to before another.
    void append(std::string& out, const std::vector<cell_lines>& row, std::size_t from,
                std::size_t to, stands where) const {
        std::vector<std::size_t> shown;
        for (std::size_t i = 0; i < std::min(to, row.size()); ++i)
            if (i == 0 || i >= from) shown.push_back(i);
        std::size_t height = 0;
        for (const std::size_t i : shown)
            height = std::max(height, row[i].size());
        for (std::size_t at = 0; at < height; ++at) {
            std::string line;
            for (const std::size_t i : shown) {
                const std::size_t above = where == stands::on_top ? 0 : height - row[i].size();
                const bool there = at >= above && at - above < row[i].size();
                line +=
                    "  " + pad(there ? row[i][at - above] : "", widths_[i], shown_.columns[i].side);
            }
            out += without_trailing_blanks(line) + "\n";
        }
    }

    const table& shown_;
    std::size_t page_;  // columns, which words are broken for
    std::size_t room_;  // columns, beyond which a part ends
    std::vector<cell_lines> titles_{};
    std::vector<std::vector<cell_lines>> rows_{};
    std::vector<std::size_t> widths_{};
};

}  // namespace

std::string render_text(const table& shown, std::optional<std::size_t> columns) {
    const std::size_t room = columns.value_or(std::numeric_limits<std::size_t>::max());
    return text_layout(shown, std::min(room, widest_text), room).printed();
}

std::string render_markdown(const table& shown) {
    std::string out;
    if (!shown.title.empty()) out += "## " + escape_markdown(shown.title) + "\n\n";
    std::string rule = "|";
    out += "|";
    for (const column& one : shown.columns) {
        out += " " + escape_markdown(one.title) + " |";
        rule += one.side == align::right ? " ---: |" : " --- |";
    }
    out += "\n" + rule + "\n";
    for (const auto& row : shown.rows) {
        out += "|";
        for (const std::string& cell : row)
            out += " " + escape_markdown(cell) + " |";
        out += "\n";
    }
    if (!shown.note.empty()) out += "\n" + escape_markdown(shown.note) + ".\n";
    return out;
}

std::string render_html(const table& shown) {
    const auto cell = [&](std::string_view tag, std::string_view more, const column& where,
                          const std::string& text) {
        const bool bad = !text.empty() && text == shown.bad_cell;
        const std::string_view kind = bad                          ? " class=\"bad\""
                                      : where.side == align::right ? " class=\"n\""
                                                                   : "";
        return fmt::format("<{0}{1}{2}>{3}</{0}>", tag, more, kind, escape_html(text));
    };
    // On a narrow screen each row of such a table is a block, in which a cell names its column.
    const bool stacks = shown.columns.size() > most_narrow_columns;
    std::vector<std::string> names;
    for (const column& one : shown.columns)
        names.push_back(stacks ? " data-column=\"" + escape_html(one.title) + "\"" : "");
    std::string out = fmt::format("<section class=\"card\" id=\"{}\">\n<h2>{}</h2>\n",
                                  escape_html(shown.name), escape_html(shown.title));
    out += stacks ? "<div class=\"scroll\"><table class=\"stacks\">\n<thead><tr>"
                  : "<div class=\"scroll\"><table>\n<thead><tr>";
    for (const column& one : shown.columns)
        out += cell("th", " scope=\"col\"", one, one.title);
    out += "</tr></thead>\n<tbody>\n";
    for (const auto& row : shown.rows) {
        out += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i) {
            out += cell(i == 0 ? "th" : "td", (i == 0 ? " scope=\"row\"" : "") + names[i],
                        shown.columns[i], row[i]);
        }
        out += "</tr>\n";
    }
    out += "</tbody></table></div>\n";
    if (!shown.note.empty()) out += "<p class=\"note\">" + escape_html(shown.note) + ".</p>\n";
    return out + "</section>\n";
}

std::string escape_html(std::string_view text) {
    static constexpr std::pair<char, std::string_view> entities[]{
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    std::string out;
    for (const char c : base::printable(text, longest_cell)) {
        const auto* const found = std::find_if(std::begin(entities), std::end(entities),
                                               [&](const auto& one) { return one.first == c; });
        out += found == std::end(entities) ? std::string_view(&c, 1) : found->second;
    }
    return out;
}

std::string escape_markdown(std::string_view text) {
    std::string out;
    for (const char c : base::printable(text, longest_cell)) {
        // Raw HTML and links first of all: Markdown lets both through.
        if (c == '<') {
            out += "&lt;";
        } else if (c == '&') {
            out += "&amp;";
        } else {
            if (std::string_view{"\\`*_[]|#~>!"}.find(c) != std::string_view::npos) out += '\\';
            out += c;
        }
    }
    return out;
}

}  // namespace postal::report
