// SPDX-License-Identifier: GPL-3.0-or-later
// Which listeners of rules a run can have.
#include "bhm/rule_listeners.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace postal;

namespace {

base::expected<std::vector<std::string>> resolved(const std::string& listener,
                                                  const std::vector<std::string>& listen) {
    std::vector<serve::listening_endpoint> places;
    for (const std::string& one : listen)
        places.push_back({.where = *net::parse_endpoint(one, 25)});
    behaviour::behaviour rules{"b.toml", {{.line = 7, .when = {.listener = {listener}}}}};
    const auto done = bhm::resolve_listeners(rules, places);
    if (!done) return done.error();
    return rules.rules.front().when.listener;
}

}  // namespace

TEST_CASE("rule listeners: what a connection can come in at") {
    const struct {
        std::string listener;
        std::vector<std::string> listen;
        std::string met;  // empty: none
        const char* reason;
    } table[]{
        {"127.0.0.1:25", {"127.0.0.1:25"}, "127.0.0.1:25", "the same"},
        {"127.0.0.1:25", {"[::1]:25", "127.0.0.1:25"}, "127.0.0.1:25", "one of several"},
        {"127.0.0.1:25", {"127.0.0.1:26"}, "", "another port"},
        {"127.0.0.1:25", {"127.0.0.1:0"}, "127.0.0.1:25", "a port of the kernel's choice"},
        {"127.0.0.1:0", {"127.0.0.1:0"}, "", "a port that nobody has"},
        {"127.0.0.2:25", {"127.0.0.1:25"}, "", "another address"},
        {"127.0.0.2:25", {"0.0.0.0:25"}, "127.0.0.2:25", "one of all"},
        {"0.0.0.0:25", {"0.0.0.0:25"}, "0.0.0.0:25", "all of all"},
        {"0.0.0.0:25", {"127.0.0.1:25"}, "", "all of one"},
        {"192.0.2.1:25", {"0.0.0.0:25"}, "", "of another host"},
        {"127.0.0.1:25", {"[::]:25"}, "", "of another family"},
        {"[0:0::1]:25", {"[::1]:25"}, "[::1]:25", "written otherwise"},
        {"localhost:25", {"127.0.0.1:25"}, "127.0.0.1:25", "by name"},
        {"127.0.0.1:25", {"localhost:25"}, "127.0.0.1:25", "listened on by name"},
        {"unix:/a", {"unix:/a", "127.0.0.1:25"}, "unix:/a", "a Unix socket"},
        {"unix:/a", {"unix:/b"}, "", "another Unix socket"},
        {"127.0.0.1:25", {"unix:/b"}, "", "no Unix socket"},
    };
    for (const auto& [listener, listen, met, reason] : table) {
        INFO(reason);
        const auto got = resolved(listener, listen);
        REQUIRE(got.has_value() == !met.empty());
        if (got) CHECK(*got == std::vector{met});
        if (!got)
            CHECK(got.error().message.starts_with("b.toml:7: listener: \"" + listener +
                                                  "\" can never match: this run listens on "));
    }
}

TEST_CASE("rule listeners: a name without an address is refused") {
    const auto got = resolved("no.such.name.invalid:25", {"127.0.0.1:25"});
    REQUIRE(got.has_error());
    CHECK(got.error().message.starts_with("b.toml:7: listener: "));
}
