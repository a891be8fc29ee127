// SPDX-License-Identifier: GPL-3.0-or-later
// What a server, a resolver or a record may say to harm whoever looks at it, for tests of
// everything that shows text.
#pragma once

#include <string>
#include <string_view>

namespace test {

// A terminal's orders (ESC, the C1 control CSI, a line that is written over), text whose order is
// turned round, octets that are no UTF-8, HTML, Markdown, and a formula of spreadsheets.
inline const std::string hostile_text =
    "=1+1</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&<!--@DATA@|`[a](b)"
    "\x1b[2J\x1b]0;title\x07\rover\n\xc2\x9b"
    "31m\xe2\x80\xaeturned\xe2\x81\xa6 \xff\xc3(\xed\xa0\x80";

// The first of what no terminal, page or spreadsheet may get as it is; empty when there is none.
inline std::string harm_in(std::string_view shown) {
    for (const std::string_view one : {"\x1b", "\x07", "\r", "\xc2\x9b", "\xe2\x80\xae",
                                       "\xe2\x81\xa6", "\xff", "\xc3(", "\xed\xa0\x80"}) {
        if (shown.find(one) != std::string_view::npos) return std::string(one);
    }
    return {};
}

// The same of what a browser reads, or makes of Markdown.
inline std::string harm_in_page(std::string_view shown) {
    for (const std::string_view one : {"<img", "<!--", "alert(1)</script", "<script>alert"}) {
        if (shown.find(one) != std::string_view::npos) return std::string(one);
    }
    return harm_in(shown);
}

}  // namespace test
