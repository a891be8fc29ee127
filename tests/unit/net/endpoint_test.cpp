// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/endpoint.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace postal;

TEST_CASE("endpoint: every form that users write") {
    struct row {
        const char* text;
        const char* host;
        unsigned port;
        const char* unix_path;
        bool fresh;
    };
    const std::vector<row> rows{
        {"mail", "mail", 25, "", false},
        {"mail:2525", "mail", 2525, "", false},
        {"127.0.0.1:24", "127.0.0.1", 24, "", false},
        {"[2001:db8::1]:26", "2001:db8::1", 26, "", false},
        {"[2001:db8::1]", "2001:db8::1", 25, "", false},
        {"2001:db8::1", "2001:db8::1", 25, "", false},
        {"[mail]2500", "mail", 2500, "", false},
        {"+mail:26", "mail", 26, "", true},
        {"+[mail]26", "mail", 26, "", true},
        {"unix:/run/lmtp", "", 25, "/run/lmtp", false},
    };
    for (const row& one : rows) {
        INFO(one.text);
        const auto got = net::parse_endpoint(one.text, 25);
        REQUIRE(got.has_value());
        CHECK(got->host == one.host);
        CHECK(got->port == one.port);
        CHECK(got->unix_path == one.unix_path);
        CHECK(got->fresh_lookup == one.fresh);
    }
}

TEST_CASE("endpoint: refuses the rest with the text in the message") {
    for (const char* text : {"", ":25", "mail:", "mail:x", "mail:65536", "[mail", "[]25",
                             "unix:", "ma il", "mail\r\n", "[mail]x", "a,b", "5525", "5525:25"}) {
        INFO(text);
        const auto got = net::parse_endpoint(text, 25);
        REQUIRE_FALSE(got.has_value());
        CHECK(got.error().message.find(text) != std::string::npos);
    }
    CHECK_FALSE(net::parse_endpoint("unix:/" + std::string(200, 'x'), 25).has_value());
}

TEST_CASE("endpoint: an IPv6 address with a port and no brackets is told how to write it") {
    const auto loopback = net::parse_endpoint("::1:5525", 25);
    REQUIRE_FALSE(loopback.has_value());
    CHECK(loopback.error().message ==
          "'::1:5525': an IPv6 address with a port stands in brackets; write [::1]:5525");
    CHECK_FALSE(net::parse_endpoint("fd00::1:10025", 25).has_value());  // five digits are no group
    for (const char* text : {"::1", "::", "fd00::1:25", "2001:db8::10", "::ffff:127.0.0.1"}) {
        INFO(text);
        CHECK(net::parse_endpoint(text, 25).has_value());
    }
}

TEST_CASE("endpoint: lists keep their order, an empty item is refused") {
    const auto got = net::parse_endpoints("a:1,[::1]:2,unix:/x", 25);
    REQUIRE(got.has_value());
    REQUIRE(got->size() == 3);
    CHECK((*got)[1].host == "::1");
    CHECK((*got)[2].is_unix());
    CHECK_FALSE(net::parse_endpoints("a,,b", 25).has_value());
    CHECK_FALSE(net::parse_endpoints("a,", 25).has_value());
}

TEST_CASE("endpoint: addresses print as they are written") {
    for (const char* text : {"127.0.0.1:25", "[::1]:2525", "unix:/tmp/socket"}) {
        const auto where = net::parse_endpoint(text, 1);
        REQUIRE(where.has_value());
        const auto found = net::resolve(*where);
        REQUIRE(found.has_value());
        CHECK(net::to_text(found->front()) == text);
    }
}

TEST_CASE("endpoint: a local address must be this host's") {
    CHECK(net::parse_local_addresses("127.0.0.1,127.0.0.2").has_value());
    const auto foreign = net::parse_local_addresses("192.0.2.1");
    REQUIRE_FALSE(foreign.has_value());
    CHECK(foreign.error().message.find("not an address of this host") != std::string::npos);
}
