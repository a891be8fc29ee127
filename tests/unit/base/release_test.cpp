// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/release.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <unordered_set>
#include <vector>

using postal::base::release;

TEST_CASE("release: what is given back has no room left") {
    std::string text(100'000, 'x');
    release(text);
    CHECK(text.empty());
    CHECK(text.capacity() == std::string().capacity());
    std::vector<int> numbers(100'000);
    release(numbers);
    CHECK(numbers.capacity() == 0);
    std::unordered_set<int> members;
    members.reserve(100'000);
    release(members);
    CHECK(members.bucket_count() == std::unordered_set<int>().bucket_count());
}
