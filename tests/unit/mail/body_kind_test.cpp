// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/body_kind.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>

using namespace postal::mail;

TEST_CASE("body: names and kinds agree") {
    for (const auto kind :
         {body_kind::ascii, body_kind::eight_bit, body_kind::dots, body_kind::long_lines,
          body_kind::crlf_edge, body_kind::multipart, body_kind::corpus}) {
        CHECK(kind_of(name_of(kind)) == kind);
    }
    CHECK_FALSE(kind_of("ASCII"));
    CHECK_FALSE(kind_of(""));
}

TEST_CASE("body: a mix gives each kind by its weight") {
    const auto mix = body_mix::parse("ascii=90,8bit=10,dots=0").value();
    postal::base::random_source random(1);
    std::map<body_kind, int> seen;
    for (int i = 0; i < 10000; ++i)
        ++seen[mix.pick(random)];
    CHECK(seen.size() == 2);
    CHECK(std::abs(seen[body_kind::eight_bit] - 1000) < 150);
    CHECK(mix.has(body_kind::ascii));
    CHECK_FALSE(mix.has(body_kind::dots));
    CHECK_FALSE(mix.has(body_kind::corpus));
    CHECK(mix.text() == "ascii=90,8bit=10");
    CHECK(body_mix::parse("dots").value().text() == "dots");
    CHECK(body_mix::parse("dots").value().pick(random) == body_kind::dots);
    CHECK(body_mix::parse("dots,8bit").value().has(body_kind::eight_bit));
    CHECK(body_mix().pick(random) == body_kind::ascii);
}

TEST_CASE("body: what makes no sense is refused with a reason") {
    struct row {
        std::string text, reason;
    };
    const row rows[]{{"", "no kind"},
                     {"ascii,", "no kind"},
                     {"corpus", "no kind"},
                     {"ascii=0", "weight"},
                     {"ascii=x", "weight"},
                     {"ascii=", "weight"},
                     {"ascii=1,ascii=2", "twice"},
                     {"ascii=-1", "weight"},
                     {"utf8=1", "no kind"}};
    for (const row& each : rows) {
        INFO(each.text);
        const auto mix = body_mix::parse(each.text);
        REQUIRE_FALSE(mix.has_value());
        CHECK_THAT(mix.error().message, Catch::Contains(each.reason));
    }
}
