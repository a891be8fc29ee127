// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/headers.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal::lmtp_deliver;

namespace {

struct envelope {
    envelope() : of(run.storage) {
        run.host_name = "mx.example";
        of.id = "ID1";
        of.client = "192.0.2.7";
        of.helo = "client.example";
        of.how = {.lmtp = true};
        of.reverse_path = "a@example.com";
        of.recipients.push_back({.address = "b c@example.net", .written = "\"b c\"@example.net"});
    }
    plan run;
    transaction of;
};

// Without what follows the semicolon, which is the time.
std::string before_date(const std::string& text) {
    return text.substr(0, text.find(';'));
}

}  // namespace

TEST_CASE("headers: none unless they are asked for") {
    envelope mail;
    CHECK(headers(mail.run, mail.of, &mail.of.recipients.front()).empty());
}

TEST_CASE("headers: each, and all in the order of trace fields") {
    envelope mail;
    const mailbox& to = mail.of.recipients.front();
    mail.run.chosen.headers.delivered_to = true;
    CHECK(headers(mail.run, mail.of, &to) == "Delivered-To: \"b c\"@example.net\r\n");
    CHECK(headers(mail.run, mail.of, nullptr).empty());
    mail.run.chosen.headers.return_path = true;
    mail.run.chosen.headers.received = true;
    const std::string all = headers(mail.run, mail.of, &to);
    CHECK(before_date(all) ==
          "Return-Path: <a@example.com>\r\nDelivered-To: \"b c\"@example.net\r\n"
          "Received: from client.example ([192.0.2.7])\r\n\tby mx.example with LMTP id ID1\r\n"
          "\tfor <\"b c\"@example.net>");
    CHECK(all.substr(all.size() - 8) == " +0000\r\n");
}

TEST_CASE("headers: null senders, IPv6 and Unix sockets") {
    envelope mail;
    mail.run.chosen.headers.return_path = true;
    mail.of.reverse_path = "";
    CHECK(headers(mail.run, mail.of, nullptr) == "Return-Path: <>\r\n");
    mail.run.chosen.headers = {.received = true};
    mail.of.client = "2001:db8::1";
    CHECK(before_date(headers(mail.run, mail.of, nullptr)) ==
          "Received: from client.example ([IPv6:2001:db8::1])\r\n\tby mx.example with LMTP id ID1");
    mail.of.client = "unix";
    CHECK(before_date(headers(mail.run, mail.of, nullptr)) ==
          "Received: from client.example\r\n\tby mx.example with LMTP id ID1");
}

TEST_CASE("headers: what a client calls itself is a host's name, or nothing") {
    envelope mail;
    mail.run.chosen.headers.received = true;
    struct row {
        std::string helo, wanted;
    };
    for (const row& each : {row{"a.example", "a.example"}, row{"[192.0.2.9]", "[192.0.2.9]"},
                            row{"foo)\xff (x <evil>", "unknown"}, row{"", "unknown"}}) {
        INFO(each.helo);
        mail.of.helo = each.helo;
        CHECK(headers(mail.run, mail.of, nullptr)
                  .starts_with("Received: from " + each.wanted + " ("));
    }
}
