// SPDX-License-Identifier: GPL-3.0-or-later
#include "behaviour/pattern.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

using postal::behaviour::domain_of_pattern;
using postal::behaviour::pattern;

TEST_CASE("pattern: * stands for any text, and ASCII case does not matter") {
    struct row {
        std::string_view pattern;
        std::string_view text;
        bool wanted;
        std::string_view reason;
    };
    const row rows[] = {
        {"ann@example.com", "ann@example.com", true, "the same"},
        {"Ann@EXAMPLE.com", "aNN@example.COM", true, "another case"},
        {"ann@example.com", "bann@example.com", false, "more in front"},
        {"ann@example.com", "ann@example.com.", false, "more behind"},
        {"", "", true, "nothing is nothing"},
        {"", "a", false, "nothing is not something"},
        {"*", "", true, "any text may be none"},
        {"*", "anything", true, "any text"},
        {"**", "anything", true, "two stars are as one"},
        {"a*", "a", true, "none behind"},
        {"a*", "b", false, "another head"},
        {"*a", "ba", true, "the tail"},
        {"*a", "ab", false, "another tail"},
        {"*@example.com", "ann@example.com", true, "any local part"},
        {"*@example.com", "ann@sub.example.com", false, "another domain"},
        {"*.example.com", "a.b.example.com", true, "a star takes dots, too"},
        {"*.example.com", "example.com", false, "the domain itself is not below itself"},
        {"a*a", "a", false, "head and tail do not overlap"},
        {"a*a", "aa", true, "head and tail"},
        {"ab*ba", "aba", false, "head and tail do not overlap by a part"},
        {"a*b*c", "abc", true, "stars that take nothing"},
        {"a*b*c", "a12b34c", true, "stars that take something"},
        {"a*b*c", "acb", false, "pieces in another order"},
        {"*ab*ab*", "ab", false, "each piece has a place of its own"},
        {"*ab*ab*", "xabxabx", true, "twice"},
        {"*aab*", "aaab", true, "a piece whose start repeats"},
        {"*abab*", "abaabab", true, "falls back within the piece"},
        {"*ABAC*", "ababac", true, "falls back, in another case"},
        {"*aa*aa", "aaa", false, "a piece between and the tail do not overlap"},
        {"*aa*aa", "aaaa", true, "one behind the other"},
        {"a?c", "abc", false, "? stands for itself"},
        {"a.c", "abc", false, "so does a dot"},
        {"[ab]", "a", false, "and a bracket"},
        {"\xc3\x84*", "\xc3\xa4x", false, "only ASCII is folded"},
    };
    for (const row& one : rows) {
        CAPTURE(one.pattern, one.text, one.reason);
        CHECK(pattern(one.pattern).matches(one.text) == one.wanted);
    }
}

TEST_CASE("pattern: many stars and long texts take linear time") {
    // Trying each place for each star, or each octet of the piece at each place, would take hours.
    const std::string text(400'000, 'a');
    std::string stars;
    for (int i = 0; i < 1000; ++i)
        stars += "*a";
    CHECK(pattern(stars).matches(text));
    CHECK_FALSE(pattern(stars + "*b*").matches(text));
    CHECK_FALSE(pattern(stars + "b").matches(text));
    CHECK_FALSE(pattern("*" + std::string(100'000, 'a') + "b*").matches(text));
    CHECK(pattern("*" + std::string(100'000, 'a') + "*").matches(text));
    CHECK(pattern(std::string(100'000, '*')).matches(text));
}

TEST_CASE("pattern: the domain that a mailbox must have") {
    struct row {
        std::string_view pattern;
        std::string_view wanted;  // empty: none
        std::string_view reason;
    };
    const row rows[] = {
        {"user@example.com", "example.com", "one mailbox"},
        {"*@Example.COM", "example.com", "in lower case"},
        {"a*b@example.com", "example.com", "a star before the @"},
        {"a@b@example.com", "example.com", "the last @ begins the domain"},
        {"x@[192.0.2.1]", "[192.0.2.1]", "an address literal"},
        {"*@b]", "", "the end of one"},
        {"*@*.example.com", "", "any of several"},
        {"*@example.*", "", "any of several"},
        {"*example.com", "", "may be of any domain with that end"},
        {"*", "", "anything"},
        {"<>", "", "the null reverse-path has none"},
        {"postmaster", "", "no domain"},
        {"user@", "", "an empty one is none"},
        {"", "", "nothing"},
    };
    for (const row& one : rows) {
        CAPTURE(one.pattern, one.reason);
        CHECK(domain_of_pattern(one.pattern).value_or("") == one.wanted);
    }
}
