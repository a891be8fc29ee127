#include "client/auth.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

using namespace postal;
using namespace postal::client;

namespace {

// What `--auth given` comes to, where doing without is called `without`.
std::string parsed(const std::string& given, const std::string& without) {
    auth_options options;
    const auto rows = auth_option_rows(options, without);
    const auto done = rows.front().set(given);
    if (!done) return done.error().message;
    if (options.way == auth_way::named) return std::string(sasl::name_of(options.named));
    return options.way == auth_way::strongest ? "the strongest" : "none";
}

}  // namespace

TEST_CASE("client: what --auth says") {
    CHECK(parsed("off", "off") == "none");
    CHECK(parsed("auto", "off") == "the strongest");
    CHECK(parsed("scram-sha-256", "off") == "SCRAM-SHA-256");
    CHECK(parsed("login", "off") == "LOGIN");
    CHECK(parsed("login", "login") == "none");
    CHECK(parsed("LOGIN", "login") == "LOGIN");
    CHECK(parsed("NTLM", "off").find("\"NTLM\" is no mechanism; give off, auto or") == 0);
}

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
        REQUIRE(
            auth_option_rows(plan.chosen, "off").front().set(std::string(row.method)).has_value());
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
    for (const std::string method : {"auto", "PLAIN", "SCRAM-SHA-256", "XOAUTH2"}) {
        REQUIRE(auth_option_rows(plan.chosen, "off").front().set(method).has_value());
        plan.token.clear();
        CHECK(plan.needs_passwords());
        CHECK(plan.token_for("password") == "password");
    }
    plan.token = "token";
    CHECK_FALSE(plan.needs_passwords());
    CHECK(plan.token_for("password") == "token");
    plan.token.clear();
    for (const std::string method : {"EXTERNAL", "ANONYMOUS", "off"}) {
        REQUIRE(auth_option_rows(plan.chosen, "off").front().set(method).has_value());
        CHECK_FALSE(plan.needs_passwords());
    }
}
