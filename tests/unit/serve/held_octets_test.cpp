// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/held_octets.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

using postal::serve::held_octets;

constexpr std::uint64_t megabyte = 1024 * 1024;

TEST_CASE("held_octets: shares have so much together, and give it back with their end") {
    held_octets all(3 * megabyte);
    std::optional<held_octets::share> first(std::in_place, &all);
    held_octets::share second(&all);
    CHECK(first->add(2 * megabyte));
    CHECK_FALSE(second.add(2 * megabyte));
    CHECK(all.held() == 2 * megabyte);
    CHECK(second.add(megabyte));
    CHECK(all.full());
    CHECK_FALSE(second.add(1));
    first.reset();
    CHECK_FALSE(all.full());
    CHECK(second.add(1));
    held_octets::share moved(std::move(second));
    moved.give_back();
    CHECK(all.held() == 0);
    CHECK(moved.add(1));
}

TEST_CASE("held_octets: small amounts are taken together, and sums do not begin again at 0") {
    held_octets all(megabyte);
    {
        held_octets::share one(&all);
        for (int i = 0; i < 100; ++i)
            CHECK(one.add(100));
        CHECK(all.held() >= 100 * 100);
        CHECK(all.held() < 32 * 1024);
        CHECK_FALSE(one.add(std::numeric_limits<std::uint64_t>::max()));
        CHECK_FALSE(one.add(std::numeric_limits<std::uint64_t>::max() - 100));
        CHECK(one.add(100));
    }
    CHECK(all.held() == 0);
}

TEST_CASE("held_octets: a client has half of the total, with all that it has") {
    const auto address = [](const char* text) { return *postal::net::parse_ip(text); };
    held_octets all(4 * megabyte);
    const auto first = all.client_of(address("192.0.2.1"));
    CHECK(all.client_of(address("192.0.2.1")) == first);
    const auto second = all.client_of(address("192.0.2.2"));
    CHECK(second != first);
    {
        held_octets::share one(&all, first);
        held_octets::share other = one.sibling();
        CHECK(one.add(megabyte));
        CHECK(other.add(megabyte));
        CHECK_FALSE(other.add(1));
        CHECK(all.full(first.get()));
        CHECK_FALSE(all.full(second.get()));
        CHECK_FALSE(all.full());
        held_octets::share theirs(&all, second);
        CHECK(theirs.add(2 * megabyte));
        CHECK_FALSE(held_octets::share(&all).add(1));
        theirs = held_octets::share(&all, second);
        CHECK(second->held() == 0);
        held_octets::share nobodys(&all);
        CHECK(nobodys.add(2 * megabyte));
        CHECK_FALSE(theirs.add(1));
        CHECK(second->held() == 0);  // nothing of what was refused
    }
    CHECK(first->held() == 0);
    CHECK(all.held() == 0);
    for (int i = 0; i < 1000; ++i)
        (void)all.client_of(address(("2001:db8::" + std::to_string(i)).c_str()));
    CHECK(all.client_of(address("192.0.2.1")) == first);  // who is there is not forgotten
}

TEST_CASE("held_octets: without a total there is always room") {
    held_octets::share free;
    CHECK(free.add(std::numeric_limits<std::uint64_t>::max()));
    CHECK(free.add(1));
}
