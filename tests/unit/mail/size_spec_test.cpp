// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/size_spec.hpp"

#include "support.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>

using namespace postal::mail;
using postal::base::random_source;

TEST_CASE("size: fixed and uniform stay within their bounds and reach both ends") {
    random_source random(1);
    CHECK(size_spec().sample(random) == 5120);
    CHECK(size_spec::parse("fixed:10K").value().sample(random) == 10240);
    const auto spec = size_spec::parse("uniform:10,13").value();
    std::map<std::uint64_t, int> seen;
    for (int i = 0; i < 4000; ++i)
        ++seen[spec.sample(random)];
    REQUIRE(seen.size() == 4);
    for (const auto& [size, count] : seen)
        CHECK(std::abs(count - 1000) < 200);
    CHECK(spec.largest() == 13);
    CHECK(spec.text() == "uniform:10,13");
    CHECK(size_spec::uniform(7, 7).value().sample(random) == 7);
    CHECK(size_spec::uniform(0, ~std::uint64_t{0}).value().sample(random) > 0);
}

TEST_CASE("size: lognormal has the median that was asked and never exceeds its maximum") {
    random_source random(2);
    const auto spec = size_spec::parse("lognormal:8K,1,100K").value();
    int below = 0;
    for (int i = 0; i < 10000; ++i) {
        const auto size = spec.sample(random);
        REQUIRE(size <= 102400);
        if (size < 8192) ++below;
    }
    CHECK(std::abs(below - 5030) < 250);  // a little above half, since the tail is drawn again
    CHECK(size_spec::parse("lognormal:8K,0").value().sample(random) == 8192);
    CHECK(size_spec::parse("lognormal:8K,10,8K").value().sample(random) <= 8192);
}

TEST_CASE("size: a histogram is sampled by its weights") {
    const test::temporary_folder folder;
    const auto path = folder.write("sizes", "# size weight\n1K 3\r\n\n  2K\t1\n4K 0\n");
    const auto spec = size_spec::parse("histogram:" + path).value();
    random_source random(3);
    std::map<std::uint64_t, int> seen;
    for (int i = 0; i < 4000; ++i)
        ++seen[spec.sample(random)];
    REQUIRE(seen.size() == 2);
    CHECK(std::abs(seen[1024] - 3000) < 200);
    CHECK(spec.largest() == 2048);
}

TEST_CASE("size: what makes no sense is refused with a reason") {
    struct row {
        std::string text, reason;
    };
    const row rows[]{{"", "no form of size"},
                     {"5K", "no form of size"},
                     {"fixed:", ""},
                     {"fixed:1K,2K", "fixed"},
                     {"fixed:x", ""},
                     {"uniform:1K", "uniform"},
                     {"uniform:2K,1K", "above the maximum"},
                     {"lognormal:8K", "MEDIAN,SIGMA"},
                     {"lognormal:0,1", "above 0"},
                     {"lognormal:8K,nan", "sigma"},
                     {"lognormal:8K,-1", "sigma"},
                     {"lognormal:8K,11", "sigma"},
                     {"lognormal:8K,1,4K", "above its maximum"},
                     {"histogram:/nowhere/at/all", "/nowhere/at/all"}};
    for (const row& each : rows) {
        INFO(each.text);
        const auto spec = size_spec::parse(each.text);
        REQUIRE_FALSE(spec.has_value());
        CHECK_THAT(spec.error().message, Catch::Contains(each.reason));
    }
}

TEST_CASE("size: a malformed histogram is refused with file and line") {
    const test::temporary_folder folder;
    struct row {
        std::string text, reason;
    };
    const row rows[]{{"1K 1\n2K\n", ":2: want a size and a weight"},
                     {"1K 1 1\n", ":1: want a size and a weight"},
                     {"1K x\n", ":1: "},
                     {"x 1\n", ":1: "},
                     {"1K -1\n", ":1: "},
                     {"1K 0\n", "no line"},
                     {"# only this\n", "no line"},
                     {"", "no line"}};
    for (const row& each : rows) {
        INFO(each.text);
        const auto spec = size_spec::parse("histogram:" + folder.write("sizes", each.text));
        REQUIRE_FALSE(spec.has_value());
        CHECK_THAT(spec.error().message, Catch::Contains(each.reason));
    }
}
