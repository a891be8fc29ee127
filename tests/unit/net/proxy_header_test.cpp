// SPDX-License-Identifier: GPL-3.0-or-later
// PROXY headers and ranges of addresses: tables of text, wanted, reason.
#include "net/proxy_header.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "net/ip_address.hpp"

using namespace postal::net;
using namespace std::string_literals;

namespace {

ip_endpoint at(const std::string& address, std::uint16_t port) {
    const auto parsed = parse_ip(address);
    REQUIRE(parsed);
    return {*parsed, port};
}

// Feeds pieces of at most `piece` octets; what was not asked for stays.
std::string read(proxy_header_reader& reader, std::string octets, std::size_t piece) {
    while (reader.wanted() != 0 && !octets.empty()) {
        const std::string some = octets.substr(0, std::min(piece, reader.wanted()));
        octets.erase(0, some.size());
        reader.feed(some);
    }
    return octets;
}

const std::string signature = "\r\n\r\n\0\r\nQUIT\n"s;

}  // namespace

TEST_CASE("what is written is read, and not an octet more") {
    for (const proxy_version version : {proxy_version::v1, proxy_version::v2}) {
        for (const auto& [client, server] :
             {std::pair{"198.18.3.4"s, "127.0.0.1"s}, std::pair{"2001:db8::7"s, "::1"s},
              std::pair{"198.18.3.4"s, "::1"s}, std::pair{"2001:db8::7"s, "127.0.0.1"s}}) {
            std::string header;
            append_proxy_header(header, version, at(client, 40000), at(server, 25));
            for (const std::size_t piece : {1U, 3U, 1000U}) {
                INFO(client << " to " << server << " by " << piece);
                proxy_header_reader reader;
                CHECK(read(reader, header + "EHLO x\r\n", piece) == "EHLO x\r\n");
                CHECK(reader.good());
                REQUIRE(reader.client());
                CHECK(*reader.client() == at(client, 40000));
            }
        }
    }
}

TEST_CASE("headers as others write them") {
    struct row {
        std::string header;
        bool good;
        std::string client;  // empty: none
        std::string reason;
    };
    const std::string v4 = "\xc6\x12\x00\x01\x7f\x00\x00\x01\x9c\x40\x00\x19"s;
    const row rows[] = {
        {"PROXY TCP4 192.0.2.1 127.0.0.1 56324 25\r\n", true, "192.0.2.1", "plain"},
        {"PROXY TCP6 2001:db8::1 ::1 1 2\r\n", true, "2001:db8::1", "IPv6"},
        {"PROXY UNKNOWN\r\n", true, "", "shortest"},
        {"PROXY UNKNOWN ffff:: ffff:: 65535 65535\r\n", true, "", "the rest is passed over"},
        {"PROXY TCP4 192.0.2.1 127.0.0.1 56324\r\n", false, "", "no port"},
        {"PROXY TCP4 192.0.2.1 127.0.0.1 65536 25\r\n", false, "", "port too large"},
        {"PROXY TCP4 192.0.2.1 127.0.0.1 025 25\r\n", false, "", "leading zero"},
        {"PROXY TCP4 2001:db8::1 ::1 1 2\r\n", false, "", "family"},
        {"PROXY TCP6 192.0.2.1 127.0.0.1 1 2\r\n", false, "", "family"},
        {"PROXY TCP4  192.0.2.1 127.0.0.1 1 2\r\n", false, "", "two blanks"},
        {"PROXY UDP4 192.0.2.1 127.0.0.1 1 2\r\n", false, "", "no such protocol"},
        {"PROXY UNKNOWN" + std::string(200, 'x'), false, "", "no end"},
        {"EHLO client.example.com\r\n", false, "", "no header"},
        {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03hello"s, false, "", "TLS"},
        {signature + "\x21\x11\x00\x0c"s + v4, true, "198.18.0.1", "version 2"},
        {signature + "\x21\x11\x00\x10"s + v4 + "\x04\x00\x01x"s, true, "198.18.0.1", "a TLV"},
        {signature + "\x20\x00\x00\x00"s, true, "", "LOCAL"},
        {signature + "\x21\x00\x00\x00"s, true, "", "UNSPEC"},
        {signature + "\x21\x31\x00\x00"s, false, "", "a Unix socket's"},
        {signature + "\x21\x11\x00\x0b"s + v4, false, "", "too short for IPv4"},
        {signature + "\x21\x11\xff\xff"s + v4, false, "", "too long"},
        {signature + "\x31\x11\x00\x0c"s + v4, false, "", "version 3"},
    };
    for (const row& one : rows) {
        INFO(one.reason);
        proxy_header_reader reader;
        read(reader, one.header, 1000);
        CHECK(reader.wanted() == 0);
        CHECK(reader.good() == one.good);
        CHECK((reader.client() ? reader.client()->address.text() : "") == one.client);
    }
}

TEST_CASE("ranges of addresses") {
    postal::base::random_source random(7);
    for (const std::string text : {"198.18.0.0/15", "10.0.0.0/8", "192.0.2.7", "0.0.0.0/0",
                                   "2001:db8::/32", "::/0", "2001:db8::1/128", "192.0.2.0/25"}) {
        const auto range = parse_address_range(text);
        INFO(text);
        REQUIRE(range.has_value());
        for (int i = 0; i < 100; ++i)
            CHECK(range->contains(range->draw(random)));
    }
    const auto range = *parse_address_range("192.0.2.0/25");
    CHECK(range.contains(*parse_ip("192.0.2.127")));
    CHECK_FALSE(range.contains(*parse_ip("192.0.2.128")));
    CHECK_FALSE(range.contains(*parse_ip("2001:db8::1")));
    for (const std::string wrong : {"", "10.0.0.0/33", "10.0.0.1/8", "10.0.0/8", "x", "10.0.0.0/",
                                    "2001:db8::/129", "10.0.0.0/8 "}) {
        INFO(wrong);
        CHECK(parse_address_range(wrong).has_error());
    }
    CHECK(parse_address_ranges("10.0.0.0/8,2001:db8::/32")->size() == 2);
}
