// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/allowed_targets.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace postal;

namespace {

std::vector<net::address> addresses(const std::vector<std::string>& of) {
    std::vector<net::address> all;
    for (const std::string& one : of) {
        const auto where = net::parse_endpoint("[" + one + "]", 25);
        REQUIRE(where.has_value());
        const auto found = net::resolve(*where);
        REQUIRE(found.has_value());
        all.insert(all.end(), found->begin(), found->end());
    }
    return all;
}

net::allowed_targets named(const std::vector<std::string>& all) {
    net::allowed_targets result;
    for (const std::string& one : all)
        REQUIRE(result.add(one).has_value());
    return result;
}

}  // namespace

TEST_CASE("allowed targets: what needs no name, and what does") {
    struct row {
        const char* address;
        bool allowed;
        const char* why;
    };
    const std::vector<row> rows{
        {"127.0.0.1", true, "loopback"},
        {"127.255.0.9", true, "loopback"},
        {"::1", true, "loopback"},
        {"0.0.0.0", true, "this host"},
        {"::", true, "this host"},
        {"10.255.255.255", true, "RFC 1918"},
        {"11.0.0.0", false, "behind it"},
        {"172.15.255.255", false, "before RFC 1918"},
        {"172.16.0.1", true, "RFC 1918"},
        {"172.31.255.255", true, "RFC 1918"},
        {"172.32.0.0", false, "behind it"},
        {"192.168.4.5", true, "RFC 1918"},
        {"192.169.0.1", false, "behind it"},
        {"169.254.1.1", true, "link-local"},
        {"fe80::1", true, "link-local"},
        {"febf::1", true, "link-local"},
        {"fec0::1", false, "site-local is no more"},
        {"fc00::1", true, "unique-local"},
        {"fdff::1", true, "unique-local"},
        {"fe00::1", false, "behind it"},
        {"100.64.0.1", false, "a carrier shares these with its customers"},
        {"192.0.2.1", false, "documentation"},
        {"8.8.8.8", false, "public"},
        {"2001:db8::1", false, "documentation"},
        {"::ffff:10.0.0.1", true, "the IPv4 address in it"},
        {"::ffff:8.8.8.8", false, "the IPv4 address in it"},
        {"64:ff9b::7f00:1", false, "a translator's, and who knows where to"},
        {"224.0.0.1", false, "multicast"},
    };
    for (const row& one : rows) {
        INFO(one.address << ": " << one.why);
        const auto where = net::parse_endpoint("mail.example.com", 25);
        CHECK(net::allowed_targets().allow(*where, addresses({one.address})) == one.allowed);
    }
    const auto file = net::parse_endpoint("unix:/run/lmtp", 24);
    CHECK(net::allowed_targets().allow(*file, *net::resolve(*file)));
}

TEST_CASE("allowed targets: a name counts by every address, and a named one is allowed whole") {
    struct row {
        const char* endpoint;
        std::vector<std::string> has;
        std::vector<std::string> named;
        bool allowed;
        const char* why;
    };
    const std::vector<row> rows{
        {"mail", {"127.0.0.1", "192.0.2.1"}, {}, false, "the second is somebody's"},
        {"mail", {"192.0.2.1", "127.0.0.1"}, {}, false, "the first is"},
        {"mail", {"10.0.0.1", "fd00::1"}, {}, true, "both are private"},
        {"mail", {"192.0.2.1", "198.51.100.1"}, {"mail"}, true, "named"},
        {"Mail.Example.COM.", {"192.0.2.1"}, {"mail.example.com"}, true, "names have no case"},
        {"mail.example.com", {"192.0.2.1"}, {"MAIL.example.com."}, true, "nor has the option's"},
        {"mail.example.com", {"192.0.2.1"}, {"example.com"}, false, "another name"},
        {"+mail", {"192.0.2.1"}, {"mail"}, true, "looked up anew"},
        {"192.0.2.1", {"192.0.2.1"}, {"192.0.2.1"}, true, "an address"},
        {"mail", {"192.0.2.1"}, {"192.0.2.1"}, true, "its only address"},
        {"mail", {"192.0.2.1", "192.0.2.2"}, {"192.0.2.1"}, false, "one of two"},
        {"mail", {"192.0.2.1", "192.0.2.2"}, {"192.0.2.1", "192.0.2.2"}, true, "both"},
        {"mail", {"192.0.2.1", "192.0.2.255"}, {"192.0.2.0/24"}, true, "a range"},
        {"mail", {"192.0.3.0"}, {"192.0.2.0/24"}, false, "behind the range"},
        {"[2001:db8::9]", {"2001:db8::9"}, {"[2001:db8::9]"}, true, "with brackets"},
        {"[2001:db8::9]", {"2001:db8::9"}, {"2001:db8::/32"}, true, "a range of IPv6"},
    };
    for (const row& one : rows) {
        INFO(one.endpoint << ": " << one.why);
        const auto where = net::parse_endpoint(one.endpoint, 25);
        REQUIRE(where.has_value());
        CHECK(named(one.named).allow(*where, addresses(one.has)) == one.allowed);
    }
}

TEST_CASE("allowed targets: one line says which address, why, and what would be right") {
    const auto name = net::parse_endpoint("mail.example.com:25", 25);
    const auto refused = net::allowed_targets().check(*name, addresses({"10.0.0.1", "192.0.2.7"}));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message ==
          "'mail.example.com:25': its address 192.0.2.7 is neither loopback nor private, and load "
          "belongs to test machines of one's own; if it is one, give --target-is-mine "
          "mail.example.com");
    for (const char* text : {"", "mail:25", "unix:/run/x", "+mail", "192.0.2.1/33", "192.0.2.1/24",
                             "mail/24", "a,b", "two words", "*.example.com"}) {
        INFO(text);
        net::allowed_targets all;
        CHECK_FALSE(all.add(text).has_value());
        CHECK(all.is_empty());
    }
}
