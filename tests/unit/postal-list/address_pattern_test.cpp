// SPDX-License-Identifier: GPL-3.0-or-later
// What a pattern stands for: how many addresses, which, in what order; and what none can be.
#include "postal-list/address_pattern.hpp"

#include <catch2/catch.hpp>

using namespace postal;

namespace {

std::vector<std::string> all(std::string_view pattern) {
    const auto made = list::address_pattern::parse(pattern);
    REQUIRE(made.has_value());
    std::vector<std::string> addresses;
    for (std::uint64_t index = 0; index < *made->size(); ++index)
        addresses.push_back(made->at(index));
    return addresses;
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("address_pattern: sets of octets and numbers") {
    CHECK(all("a@b") == texts{"a@b"});
    CHECK(all("u[0-2]@b") == texts{"u0@b", "u1@b", "u2@b"});
    CHECK(all("[ab][xy]") == texts{"ax", "ay", "bx", "by"});
    CHECK(all("u[8-11]") == texts{"u8", "u9", "u10", "u11"});
    CHECK(all("u[08-11]") == texts{"u08", "u09", "u10", "u11"});
    CHECK(all("u[99-101]") == texts{"u99", "u100", "u101"});
    CHECK(all("u[-a]") == texts{"u-", "ua"});
    CHECK(all("u[a-]") == texts{"ua", "u-"});
    CHECK(all("u[0-11]") ==
          texts{"u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9", "u10", "u11"});
    CHECK(all("u[aba]") == texts{"ua", "ub"});
    CHECK(all(R"(u@\[192.0.2.[1-2]\])") == texts{"u@[192.0.2.1]", "u@[192.0.2.2]"});
}

TEST_CASE("address_pattern: as many as 64 bits hold") {
    const auto large = list::address_pattern::parse("u[1-1000000000][1-1000000000]");
    REQUIRE(large.has_value());
    CHECK(*large->size() == 1'000'000'000'000'000'000U);
    CHECK(large->at(*large->size() - 1) == "u10000000001000000000");
    const auto larger = list::address_pattern::parse("u[1-1000000000][1-1000000000][1-1000000000]");
    REQUIRE_FALSE(larger.has_value());
    CHECK(larger.error().message == "stands for more than 2^64 addresses; give smaller sets");
}

TEST_CASE("address_pattern: what none can be is said with its column") {
    const auto why = [](std::string_view pattern) {
        const auto made = list::address_pattern::parse(pattern);
        REQUIRE_FALSE(made.has_value());
        return made.error().message;
    };
    CHECK(why("u[]@b") == "column 3: nothing is in the brackets; write [0-9] or [abc]");
    CHECK(why("u[0-9@b") == "column 2: [ has no ]; write \\[ for a bracket of the address");
    CHECK(why("u[20-10]") == "column 3: 20-10 goes down; write the lower number first");
    CHECK(why("u[xb-a]") == "column 4: b-a goes down; write the lower one first");
    CHECK(why("u[a b]") == "column 4: only printable ASCII without blanks may be in the brackets");
    CHECK(why("u[0-18446744073709551615]") ==
          "column 5: 18446744073709551615 is too large; give at most 18 digits");
}
