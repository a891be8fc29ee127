// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/folded.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <unordered_map>

using namespace postal::base;

TEST_CASE("folded: text is found by a view in any ASCII case") {
    std::unordered_map<std::string, int, folded_hash, folded_equal> all;
    all.emplace("Ann@Example.com", 1);
    struct row {
        std::string_view asked;
        bool found;
        std::string_view reason;
    };
    const row rows[] = {
        {"Ann@Example.com", true, "as it stands"},
        {"aNN@eXAMPLE.COM", true, "another case"},
        {"Ann@Example.co", false, "shorter"},
        {"Ann`Example.com", false, "octets that differ by the bit of the case only"},
        {"", false, "nothing"},
    };
    for (const row& one : rows) {
        CAPTURE(one.asked, one.reason);
        CHECK(all.contains(one.asked) == one.found);
    }
    CHECK_FALSE(folded_equal{}("\xc3\x84", "\xc3\xa4"));  // only ASCII is folded
}
