// SPDX-License-Identifier: GPL-3.0-or-later
// Files of others as JSON: what is taken, what is refused and how that is said, and that neither
// many members nor many values cost more than they should.
#include "stats/foreign_json.hpp"

#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <string>

#include "many_members.hpp"

using namespace postal;
using stats::json;

namespace {

std::string refusal(const std::string& text, const stats::json_bounds& bounds = {}) {
    const auto read = stats::parse_foreign(text, bounds);
    return read ? std::string{} : read.error().message;
}

}  // namespace

TEST_CASE("foreign json: what is taken is what the library takes") {
    for (const char* text :
         {"null", "true", "-1", "18446744073709551615", "1.5e3", "\"a\\u00e9\"", "[]", "{}",
          R"([1,[2,{"a":[]}],"x"])", R"({"b":1,"a":{"z":null,"c":[{},{"d":0.25}]},"":""})"}) {
        INFO(text);
        const auto read = stats::parse_foreign(text);
        REQUIRE(read.has_value());
        CHECK(*read == json::parse(text));
        CHECK(read->dump() == json::parse(text).dump());
    }
}

TEST_CASE("foreign json: what is wrong or too much is said") {
    struct row {
        std::string text;
        std::string wanted;
    };
    const stats::json_bounds few{.octets = 100, .depth = 3, .members = 2, .key = 4, .values = 9};
    for (const auto& [text, wanted] :
         {row{"", "parse error"}, row{"{", "parse error at line 1"}, row{"[1] 2", "parse error"},
          row{"{\"a\":1,\"a\":2}", "has the key \"a\" twice in one object"},
          row{"[[[[]]]]", "nests more than 3 lists and objects"},
          row{"{\"a\":{\"b\":{\"c\":{}}}}", "nests more than 3 lists and objects"},
          row{R"({"a":1,"b":2,"c":3})", "has an object with more than 2 members"},
          row{R"({"abcde":1})", "has a key of more than 4 octets"},
          row{"[1,2,3,4,5,6,7,8,9]", "has more than 9 values"}, row{"1e999", "out_of_range"},
          row{std::string(101, ' '), "is longer than 100 octets"},
          row{"\"\xff\"", "parse error"}}) {
        INFO(text);
        const std::string why = refusal(text, few);
        INFO(why);
        if (wanted == "out_of_range")
            CHECK(!why.empty());
        else
            CHECK(why.starts_with(wanted));
    }
    CHECK(refusal("[[[1]]]", few).empty());
    CHECK(refusal("[1,2,3,4,5,6,7,8]", few).empty());
}

// Each is a list with memory of its own: far more of it than there is text.
TEST_CASE("foreign json: a small file of many lists is no large tree") {
    CHECK(stats::json_bounds{}.values == 8388608);
    const stats::json_bounds few{.values = 100000};
    std::string many = "[";
    for (int i = 0; i < 60000; ++i)
        many += "[0],";
    CHECK(refusal(many + "0]", few) == "has more than 100000 values");
    CHECK(refusal("[" + many.substr(1, 159999) + "]", few).empty());
    CHECK(refusal(many + "0]").empty());
}

TEST_CASE("foreign json: cut off at each octet it is refused") {
    const std::string whole = R"({"a":[1,-2.5,"\u20ac"],"b":{"c":true,"d":null}})";
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK_FALSE(refusal(whole.substr(0, size)).empty());
    CHECK(refusal(whole).empty());
}

// With a look through all members for each, either takes minutes.
TEST_CASE("foreign json: many members cost no square") {
    const std::string many = stats::test::object_of(400000, [](int i) { return i; });
    CHECK(refusal(many) == "has an object with more than 65536 members");
    const stats::json_bounds wide{.members = 400000};
    const auto one = stats::parse_foreign(many, wide);
    const auto other = stats::parse_foreign(
        stats::test::object_of(400000, [](int i) { return 399999 - i; }), wide);
    REQUIRE((one && other));
    CHECK(one->size() == 400000);
    CHECK(stats::is_same(*one, *other));
}

TEST_CASE("foreign json: what is the same") {
    const auto same = [](const char* one, const char* other) {
        return stats::is_same(json::parse(one), json::parse(other));
    };
    CHECK(same(R"({"a":1,"b":[1.0,2]})", R"({"b":[1,2.0000000001],"a":1})"));
    CHECK_FALSE(same(R"({"a":1})", R"({"a":1,"b":null})"));
    CHECK_FALSE(same(R"({"a":1})", R"({"b":1})"));
    CHECK_FALSE(same("[1,2]", "[2,1]"));
    CHECK_FALSE(same("[1]", "[1,1]"));
    CHECK_FALSE(same("1.0", "1.001"));
    CHECK_FALSE(same("1.0", "\"1\""));
    CHECK_FALSE(same("null", "false"));
    CHECK(same("-1", "-1"));
}
