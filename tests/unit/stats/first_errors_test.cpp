// SPDX-License-Identifier: GPL-3.0-or-later
// The first error of each kind: told once, bounded, and safe to show.
#include "stats/first_errors.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace postal::stats;

TEST_CASE("first errors: a kind is stage, code and detail, whatever the text") {
    first_errors known;
    CHECK(known.add({"rcpt", 550, "5.1.1", 1, "no such user"}));
    CHECK_FALSE(known.add({"rcpt", 550, "5.1.1", 9, "another text"}));
    CHECK(known.add({"rcpt", 550, "5.1.2", 1, ""}));
    CHECK(known.add({"rcpt", 450, "5.1.1", 1, ""}));
    CHECK(known.add({"mail", 550, "5.1.1", 1, ""}));
    CHECK_FALSE(known.add({"mail", 550, "5.1.1", 1, ""}));
}

TEST_CASE("first errors: after so many kinds nothing is a first one any more") {
    first_errors known;
    for (int code = 0; code < static_cast<int>(first_errors::most); ++code)
        CHECK(known.add({"rcpt", 500 + code, "", 1, ""}));
    CHECK_FALSE(known.add({"rcpt", 499, "", 1, ""}));
}

TEST_CASE("first errors: what people are shown") {
    struct row {
        first_error error;
        std::string shown;
    };
    const std::vector<row> rows{
        {{{"connect", 0, "refused", 1, "[::1]:25"}, "[::1]:25"}, "connect refused at [::1]:25"},
        {{{"rcpt", 550, "5.1.1", 1, "no such user"}, "mx:25"},
         "rcpt 550 5.1.1 at mx:25: no such user"},
        {{{"check", 0, "corrupt", 1, "a dot is lost"}, ""}, "check corrupt: a dot is lost"},
        {{{"connect", 421, "4.3.2", 1, "too many"}, ""}, "connect 421 4.3.2: too many"},
        {{{"e\nnd", 0, "\x1b[2J", 1, "\r"}, "\x07"}, "e\\nnd \\x1b[2J at \\x07: \\r"},
    };
    for (const row& each : rows)
        CHECK(describe_first(each.error) == each.shown);
    const first_error long_one{{"end", 500, std::string(900, 'd'), 1, std::string(900, 's')},
                               std::string(900, 'p')};
    CHECK(describe_first(long_one).size() < 600);
}

TEST_CASE("error table: the listener hears of each new kind once in a table, and again after it") {
    error_table table;
    std::vector<std::string> heard;
    table.on_new_kind([&](const error_entry& what, std::string_view peer) {
        heard.push_back(describe_first({what, std::string(peer)}));
        CHECK(what.count == 1);
    });
    table.add("rcpt", 550, "", "no such user", "mx:25");
    table.add("rcpt", 550, "", "no such user", "other:25");
    CHECK(heard == std::vector<std::string>{"rcpt 550 at mx:25: no such user"});
    error_table elsewhere;
    elsewhere.add("mail", 451, "", "later", "mx:25");
    table.merge(elsewhere);
    CHECK(heard.size() == 1);
    table.clear();
    table.add("rcpt", 550, "", "no such user", "other:25");
    CHECK(heard.back() == "rcpt 550 at other:25: no such user");
}
