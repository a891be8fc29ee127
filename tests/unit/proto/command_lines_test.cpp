// SPDX-License-Identifier: GPL-3.0-or-later
// Command lines whole and in pieces, and what is thrown away of those that are too long.
#include "proto/smtp/command_lines.hpp"

#include "proto/smtp/futile_commands.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal::proto;

TEST_CASE("command_lines: wherever a line is cut, it comes whole, and no more of the input") {
    const std::string text = "NOOP\r\n";
    for (std::size_t cut = 0; cut < text.size(); ++cut) {
        INFO(cut);
        command_lines lines;
        if (cut != 0) {
            const auto first = lines.take(text.substr(0, cut), 6);
            CHECK((first.consumed == cut && first.line.empty() && !first.too_long));
            CHECK(lines.begun());
        }
        const std::string rest = text.substr(cut) + "QUIT\r\n";
        CHECK(lines.begins("noop", rest));
        const auto whole = lines.take(rest, 6);
        CHECK(whole.line == text);
        CHECK(whole.consumed == text.size() - cut);
        CHECK(!lines.begun());
        lines.let_go();
        CHECK(lines.take("QUIT\r\n", 6).line == "QUIT\r\n");
    }
}

TEST_CASE("command_lines: one that is too long is thrown away up to what ends it") {
    struct {
        std::string_view first;
        std::string_view second;
        bool ends_at_lf;
        std::size_t consumed;  // of the second
        bool ended;
        std::string_view reason;
    } const rows[] = {
        {"12345", "67\r\nQUIT", false, 4, true, "CRLF"},
        {"12345\r", "\nQUIT", false, 1, true, "a CRLF in two pieces"},
        {"12345", "6\nQUIT", false, 6, false, "LF alone is none"},
        {"12345", "6\nQUIT", true, 2, true, "but where it is enough"},
    };
    for (const auto& row : rows) {
        INFO(row.reason);
        command_lines lines;
        CHECK(lines.take(row.first, 6).consumed == row.first.size());
        CHECK(lines.take(row.second, 6).too_long);
        lines.throw_away();
        const auto gone = lines.discard(row.second, row.ends_at_lf);
        CHECK(gone.consumed == row.consumed);
        CHECK(gone.ended == row.ended);
        CHECK(!gone.endless);
    }
    command_lines lines;
    lines.throw_away();
    CHECK(!lines.discard(std::string(most_of_a_line, 'x'), false).endless);
    CHECK(lines.discard("x", false).endless);
}

TEST_CASE("futile_commands: a message makes good what came before it") {
    futile_commands said;
    CHECK((!said.error(1) && said.error(1)));
    said.message_came();
    CHECK(!said.error(1));
    CHECK((!said.reset(1) && !said.reset(1)));  // as an MTA says it behind a message
    CHECK((!said.reset(1) && said.reset(1)));
    said.something_refused();
    CHECK((!said.reset(1) && said.idle(1)));
    CHECK(!said.idle(0));  // no limit
    said.trust();
    CHECK(!said.idle(1));
}
