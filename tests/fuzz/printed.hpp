// SPDX-License-Identifier: GPL-3.0-or-later
// Whether what is printed of hostile figures is what it is meant to be: a page without elements
// that are not ours, text that cannot forge what a terminal shows, Markdown without HTML, CSV and
// JSON that others can read.
#pragma once

#include "postal-report/page.hpp"
#include "support.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <vector>

namespace fuzz {

using postal::report::document;
using postal::report::medium;
using postal::report::sheet;

// Reads a page as a browser would, and knows no element and no attribute but ours.
class page_reader {
  public:
    explicit page_reader(std::string_view page) : left_(page) {}

    void read() {
        constexpr std::string_view kind = "<!doctype html>\n";
        require(left_.starts_with(kind));
        left_.remove_prefix(kind.size());
        while (!left_.empty()) {
            const std::string_view text = take_until('<');
            require(text.find('>') == text.npos);
            if (!left_.empty()) element();
        }
        require(open_.empty() && scripts_ == 3);
    }

  private:
    static constexpr std::array elements_{
        "html",   "head",     "meta",    "link",   "title",   "style",     "body",
        "header", "h1",       "h2",      "p",      "br",      "main",      "div",
        "span",   "noscript", "a",       "b",      "i",       "small",     "strong",
        "ul",     "li",       "dl",      "dt",     "dd",      "table",     "thead",
        "tbody",  "tr",       "th",      "td",     "pre",     "footer",    "figure",
        "canvas", "details",  "summary", "script", "section", "figcaption"};
    static constexpr std::array attributes_{
        "lang",  "charset", "name",        "content",     "http-equiv", "rel",
        "href",  "class",   "id",          "title",       "style",      "role",
        "scope", "type",    "aria-hidden", "data-column", "aria-label", "aria-describedby",
        "nonce", "download"};
    static constexpr std::array empty_{"meta", "link", "br"};

    static bool knows(const auto& names, std::string_view name) {
        return std::find(std::begin(names), std::end(names), name) != std::end(names);
    }
    std::string_view take_until(char end) {
        const std::string_view taken = left_.substr(0, left_.find(end));
        left_.remove_prefix(taken.size());
        return taken;
    }
    void take(char wanted) {
        require(left_.starts_with(wanted));
        left_.remove_prefix(1);
    }
    std::string_view take_name() {
        const std::string_view name =
            left_.substr(0, left_.find_first_not_of("abcdefghijklmnopqrstuvwxyz-0123456789"));
        left_.remove_prefix(name.size());
        return name;
    }

    void element() {
        take('<');
        if (left_.starts_with('/')) {
            take('/');
            require(!open_.empty() && take_name() == open_.back());
            open_.pop_back();
            return take('>');
        }
        const std::string_view name = take_name();
        require(knows(elements_, name));
        bool is_data = false;
        while (left_.starts_with(' '))
            is_data = attribute() || is_data;
        take('>');
        if (name == "script" || name == "style") {
            scripts_ += name == "script" ? 1 : 0;
            return raw(name, is_data);
        }
        if (!knows(empty_, name)) open_.push_back(name);
    }

    // Whether it says that a script is data.
    bool attribute() {
        take(' ');
        const std::string_view name = take_name();
        require(knows(attributes_, name));
        take('=');
        take('"');
        const std::string_view value = take_until('"');
        take('"');
        require(value.find_first_of("<>") == value.npos || name == "content");
        require(name != "href" || value.starts_with("data:"));
        return name == "type" && value == "application/json";
    }

    void raw(std::string_view name, bool is_data) {
        const std::string end = "</" + std::string(name) + ">";
        const std::size_t size = left_.find(end);
        require(size != left_.npos);
        if (is_data) require(nlohmann::json::accept(left_.substr(0, size)));
        left_.remove_prefix(size + end.size());
    }

    std::string_view left_;
    std::vector<std::string_view> open_{};
    int scripts_ = 0;
};

inline void require_page(const std::string& page) {
    require(postal::base::is_valid_utf8(page));
    page_reader(page).read();
}

inline void require_lines(std::string_view text) {
    require(text.empty() || text.ends_with('\n'));
    for (const std::string_view line : postal::base::split(text, '\n'))
        if (!line.empty()) require_harmless(line);
}

// How many cells a line of a Markdown table has.
inline std::size_t cells_of(std::string_view line) {
    std::size_t cells = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] == '\\')
            ++at;
        else
            cells += line[at] == '|' ? 1 : 0;
    }
    return cells;
}

inline void require_markdown(std::string_view text) {
    require_lines(text);
    require(text.find('<') == text.npos);
    std::size_t columns = 0;
    for (const std::string_view line : postal::base::split(text, '\n')) {
        const std::size_t cells = line.starts_with('|') ? cells_of(line) : 0;
        require(cells == 0 || columns == 0 || cells == columns);
        columns = cells;
    }
}

inline bool is_decimal(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text.find_first_not_of("0123456789.") == text.npos;
}

// RFC 4180; the fields of each line.
inline std::vector<std::size_t> widths_of_csv(std::string_view text) {
    std::vector<std::size_t> widths;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t fields = 0;
        for (bool more = true; more; ++fields) {
            const bool quoted = text[at] == '"';
            std::string field;
            for (at += quoted ? 1 : 0; at < text.size(); ++at) {
                if (quoted && text[at] == '"' && text.substr(at + 1).starts_with('"'))
                    ++at;
                else if (quoted ? text[at] == '"' : text[at] == ',' || text[at] == '\n')
                    break;
                field += text[at];
            }
            at += quoted ? 1 : 0;
            require(at < text.size() && (text[at] == ',' || text[at] == '\n'));
            require(field.empty() ||
                    std::string_view("=+-@").find(field[0]) == std::string_view::npos ||
                    is_decimal(field));
            more = text[at++] == ',';
        }
        widths.push_back(fields);
    }
    return widths;
}

inline void require_sheet(const sheet& of) {
    const std::string csv = postal::report::render_csv(of);
    require_lines(csv);
    for (const std::size_t width : widths_of_csv(csv))
        require(width == of.columns.size());
    require(nlohmann::json::accept(postal::report::render_json(of)));
}

// What postal-report does with a subject, by every printer.
inline void require_printable(const std::function<document(medium)>& made, const sheet& figures) {
    using namespace postal::report;
    require_lines(render_text(made(medium::text), 80));
    require_lines(render_text(made(medium::text)));
    require_markdown(render_markdown(made(medium::markdown)));
    require_sheet(figures);
    require_page(render_page(made(medium::page), {"", "n", figures}));
}

}  // namespace fuzz
