// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/crlf_to_lf.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal;

TEST_CASE("CRLF to LF: split at every offset") {
    struct row {
        std::string text, wanted, reason;
    };
    const row rows[] = {
        {"a\r\nb\r\n", "a\nb\n", "two lines"},
        {"a\rb", "a\rb", "a CR alone"},
        {"a\nb", "a\nb", "an LF alone"},
        {"a\r\r\nb", "a\r\nb", "the last CR belongs to the LF"},
        {"\r\n", "\n", "an empty line"},
        {"a\r", "a\r", "a CR at the end"},
        {"", "", "nothing"},
    };
    for (const row& one : rows) {
        for (std::size_t split = 0; split <= one.text.size(); ++split) {
            CAPTURE(one.reason, split);
            std::string out;
            const auto put = [&out](std::string_view piece) { out += piece; };
            mail::crlf_to_lf lines;
            lines.feed(std::string_view(one.text).substr(0, split), put);
            lines.feed(std::string_view(one.text).substr(split), put);
            lines.finish(put);
            CHECK(out == one.wanted);
        }
    }
}
