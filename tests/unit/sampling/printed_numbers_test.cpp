// SPDX-License-Identifier: GPL-3.0-or-later
#include "sampling/printed_numbers.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal;

TEST_CASE("printed numbers: one alone, or lines with names") {
    struct row {
        std::string text;
        std::vector<std::pair<std::string, double>> wanted;
        const char* why;
    };
    const row rows[]{
        {"12\n", {{"mails", 12}}, "a number"},
        {"0.25", {{"mails", 0.25}}, "without a line feed"},
        {"  7 \r\n", {{"mails", 7}}, "blanks around it"},
        {"active 3\ndeferred 40\n", {{"mails active", 3}, {"mails deferred", 40}}, "names"},
        {"\n\nin use\t 9\n\n", {{"mails in use", 9}}, "empty lines, a name with a blank"},
        {"5\nbytes 6\n", {{"mails", 5}, {"mails bytes", 6}}, "both"},
    };
    for (const row& each : rows) {
        INFO(each.why);
        const auto read = sampling::read_numbers(each.text, "mails");
        REQUIRE(read.has_value());
        REQUIRE(read->size() == each.wanted.size());
        for (std::size_t i = 0; i < read->size(); ++i) {
            CHECK((*read)[i].name == each.wanted[i].first);
            CHECK((*read)[i].value == each.wanted[i].second);
            CHECK_FALSE((*read)[i].waiting);
        }
    }
}

TEST_CASE("printed numbers: anything else is refused with what it was") {
    std::string many;
    for (int i = 0; i < 33; ++i)
        many += fmt::format("n{} 1\n", i);
    struct row {
        std::string text;
        const char* said;
    };
    for (const row& each :
         {row{"", "nothing"}, row{"\n \n", "nothing"}, row{"twelve\n", "\"twelve\""},
          row{"-3\n", "\"-3\""}, row{"nan\n", "nan"}, row{"inf", "inf"}, row{"1e3", "1e3"},
          row{"9999999999999999", "no number"}, row{"a 1\na 2\n", "\"mails a\" twice"},
          row{"1\n2\n", "\"mails\" twice"}, row{many, "more than 32"},
          row{std::string(70, 'x') + " 1", "no name and number"}, row{"a\x1b[2J 1", "\\x1b"},
          row{"\xff 1", "no name and number"}, row{"3.11 2.97", "no name and number"}}) {
        INFO(each.text);
        const auto read = sampling::read_numbers(each.text, "mails");
        REQUIRE(read.has_error());
        CHECK_THAT(read.error().message, Catch::Contains(each.said));
        CHECK(read.error().message.find('\n') == std::string::npos);
    }
}
