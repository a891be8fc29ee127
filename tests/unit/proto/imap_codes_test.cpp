// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/imap/codes.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace postal::proto;

TEST_CASE("imap_codes: a response text is taken apart") {
    struct row {
        std::string_view line;
        imap_code code;
        std::uint64_t number;
        std::string_view arguments, text;
    };
    const row rows[] = {
        {"", imap_code::none, 0, "", ""},
        {"x [UIDNEXT 1] y", imap_code::none, 0, "", "x [UIDNEXT 1] y"},
        {"[UIDNEXT 4392] next", imap_code::uid_next, 4392, "4392", "next"},
        {"[uidvalidity 1]", imap_code::uid_validity, 1, "1", ""},
        {"[COPYUID 38505 304,319:320 3956:3958] Done", imap_code::other, 38505,
         "38505 304,319:320 3956:3958", "Done"},
        {"[nomodseq] x", imap_code::no_modseq, 0, "", "x"},
        {"[] x", imap_code::other, 0, "", "x"},
        {"[UIDNEXT", imap_code::none, 0, "", "[UIDNEXT"},
        {"[UIDNEXT ] x", imap_code::uid_next, 0, "", "x"},
    };
    for (const row& one : rows) {
        INFO(one.line);
        const imap_response_text found = read_imap_text(one.line);
        CHECK(found.code == one.code);
        CHECK(found.number == one.number);
        CHECK(found.arguments == one.arguments);
        CHECK(found.text == one.text);
    }
}

TEST_CASE("imap_codes: number sets of a server") {
    struct row {
        std::string_view set;
        std::vector<imap_range> ranges;
        bool good;
    };
    const row rows[] = {
        {"", {}, true},
        {"5", {{5, 5}}, true},
        {"1,3:5,9:7", {{1, 1}, {3, 5}, {7, 9}}, true},
        {"1:4294967295", {{1, 4294967295}}, true},
        {"0", {}, false},
        {"1:4294967296", {}, false},
        {"1:*", {}, false},
        {"1,", {}, false},
        {"1,,2", {{1, 1}}, false},
        {"1:2:3", {}, false},
        {"-1", {}, false},
    };
    for (const row& one : rows) {
        INFO(one.set);
        imap_set_reader reader(one.set);
        std::vector<imap_range> found;
        imap_range range;
        while (reader.next(range))
            found.push_back(range);
        CHECK(found == one.ranges);
        CHECK(reader.good() == one.good);
    }
}
