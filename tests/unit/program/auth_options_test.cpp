// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/auth_options.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal;
using namespace postal::program;

namespace {

// What `--auth given` comes to, where doing without is called `without`.
std::string parsed(const std::string& given, const std::string& without) {
    client::auth_options options;
    const auto rows = auth_option_rows(options, without);
    const auto done = rows.front().set(given);
    if (!done) return done.error().message;
    if (options.way == client::auth_way::named) return std::string(sasl::name_of(options.named));
    return options.way == client::auth_way::strongest ? "the strongest" : "none";
}

}  // namespace

TEST_CASE("program: what --auth says") {
    CHECK(parsed("off", "off") == "none");
    CHECK(parsed("auto", "off") == "the strongest");
    CHECK(parsed("scram-sha-256", "off") == "SCRAM-SHA-256");
    CHECK(parsed("login", "off") == "LOGIN");
    CHECK(parsed("login", "login") == "none");
    CHECK(parsed("LOGIN", "login") == "LOGIN");
    CHECK(parsed("NTLM", "off").find("\"NTLM\" is no mechanism; give off, auto or") == 0);
}
