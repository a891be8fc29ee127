// SPDX-License-Identifier: GPL-3.0-or-later
#include "client/auth.hpp"

#include <catch2/catch.hpp>

#include <string_view>

using namespace postal;
using namespace postal::client;

namespace {

// As --auth says it.
auth_options chosen(std::string_view method) {
    const auto named = sasl::mechanism_of(method);
    if (named) return {.way = auth_way::named, .named = *named, .token_file = {}};
    return {.way = method == "off" ? auth_way::without_sasl : auth_way::strongest,
            .token_file = {}};
}

}  // namespace

TEST_CASE("client: which mechanism it is on a connection, or why none") {
    const struct {
        std::string_view method, offered;
        bool insecure, secure, bound, password;
        std::string_view token, outcome, reason;
    } rows[] = {
        {"auto", "PLAIN CRAM-MD5", false, false, false, true, "", "CRAM-MD5", "the strongest"},
        {"auto", "PLAIN LOGIN", false, false, false, true, "", "no_mechanism", "not in the open"},
        {"auto", "PLAIN LOGIN", true, false, false, true, "", "PLAIN", "asked for"},
        {"auto", "PLAIN LOGIN", false, true, false, true, "", "PLAIN", "TLS hides it"},
        {"auto", "PLAIN XOAUTH2", false, true, false, true, "t", "XOAUTH2", "a token is there"},
        {"auto", "PLAIN", false, true, false, false, "t", "no_mechanism", "no password"},
        {"auto", "SCRAM-SHA-1-PLUS", false, true, true, true, "", "SCRAM-SHA-1-PLUS", "bound"},
        {"auto", "", false, true, true, true, "", "no_mechanism", "nothing is offered"},
        {"PLAIN", "PLAIN", false, false, false, true, "", "insecure", "not in the open"},
        {"PLAIN", "PLAIN", true, false, false, true, "", "PLAIN", "asked for"},
        {"PLAIN", "LOGIN", true, true, false, true, "", "not_offered", "the server has it not"},
        {"SCRAM-SHA-1-PLUS", "SCRAM-SHA-1-PLUS", false, true, false, true, "", "no_channel_binding",
         "nothing to bind to"},
        {"ANONYMOUS", "ANONYMOUS", false, false, false, false, "", "ANONYMOUS", "named"},
        {"EXTERNAL", "EXTERNAL", false, false, false, false, "", "EXTERNAL", "named"},
    };
    for (const auto& row : rows) {
        INFO(row.method << " of " << row.offered << ": " << row.reason);
        auth_plan plan;
        plan.chosen = chosen(row.method);
        plan.chosen.insecure = row.insecure;
        plan.token = row.token;
        const auth_choice got =
            choose_mechanism(plan, {.offered = sasl::parse_mechanisms(row.offered),
                                    .secure = row.secure,
                                    .channel_binding = row.bound,
                                    .password = row.password});
        CHECK((got.which ? sasl::name_of(*got.which) : got.problem) == row.outcome);
        CHECK(got.words.empty() == got.which.has_value());
    }
}

TEST_CASE("client: who needs a password in the list") {
    auth_plan plan;
    CHECK_FALSE(plan.needs_passwords());
    for (const std::string_view method : {"auto", "PLAIN", "SCRAM-SHA-256", "XOAUTH2"}) {
        plan.chosen = chosen(method);
        plan.token.clear();
        CHECK(plan.needs_passwords());
        CHECK(plan.token_for("password") == "password");
    }
    plan.token = "token";
    CHECK_FALSE(plan.needs_passwords());
    CHECK(plan.token_for("password") == "token");
    plan.token.clear();
    for (const std::string_view method : {"EXTERNAL", "ANONYMOUS", "off"}) {
        plan.chosen = chosen(method);
        CHECK_FALSE(plan.needs_passwords());
    }
}
