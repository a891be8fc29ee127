// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/session_slots.hpp"

#include <catch2/catch.hpp>

#include <utility>

using postal::serve::session_slots;

TEST_CASE("session_slots: how many were taken at once") {
    session_slots slots(10, {});
    CHECK(slots.most_taken() == 0);
    for (int i = 0; i < 5; ++i) {
        const auto one = slots.take();
        const auto other = slots.take();
    }
    CHECK(slots.most_taken() == 2);
}

TEST_CASE("session_slots: the lowest free place is given out, and no more than there are") {
    session_slots slots(3, {});
    auto first = slots.take();
    auto second = slots.take();
    auto third = slots.take();
    REQUIRE(first);
    REQUIRE(second);
    REQUIRE(third);
    CHECK(third->number() == 2);
    CHECK(third->transcript == nullptr);
    CHECK_FALSE(slots.take());
    CHECK(slots.most_taken() == 3);
    second.reset();
    first.reset();
    first = slots.take();
    second = slots.take();
    CHECK(first->number() == 0);
    CHECK(second->number() == 1);
    CHECK_FALSE(slots.take());
}

TEST_CASE("ip_address: where it comes from is an IPv4 address, or an IPv6 network of 64 bits") {
    const std::pair<const char*, const char*> rows[] = {{"192.0.2.1", "192.0.2.1"},
                                                        {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"},
                                                        {"::1", "::"},
                                                        {"fe80::1", "fe80::"}};
    for (const auto& [address, origin] : rows)
        CHECK(postal::net::parse_ip(address)->origin().text() == origin);
}

TEST_CASE("session_slots: so many from one address, and no more, until one of them has gone") {
    const auto address = [](const char* text) { return *postal::net::parse_ip(text); };
    session_slots slots(10, {});
    auto first = slots.take();
    auto second = slots.take();
    auto third = slots.take();
    REQUIRE(first);
    REQUIRE(second);
    REQUIRE(third);
    CHECK(first->count_for(address("192.0.2.1"), 1));
    CHECK_FALSE(second->count_for(address("192.0.2.1"), 1));
    CHECK(second->count_for(address("192.0.2.2"), 1));
    first.reset();
    CHECK(third->count_for(address("192.0.2.1"), 1));
    first = slots.take();
    CHECK_FALSE(first->count_for(address("192.0.2.1"), 1));
    CHECK(first->count_for(address("2001:db8::1"), 1));
    second.reset();
    second = slots.take();
    CHECK_FALSE(second->count_for(address("2001:db8::ffff:1"), 1));  // the same network
    CHECK(second->count_for(address("2001:db8:0:1::1"), 1));
}
