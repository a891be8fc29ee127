#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/text.hpp"

namespace postal::report {

namespace {

constexpr std::size_t longest_text_cell = 120;
constexpr std::size_t most_narrow_columns = 3;  // that a telephone has room for
constexpr std::size_t longest_cell = 2000;

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string pad(const std::string& text, std::size_t width, align side) {
    const std::string blanks(width - std::min(width, width_of(text)), ' ');
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

std::string render_text(const table& shown) {
    std::vector<std::vector<std::string>> lines(1);
    for (const column& one : shown.columns) {
        lines[0].push_back(base::printable(one.title, longest_text_cell));
    }
    for (const auto& row : shown.rows) {
        auto& line = lines.emplace_back();
        for (const std::string& cell : row) {
            line.push_back(base::printable(cell, longest_text_cell));
        }
    }
    std::vector<std::size_t> widths(shown.columns.size(), 0);
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(line[i]));
        }
    }
    // A header without any text would only be an empty line.
    const bool headed = std::any_of(lines[0].begin(), lines[0].end(),
                                    [](const std::string& title) { return !title.empty(); });
    std::string out = shown.title.empty() ? "" : base::printable(shown.title, 200) + "\n";
    for (std::size_t at = headed ? 0 : 1; at < lines.size(); ++at) {
        std::string line = " ";
        for (std::size_t i = 0; i < lines[at].size(); ++i) {
            line += (i == 0 ? " " : "  ") + pad(lines[at][i], widths[i], shown.columns[i].side);
        }
        out += without_trailing_blanks(line) + "\n";
    }
    if (!shown.note.empty()) out += "  (" + base::printable(shown.note, 400) + ")\n";
    return out;
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
    const auto cell = [](std::string_view tag, std::string_view more, const column& where,
                         const std::string& text) {
        return fmt::format("<{0}{1}{2}>{3}</{0}>", tag, more,
                           where.side == align::right ? " class=\"n\"" : "", escape_html(text));
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
