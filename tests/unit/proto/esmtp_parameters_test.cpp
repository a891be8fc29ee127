// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/smtp/esmtp_parameters.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal::proto;

TEST_CASE("esmtp parameters: keyword and value") {  // RFC 5321 4.1.2
    struct row {
        std::string_view parameter, keyword;
    };
    const row rows[] = {{"SIZE=5", "SIZE"},
                        {"SMTPUTF8", "SMTPUTF8"},
                        {"x-a=b;c/d@e+f", "x-a"},
                        {"8BIT", "8BIT"},
                        {"", ""},
                        {"=5", ""},
                        {"A=", ""},
                        {"A=b=c", ""},
                        {"-A=1", ""},
                        {"A B", ""},
                        {"A=b c", ""},
                        {"A=b\r\nQUIT", ""},
                        {"A=b\tc", ""},
                        {"A_B=1", ""},
                        {"A=\x7f", ""},
                        {"A=\xc3\xa4", ""}};
    for (const row& one : rows) {
        INFO(one.parameter);
        CHECK(esmtp_keyword(one.parameter) == one.keyword);
    }
}

TEST_CASE("esmtp parameters: xtext") {  // RFC 3461 4
    std::string all;
    for (int octet = 0; octet < 256; ++octet)
        all += static_cast<char>(octet);
    std::string encoded;
    append_xtext(encoded, all);
    CHECK(is_xtext(encoded));
    CHECK(encoded.find("+2B") != std::string::npos);
    CHECK(encoded.find("+3D") != std::string::npos);
    CHECK(encoded.find("+20!") != std::string::npos);
    CHECK(encoded.ends_with("+FF"));
    CHECK(is_xtext(""));
    for (const char* wrong : {"+", "+2", "a+2b", "a b", "a=b", "+GG", "\x80", "a\n"}) {
        INFO(wrong);
        CHECK_FALSE(is_xtext(wrong));
    }
}

TEST_CASE("esmtp parameters: the values of extensions") {
    struct row {
        bool (*is)(std::string_view) noexcept;
        std::string value;
        bool wanted;
    };
    const row rows[] = {
        {is_auth_value, "<>", true},
        {is_auth_value, "user@example.com", true},
        {is_auth_value, "user+2Btag@example.com", true},
        {is_auth_value, "+22two+20words+22@example.com", true},
        {is_auth_value, "user", true},
        {is_auth_value, "", false},
        {is_auth_value, "<a@example.com>", false},
        {is_auth_value, "two+20words@example.com", false},
        {is_auth_value, "user+2", false},
        {is_auth_value, std::string(501, 'a'), false},
        {is_notify_value, "never", true},
        {is_notify_value, "SUCCESS,failure,Delay", true},
        {is_notify_value, "DELAY", true},
        {is_notify_value, "NEVER,DELAY", false},
        {is_notify_value, "DELAY,DELAY", false},
        {is_notify_value, "DELAY,", false},
        {is_notify_value, "", false},
        {is_orcpt_value, "rfc822;a+2Bb@example.com", true},
        {is_orcpt_value, "rfc822;", false},
        {is_orcpt_value, ";a", false},
        {is_orcpt_value, "a@example.com", false},
        {is_orcpt_value, "rfc822;a+b", false},
        {is_orcpt_value, "rfc822;" + std::string(493, 'a'), true},
        {is_orcpt_value, "rfc822;" + std::string(494, 'a'), false},
        {is_ret_value, "full", true},
        {is_ret_value, "HDRS", true},
        {is_ret_value, "BODY", false},
        {is_envid_value, std::string(100, 'a'), true},
        {is_envid_value, std::string(101, 'a'), false},
        {is_envid_value, "", false},
        {is_envid_value, "+", false},
        {is_by_value, "120;R", true},
        {is_by_value, "999999999;nt", true},
        {is_by_value, "-5;N", true},
        {is_by_value, "0;NT", true},
        {is_by_value, "0;R", false},
        {is_by_value, "-5;R", false},
        {is_by_value, "1000000000;R", false},
        {is_by_value, "120", false},
        {is_by_value, "120;X", false},
        {is_by_value, "120;T", false},
        {is_by_value, ";R", false},
        {is_by_value, "1x;R", false},
        {is_mt_priority_value, "0", true},
        {is_mt_priority_value, "9", true},
        {is_mt_priority_value, "-9", true},
        {is_mt_priority_value, "-0", false},
        {is_mt_priority_value, "10", false},
        {is_mt_priority_value, "+3", false},
        {is_mt_priority_value, "", false},
    };
    for (const row& one : rows) {
        INFO(one.value);
        CHECK(one.is(one.value) == one.wanted);
    }
}
