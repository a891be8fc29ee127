// SPDX-License-Identifier: GPL-3.0-or-later
// Passwords made from addresses, and templates that nothing can be made of.
#include "postal-list/password_template.hpp"

#include <catch2/catch.hpp>

using namespace postal;

TEST_CASE("password_template: placeholders") {
    const auto made = list::password_template::parse("%%-%user%+%domain%/%address%:%number%");
    REQUIRE(made.has_value());
    CHECK(made->expand("a@b.example", 7) == "%-a+b.example/a@b.example:7");
    CHECK(made->expand("bare", 12) == "%-bare+/bare:12");
}

TEST_CASE("password_template: what is none") {
    const auto why = [](std::string_view text) {
        const auto made = list::password_template::parse(text);
        REQUIRE_FALSE(made.has_value());
        return made.error().message;
    };
    CHECK(why("a%user").starts_with("column 2: the placeholder is not finished; known: "));
    CHECK(why("%to%").starts_with("column 1: placeholder %to% is unknown; known: %address%, "));
    CHECK(why("a b") == "column 2: a password has no blank or control character");
}
