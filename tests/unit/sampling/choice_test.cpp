// SPDX-License-Identifier: GPL-3.0-or-later
#include "sampling/choice.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal;

TEST_CASE("sampling choice: queues that are known") {
    struct row {
        const char* text;
        const char* server;
        const char* directory;
    };
    for (const row& each :
         {row{"postfix", "postfix", ""},
          row{"postfix:/var/spool/postfix-out", "postfix", "/var/spool/postfix-out"},
          row{"exim:/a:b", "exim", "/a:b"}, row{"opensmtpd", "opensmtpd", ""}}) {
        INFO(each.text);
        const auto read = sampling::parse_queue(each.text);
        REQUIRE(read.has_value());
        CHECK(read->server() == each.server);
        CHECK(read->directory == each.directory);
    }
    for (const char* text : {"", "qmail", "postfix:", "Postfix", ":/x"}) {
        INFO(text);
        const auto read = sampling::parse_queue(text);
        REQUIRE(read.has_error());
        CHECK_THAT(read.error().message, Catch::Contains("give"));
    }
}

TEST_CASE("sampling choice: commands are split as a shell splits them, and none runs") {
    const auto read = sampling::parse_sample("disk use=/usr/bin/df --output=used '/srv/a b'");
    REQUIRE(read.has_value());
    CHECK(read->name == "disk use");
    CHECK(read->words == std::vector<std::string>{"/usr/bin/df", "--output=used", "/srv/a b"});
    struct row {
        const char* text;
        const char* said;
    };
    for (const row& each :
         {row{"/bin/date", "NAME=COMMAND"}, row{"=/bin/date", "NAME=COMMAND"},
          row{"a/b=/bin/date", "NAME=COMMAND"}, row{"x=", "no program"}, row{"x=''", "no program"},
          row{"x=ls | wc -l", "x: column 4: | is a pipe"}, row{"x=A=1 ls", "env(1)"},
          row{"x=ls 'a", "never closed"}}) {
        INFO(each.text);
        const auto refused = sampling::parse_sample(each.text);
        REQUIRE(refused.has_error());
        CHECK_THAT(refused.error().message, Catch::Contains(each.said));
    }
}

TEST_CASE("sampling choice: names are used once, and there is an end to them") {
    sampling::choice chosen;
    CHECK(sampling::add(chosen, *sampling::parse_queue("postfix")).has_value());
    CHECK(sampling::add(chosen, *sampling::parse_queue("postfix:/x")).has_value());
    CHECK_THAT(sampling::add(chosen, *sampling::parse_queue("postfix")).error().message,
               Catch::Contains("twice"));
    CHECK(sampling::add(chosen, *sampling::parse_sample("a=date")).has_value());
    CHECK_THAT(sampling::add(chosen, *sampling::parse_sample("a=id")).error().message,
               Catch::Contains("twice"));
    CHECK_THAT(sampling::add(chosen, *sampling::parse_sample("exim=id")).error().message,
               Catch::Contains("--queue"));
    for (int i = 0; i < 5; ++i)
        CHECK(
            sampling::add(chosen, *sampling::parse_sample(fmt::format("n{}=date", i))).has_value());
    CHECK_THAT(sampling::add(chosen, *sampling::parse_sample("last=date")).error().message,
               Catch::Contains("no more than 8"));
}
