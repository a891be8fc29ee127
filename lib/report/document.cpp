// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/document.hpp"

#include <iterator>
#include <utility>

#include "base/text.hpp"

namespace postal::report {

namespace {

constexpr std::size_t longest_line = 400;

std::string line(const std::string& text) {
    return base::printable(text, longest_line);
}

struct text_printer {
    std::optional<std::size_t> columns;
    std::string out{};

    // In Markdown only, but for the room before a part.
    void operator()(const heading&) { out += "\n"; }
    void operator()(const statement& one) { out += line(one.text) + "\n"; }
    void operator()(const item& one) { out += line(one.text) + "\n"; }
    void operator()(const findings& one) {
        for (const std::string& sentence : one.sentences)
            out += line(sentence) + ".\n";
    }
    void operator()(const remark& one) { out += "! " + line(one.text) + ".\n"; }
    void operator()(const placed_table& one) { out += "\n" + render_text(one.shown, columns); }
    void operator()(const auto& /* of pages only */) {}
};

struct markdown_printer {
    std::string out;
    bool listing = true;  // nothing stands between the heading, or an item, and the next item

    // A paragraph, with an empty line before it unless it follows a heading.
    void paragraph(const std::string& text) {
        if (!out.ends_with("\n\n")) out += "\n";
        out += text + "\n";
        listing = false;
    }
    void list(const std::string& text) {
        if (!std::exchange(listing, true)) out += "\n";
        out += "- " + text + "\n";
    }
    void title(std::string_view level, const std::string& text) {
        out += std::string(level) + " " + escape_markdown(text) + "\n\n";
        listing = true;
    }

    void operator()(const heading& one) {
        out += "\n";
        title("##", one.text);
    }
    void operator()(const statement& one) { paragraph(escape_markdown(one.text)); }
    void operator()(const item& one) { list(escape_markdown(one.text)); }
    void operator()(const findings& one) {
        for (const std::string& sentence : one.sentences)
            list("**" + escape_markdown(sentence) + ".**");
    }
    void operator()(const remark& one) { paragraph("> **" + escape_markdown(one.text) + ".**"); }
    void operator()(const placed_table& one) {
        out += "\n" + render_markdown(one.shown);
        listing = false;
    }
    void operator()(const auto& /* of pages only */) {}
};

}  // namespace

void document::add_remarks(std::vector<remark> all) {
    blocks.insert(blocks.end(), std::move_iterator(all.begin()), std::move_iterator(all.end()));
}

void document::add_tables(std::vector<table> all, place at) {
    for (table& one : all)
        if (!one.rows.empty()) add(placed_table{std::move(one), at});
}

void document::append(document part) {
    add(heading{std::move(part.title)});
    blocks.insert(blocks.end(), std::move_iterator(part.blocks.begin()),
                  std::move_iterator(part.blocks.end()));
}

std::string render_text(const document& of, std::optional<std::size_t> columns) {
    text_printer printer{columns};
    for (const block& one : of.blocks)
        std::visit(printer, one);
    return columns ? base::wrapped(printer.out, *columns) : std::move(printer.out);
}

std::string render_markdown(const document& of) {
    markdown_printer printer;
    printer.title("#", of.title);
    for (const block& one : of.blocks)
        std::visit(printer, one);
    return std::move(printer.out);
}

}  // namespace postal::report
