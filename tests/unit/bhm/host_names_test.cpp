// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/host_names.hpp"

#include <catch2/catch.hpp>

#include <string>

using postal::bhm::host_names;

TEST_CASE("host_names: names by address, the first name and the first line count") {
    const auto names = host_names::parse(
        "# comment\n\n127.0.0.1\tlocal.example alias # more\r\n127.0.0.1 second.example\n"
        "::1 six.example\n192.0.2.1 mapped.example\nfe80::1%eth0 link.example\n",
        "hosts");
    REQUIRE(names.has_value());
    using postal::net::parse_ip;
    CHECK(names->name_of(*parse_ip("127.0.0.1")) == "local.example");
    CHECK(names->name_of(*parse_ip("::1")) == "six.example");
    CHECK(names->name_of(*parse_ip("::ffff:192.0.2.1")) == "mapped.example");
    CHECK(names->name_of(*parse_ip("fe80::1")) == "link.example");
    CHECK(names->name_of(*parse_ip("127.0.0.2")) == "bhm");
}

TEST_CASE("host_names: a broken file is refused with its line and reason") {
    struct row {
        std::string text, wanted;
    };
    const row rows[] = {
        {"127.0.0.1 a.example\nlocalhost a.example\n",
         "hosts:2: \"localhost\" is not an IP address"},
        {"127.0.0.1\n", "hosts:1: a name must follow the address"},
        {"127.0.0.1 a b\n127.0.0.2 a..b\n", "hosts:2: \"a..b\" is not a host name"},
        {"127.0.0.1 <evil>\n", "hosts:1: \"<evil>\" is not a host name"},
        {"# nothing\n", "hosts: no line with an address and a name"},
    };
    for (const row& one : rows) {
        const auto names = host_names::parse(one.text, "hosts");
        REQUIRE_FALSE(names.has_value());
        CHECK(names.error().message == one.wanted);
    }
    CHECK_FALSE(host_names::load("/").has_value());
    CHECK_FALSE(host_names::load("/no/such/file").has_value());
}
