// SPDX-License-Identifier: GPL-3.0-or-later
// What conversion files make of addresses; test_postal_list.py holds that against the original.
#include "postal-list/conversions.hpp"

#include <catch2/catch.hpp>

using namespace postal;

namespace {

std::string refusal(std::string_view text) {
    const auto made = list::conversions::parse(text, "c.txt");
    REQUIRE_FALSE(made.has_value());
    return made.error().message;
}

}  // namespace

TEST_CASE("conversions: the first expression that is found counts") {
    const auto all = list::conversions::parse("# none\n\n^b ..\r\nx$ [12]\n.* .[34]\n", "c.txt");
    REQUIRE(all.has_value());
    const auto first = [&](const std::string& address) {
        const auto made = all->expand(address);
        REQUIRE(made.has_value());
        REQUIRE(made->has_value());
        return (*made)->at(0);
    };
    CHECK(first("bcx") == "bcx");
    CHECK(first("acx") == "1cx");
    CHECK(first("acd@example.com") == "a3d@example.com");
}

TEST_CASE("conversions: an address in which none is found has none") {
    const auto all = list::conversions::parse("^a .[01]\n", "c.txt");
    REQUIRE(all.has_value());
    const auto made = all->expand("bob");
    REQUIRE(made.has_value());
    CHECK_FALSE(made->has_value());
}

TEST_CASE("conversions: an address that is too short is no reason to read behind it") {
    const auto all = list::conversions::parse("^a .[01][01]\n", "c.txt");
    REQUIRE(all.has_value());
    const auto made = all->expand("ab");
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().message ==
          "\"ab\" has 2 octets, and the replacement at c.txt:1 is for 3; write a shorter one");
}

TEST_CASE("conversions: malformed lines") {
    CHECK(refusal("^a .\n^b\n") ==
          "c.txt:2: 1 word, want a regular expression and a replacement, such as \"^a .[0-9]\"");
    CHECK(refusal("^a . .\n").starts_with("c.txt:1: 3 words, want"));
    CHECK(refusal("^a .x\n").starts_with(
        "c.txt:1: column 2 of the replacement \".x\" is neither a dot nor [set]"));
    CHECK(refusal("^a .[01\n").starts_with("c.txt:1: column 2 of the replacement"));
    CHECK(refusal("^a .[]\n")
              .starts_with("c.txt:1: replacement \".[]\": column 3: nothing is in the brackets"));
    CHECK(refusal("[a .\n").starts_with("c.txt:1: \"[a\" is no basic regular expression: "));
    CHECK(refusal("# only this\n").starts_with("c.txt: no conversion in it; want lines of"));
}
