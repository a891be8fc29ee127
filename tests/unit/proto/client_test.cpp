// SPDX-License-Identifier: GPL-3.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "proto/smtp/capabilities.hpp"
#include "proto/smtp/client_commands.hpp"

using namespace postal::proto;

TEST_CASE("capabilities: keywords in any case, parameters where they have some") {
    capabilities offered;
    for (const char* line : {"pipelining", "SIZE 10240", "8BITMIME", "Chunking", "X-OTHER y",
                             "SMTPUTF8", "PIPELININGX", ""}) {
        offered.add(line);
    }
    CHECK(offered.pipelining);
    CHECK(offered.chunking);
    CHECK(offered.eight_bit_mime);
    CHECK(offered.smtputf8);
    CHECK(offered.size);
}

TEST_CASE("capabilities: the mechanisms of AUTH") {
    CHECK(auth_mechanisms("AUTH PLAIN LOGIN") == "PLAIN LOGIN");
    CHECK(auth_mechanisms("auth=LOGIN PLAIN ") == "LOGIN PLAIN");
    for (const char* line : {"AUTH", "AUTH ", "AUTHX PLAIN", "XAUTH PLAIN", "SIZE 1", ""})
        CHECK(auth_mechanisms(line).empty());
}

TEST_CASE("client_commands: AUTH, and the room behind it") {
    std::string out;
    append_auth_command(out, "CRAM-MD5", "");
    append_auth_command(out, "EXTERNAL", "=");
    CHECK(out == "AUTH CRAM-MD5\r\nAUTH EXTERNAL =\r\n");
    out.clear();
    append_auth_command(out, "PLAIN", std::string(room_behind_auth("PLAIN"), 'A'));
    CHECK(out.size() == 512);
}

TEST_CASE("client_commands: MAIL has no blank behind its colon") {
    std::string out;
    append_mail(out, "a@example.com", {});
    CHECK(out == "MAIL FROM:<a@example.com>\r\n");
    out.clear();
    append_mail(out, "", {.size = 5, .eight_bit_mime = true, .smtputf8 = true});
    CHECK(out == "MAIL FROM:<> SIZE=5 BODY=8BITMIME SMTPUTF8\r\n");
}

TEST_CASE("client_commands: the others") {
    std::string out;
    append_greeting(out, "EHLO", "host.example");
    append_rcpt(out, "b@example.com");
    append_bdat_last(out, 86);
    CHECK(out == "EHLO host.example\r\nRCPT TO:<b@example.com>\r\nBDAT 86 LAST\r\n");
}

TEST_CASE("client commands: parameters of DSN, and those that are passed through") {
    std::string out;
    append_mail(
        out, "a@example.com",
        {.size = 5, .ret = "HDRS", .envid = "0f.1.2@a+b=c.example", .others = "BY=120;R X-Y"});
    CHECK(out ==
          "MAIL FROM:<a@example.com> SIZE=5 RET=HDRS ENVID=0f.1.2@a+2Bb+3Dc.example BY=120;R "
          "X-Y\r\n");
    out.clear();
    append_rcpt(out, "b+list@example.com",
                {.notify = "SUCCESS,DELAY", .orcpt = true, .others = "X-Z=1"});
    CHECK(out ==
          "RCPT TO:<b+list@example.com> NOTIFY=SUCCESS,DELAY ORCPT=rfc822;b+2Blist@example.com "
          "X-Z=1\r\n");
    capabilities offered;
    CHECK_FALSE(offered.dsn);
    offered.add("dsn");
    CHECK(offered.dsn);
}
