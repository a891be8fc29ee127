// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/deflate.hpp"

#include <catch2/catch.hpp>

#include <string>

using postal::net::deflate;

namespace {

std::string expand_all(deflate& by, std::string_view packed, std::size_t room) {
    std::string buffer(room, '\0');
    std::string all;
    for (;;) {
        const auto got = by.expand(packed, buffer);
        REQUIRE_FALSE(got.broken);
        all.append(buffer, 0, got.size);
        if (got.size < room && packed.empty()) return all;
    }
}

}  // namespace

TEST_CASE("deflate: what one side says the other reads, piece by piece") {
    const auto client = deflate::create();
    const auto server = deflate::create();
    REQUIRE(client);
    REQUIRE(server);
    const std::string large(300'000, 'x');
    for (const std::string& text : {std::string("a1 NOOP\r\n"), large, std::string("\0\xff", 2)}) {
        std::string packed;
        client->compress(text, packed);
        CHECK(expand_all(*server, packed, 1000) == text);
    }
    std::string packed;
    client->compress("octet by octet", packed);
    std::string all;
    for (const char one : packed)
        all += expand_all(*server, std::string_view(&one, 1), 7);
    CHECK(all == "octet by octet");
}

TEST_CASE("deflate: a bomb fills no more than the buffer, and garbage is broken for good") {
    const auto client = deflate::create();
    const auto server = deflate::create();
    std::string packed;
    client->compress(std::string(50'000'000, 'x'), packed);
    CHECK(packed.size() < 200'000);
    std::string buffer(4096, '\0');
    std::string_view left = packed;
    CHECK(server->expand(left, buffer).size == 4096);
    CHECK_FALSE(left.empty());

    const auto other = deflate::create();
    std::string_view garbage = "\xff\xff\xff\xff\xff";
    CHECK(other->expand(garbage, buffer).broken);
    std::string_view nothing;
    CHECK(other->expand(nothing, buffer).broken);
}
