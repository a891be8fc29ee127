// SPDX-License-Identifier: GPL-3.0-or-later
#include "sasl/mechanism.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <string_view>

using namespace postal::sasl;

TEST_CASE("sasl: names in any case, between blanks or commas, unknown ones passed over") {
    mechanism_set wanted;
    wanted.add(mechanism::plain);
    wanted.add(mechanism::scram_sha_256_plus);
    for (const std::string_view text : {"PLAIN SCRAM-SHA-256-PLUS", "plain,scram-sha-256-plus",
                                        " GSSAPI\tPlain  NTLM, ,"
                                        "Scram-SHA-256-Plus SCRAM-SHA-256-PLUSX ",
                                        "SCRAM-SHA-256-PLUS PLAIN PLAIN"}) {
        INFO(text);
        CHECK(parse_mechanisms(text) == wanted);
    }
    CHECK(parse_mechanisms("").empty());
    CHECK(parse_mechanisms("GSSAPI DIGEST-MD5 PLAI").empty());
    CHECK(to_text(wanted) == "SCRAM-SHA-256-PLUS PLAIN");
    for (std::size_t i = 0; i < mechanism_count; ++i) {
        const auto one = static_cast<mechanism>(i);
        CHECK(mechanism_of(name_of(one)) == one);
        CHECK(mechanism_set::all().has(one));
    }
}

TEST_CASE("sasl: the strongest mechanism that both sides have") {
    constexpr means password{.password = true};
    constexpr means hidden{.password = true, .may_send_secret = true};
    constexpr means bound{.password = true, .channel_binding = true, .may_send_secret = true};
    constexpr means token{.password = true, .token = true, .may_send_secret = true};
    constexpr means certificate{
        .password = true, .client_certificate = true, .may_send_secret = true};
    constexpr std::string_view everything =
        "ANONYMOUS LOGIN PLAIN CRAM-MD5 SCRAM-SHA-1 SCRAM-SHA-256 SCRAM-SHA-1-PLUS "
        "SCRAM-SHA-256-PLUS XOAUTH2 OAUTHBEARER EXTERNAL";
    const struct {
        std::string_view offered;
        means has;
        std::string_view chosen;
        std::string_view reason;
    } rows[] = {
        {everything, password, "SCRAM-SHA-256", "no channel to bind to"},
        {everything, bound, "SCRAM-SHA-256-PLUS", "bound to the channel"},
        {everything, token, "OAUTHBEARER", "a token was given on purpose"},
        {everything, certificate, "EXTERNAL", "a certificate was given on purpose"},
        {"SCRAM-SHA-1-PLUS SCRAM-SHA-256", bound, "SCRAM-SHA-1-PLUS", "bound before unbound"},
        {"SCRAM-SHA-1-PLUS SCRAM-SHA-256-PLUS", hidden, "", "nothing to bind to"},
        {"SCRAM-SHA-1 CRAM-MD5 PLAIN", hidden, "SCRAM-SHA-1", "before CRAM-MD5"},
        {"CRAM-MD5 PLAIN LOGIN", hidden, "CRAM-MD5", "before PLAIN"},
        {"LOGIN PLAIN", hidden, "PLAIN", "before LOGIN"},
        {"LOGIN PLAIN", password, "", "not in the open"},
        {"LOGIN", hidden, "LOGIN", "all there is"},
        {"XOAUTH2 PLAIN", token, "XOAUTH2", "the token first"},
        {"XOAUTH2 OAUTHBEARER", hidden, "", "no token"},
        {"XOAUTH2 PLAIN", {.token = true}, "", "a token is not shown in the open either"},
        {"EXTERNAL", hidden, "", "no certificate"},
        {"ANONYMOUS", hidden, "", "never by itself"},
        {"", hidden, "", "nothing is offered"},
    };
    for (const auto& row : rows) {
        INFO(row.reason);
        CHECK(strongest(parse_mechanisms(row.offered), row.has) == mechanism_of(row.chosen));
    }
}

TEST_CASE("sasl: the -PLUS of a SCRAM is that with the same hash") {
    const auto has = [](std::string_view names, mechanism which) {
        return has_plus_of(parse_mechanisms(names), which);
    };
    CHECK(has("SCRAM-SHA-1-PLUS", mechanism::scram_sha_1));
    CHECK(has("SCRAM-SHA-1-PLUS", mechanism::scram_sha_1_plus));
    CHECK_FALSE(has("SCRAM-SHA-1-PLUS", mechanism::scram_sha_256));
    CHECK(has("SCRAM-SHA-1 SCRAM-SHA-256-PLUS", mechanism::scram_sha_256));
    CHECK_FALSE(has("SCRAM-SHA-1 SCRAM-SHA-256 PLAIN", mechanism::scram_sha_256));
    CHECK_FALSE(has("SCRAM-SHA-1-PLUS SCRAM-SHA-256-PLUS", mechanism::plain));
}
