// SPDX-License-Identifier: GPL-3.0-or-later
// Names of errors and what they mean.
#include "base/error_names.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>

using namespace postal::base;

TEST_CASE("error names: every row is whole, and its name stands in its list once") {
    for (const auto rows : {error_stages(), error_reasons()}) {
        std::set<std::string_view> names;
        for (const error_explanation& one : rows) {
            INFO(one.name);
            CHECK(names.insert(one.name).second);
            CHECK_FALSE(one.counts.empty());
            for (const auto text : {one.counts, one.cause, one.remedy})
                CHECK_FALSE(text.ends_with('.'));
        }
    }
}

TEST_CASE("error names: explained by name, all together, or with the nearest") {
    const auto timeout = explain_error("timeout");
    REQUIRE(timeout.has_value());
    CHECK(timeout->starts_with("timeout (a reason): the peer did not answer in time\n"));
    const auto tls = explain_error("tls");  // both a stage and a reason
    REQUIRE(tls.has_value());
    CHECK(tls->find("tls (a stage)") != std::string::npos);
    CHECK(tls->find("tls (a reason)") != std::string::npos);
    const auto alert = explain_error("alert_handshake_failure");
    REQUIRE(alert.has_value());
    CHECK(alert->find("alert_handshake_failure") != std::string::npos);
    const auto code = explain_error("550");
    REQUIRE(code.has_value());
    CHECK(code->find("for good") != std::string::npos);
    CHECK(explain_error("451")->find("for now") != std::string::npos);
    const auto all = explain_error("");
    REQUIRE(all.has_value());
    for (const error_explanation& one : error_reasons())
        CHECK(all->find("  " + std::string(one.name) + " ") != std::string::npos);
    CHECK(explain_error("foo").error().message.find("did you mean") == std::string::npos);
    CHECK(explain_error("tiemout").error().message.find("did you mean timeout?") !=
          std::string::npos);
    CHECK_FALSE(explain_error("no such name").has_value());
    CHECK_FALSE(explain_error("99").has_value());
    CHECK_FALSE(explain_error("250").has_value());
}

TEST_CASE("error names: a name is made from a row's name") {
    constexpr error_name reason = "timeout";
    CHECK(reason.text() == "timeout");
    CHECK(error_name().text().empty());
    STATIC_REQUIRE(is_error_reason("alert_protocol_version"));
    STATIC_REQUIRE_FALSE(is_error_reason("rcpt"));
    STATIC_REQUIRE(is_error_stage("rcpt"));
}
