// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/envelope_options.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal;
using namespace postal::sender;

TEST_CASE("envelope options: --dsn") {
    struct row {
        std::string given, notify, ret, refusal;
    };
    const row rows[] = {
        {"notify=success+failure,ret=hdrs", "SUCCESS,FAILURE", "HDRS", ""},
        {"ret=FULL", "", "FULL", ""},
        {"notify=Never", "NEVER", "", ""},
        {"notify=delay+success+failure", "DELAY,SUCCESS,FAILURE", "", ""},
        {"notify=never+success", "", "",
         "\"never+success\" is not never, nor some of success+failure+delay"},
        {"notify=", "", "", "\"\" is not never, nor some of success+failure+delay"},
        {"notify=delay+delay", "", "",
         "\"delay+delay\" is not never, nor some of success+failure+delay"},
        {"ret=body", "", "", "\"body\" is neither full nor hdrs"},
        {"ret=full,ret=hdrs", "", "", "ret is given twice"},
        {"envid=1", "", "", "\"envid\" is not known; there are notify= and ret="},
        {"success", "", "", "\"success\" is not as in notify=success+failure,ret=hdrs"},
        {"", "", "", "\"\" is not as in notify=success+failure,ret=hdrs"},
    };
    for (const row& one : rows) {
        INFO(one.given);
        const auto parsed = parse_dsn(one.given);
        CHECK(parsed.has_value() == one.refusal.empty());
        if (!parsed) {
            CHECK(parsed.error().message == one.refusal);
            continue;
        }
        CHECK(parsed->wanted);
        CHECK(parsed->notify == one.notify);
        CHECK(parsed->ret == one.ret);
    }
}

TEST_CASE("envelope options: parameters that are passed through") {
    passed_parameters passed;
    const auto take = passed_parameter(passed);
    CHECK(take("BY=120;R").has_value());
    CHECK(take("REQUIRETLS").has_value());
    CHECK(passed.text == "BY=120;R REQUIRETLS");
    CHECK(passed.has("requiretls"));
    CHECK_FALSE(passed.has("SIZE"));
    CHECK(take("by=1;N").error().message == "by is given twice");
    CHECK(take("A=b c").error().message == "\"A=b c\" is not KEY or KEY=VALUE as RFC 5321 has it");
    CHECK(take("A=1\r\nQUIT").error().message ==
          "\"A=1\\r\\nQUIT\" is not KEY or KEY=VALUE as RFC 5321 has it");
    CHECK(passed.given.size() == 2);
}

TEST_CASE("envelope options: what --dsn says is not passed through too") {
    const dsn_request dsn{true, "NEVER", ""};
    passed_parameters ret;
    passed_parameters notify;
    const passed_parameters none;
    CHECK(passed_parameter(ret)("ret=FULL").has_value());
    CHECK(passed_parameter(notify)("NOTIFY=NEVER").has_value());
    CHECK(check(dsn, none, none).has_value());
    CHECK(check({}, ret, notify).has_value());
    CHECK(check(dsn, ret, none).error().message ==
          "--mail-parameter: RET is said by --dsn; leave one of the two out");
    CHECK(check(dsn, none, notify).error().message ==
          "--rcpt-parameter: NOTIFY is said by --dsn; leave one of the two out");
}
