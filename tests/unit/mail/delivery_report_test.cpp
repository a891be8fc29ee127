// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/delivery_report.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "mail/delivery_status.hpp"

using namespace postal;
using mail::delivery_action;
using mail::delivery_report;
using mail::read_delivery_report;

namespace {

mail::identity someone() {
    mail::identity id;
    id.run = 0xabc;
    id.session = 3;
    id.sequence = 17;
    id.size = 900;
    id.head = 300;
    return id;
}

std::string original(const std::string& before = "") {
    return before + "From: <a@example.org>\r\nX-Postal-Id: " + mail::to_text(someone()) +
           "\r\nSubject: one\r\n\r\n";
}

struct pieces {
    std::string type = "multipart/report; report-type=delivery-status; boundary=\"b/1\"";
    std::string boundary = "b/1";
    std::string status_type = "message/delivery-status";
    std::string groups =
        "Final-Recipient: rfc822; b@example.com\r\nAction: failed\r\nStatus: 5.7.1\r\n"
        "Diagnostic-Code: smtp; 550 5.7.1 no\r\n";
    std::string original_type = "message/rfc822";
    std::string of = original() + "body\r\n";
};

std::string text_of(const pieces& with) {
    const std::string begin = "--" + with.boundary;
    return "From: MAILER-DAEMON\r\nContent-Type: " + with.type + "\r\n\r\nfor old readers\r\n" +
           begin + "\r\n\r\nwords\r\n" + begin + "\r\nContent-Type: " + with.status_type +
           "\r\n\r\nReporting-MTA: dns; mx.example\r\n\r\n" + with.groups + "\r\n" + begin +
           "\r\nContent-Type: " + with.original_type + "\r\n\r\n" + with.of + "\r\n" + begin +
           "--\r\n";
}

// "address action status|diagnostic" of each.
std::string told(const std::optional<delivery_report>& report) {
    if (!report) return "none";
    CHECK(report->of == someone());
    constexpr std::array names{"failed", "delayed", "delivered", "relayed", "expanded"};
    std::string out;
    for (const mail::reported_recipient& one : report->recipients) {
        out += (out.empty() ? "" : "; ") + one.address + " " +
               names.at(static_cast<std::size_t>(one.action)) + " " + one.status + "|" +
               one.diagnostic;
    }
    return out;
}

pieces with(std::string pieces::*member, std::string text) {
    pieces result;
    result.*member = std::move(text);
    return result;
}

std::string with_lf(std::string text) {
    std::erase(text, '\r');
    return text;
}

}  // namespace

TEST_CASE("delivery_report: who did not get what") {
    const std::string plain = "b@example.com failed 5.7.1|550 5.7.1 no";
    const struct {
        const char* why;
        pieces of;
        std::string wanted;
    } rows[]{
        {"as Postfix says it", {}, plain},
        {"names and types of any case",
         with(&pieces::type, "Multipart/Report; Boundary=b/1;\r\n\tREPORT-TYPE=Delivery-Status"),
         plain},
        {"the header section alone", with(&pieces::original_type, "text/rfc822-headers"), plain},
        {"an original in UTF-8", with(&pieces::original_type, "message/global-headers"), plain},
        {"an encoded one",
         with(&pieces::original_type,
              "text/rfc822-headers\r\nContent-Transfer-Encoding: quoted-printable"),
         "none"},  // its "=" are codes: no identity can be read
        {"the address that it was sent to, not the alias's",
         with(&pieces::groups,
              "Original-Recipient: rfc822;alias@example.com\r\nFinal-Recipient: rfc822;b@x\r\n"
              "Action: failed\r\nStatus: 5.1.1\r\n"),
         "alias@example.com failed 5.1.1|"},
        {"several, of several fates",
         with(&pieces::groups,
              "Final-Recipient: rfc822; b@x\r\nAction: FAILED (bad)\r\nStatus: 4.4.7 (old)\r\n"
              "\r\n\r\nFinal-Recipient: rfc822; <c@x>\r\nStatus: 4.0.0\r\nAction: delayed\r\n"
              "\r\nFinal-Recipient: rfc822; d@x\r\nAction: relayed\r\nStatus: 2.0.0\r\n"),
         "b@x failed 4.4.7|; c@x delayed 4.0.0|; d@x relayed 2.0.0|"},
        {"folded, with a status that is none",
         with(&pieces::groups,
              "Final-Recipient:\r\n rfc822;\r\n\tb@x\r\nAction: failed\r\nStatus: 9.1\r\n"
              "Diagnostic-Code: smtp; 550-one\r\n    550 two\x07\r\n"),
         "b@x failed |550-one 550 two."},
        {"an address in UTF-8, in seven bits",
         with(&pieces::groups,
              "Final-Recipient: utf-8; j\\x{F6}rg\\x{1F4E7}\\x{}@x\r\nAction: failed\r\n"),
         "j\xc3\xb6rg\xf0\x9f\x93\xa7\\x{}@x failed |"},
        {"an action that nobody knows",
         with(&pieces::groups, "Final-Recipient: rfc822; b@x\r\nAction: eaten\r\n"), "none"},
        {"nobody's", with(&pieces::groups, "Action: failed\r\nStatus: 5.0.0\r\n"), "none"},
        {"an address with a control character",
         with(&pieces::groups, "Final-Recipient: rfc822; b\x01@x\r\nAction: failed\r\n"), "none"},
        {"about somebody else's message", with(&pieces::of, "Subject: x\r\n\r\nbody\r\n"), "none"},
        {"an identity in the body only", with(&pieces::of, "Subject: x\r\n\r\n" + original()),
         "none"},
        {"another report",
         with(&pieces::type, "multipart/report; report-type=mdn; boundary=\"b/1\""), "none"},
        {"no report", with(&pieces::type, "multipart/mixed; boundary=\"b/1\""), "none"},
        {"no boundary", with(&pieces::type, "multipart/report; report-type=delivery-status"),
         "none"},
        {"parts of another boundary", with(&pieces::boundary, "other"), "none"},
    };
    for (const auto& row : rows) {
        INFO(row.why);
        const std::string text = text_of(row.of);
        const std::string printed = told(read_delivery_report(text));
        if (row.wanted.find("two.") != std::string::npos) {
            CHECK(
                printed.starts_with("b@x failed |550-one 550 two"));  // printable, whatever that is
            continue;
        }
        CHECK(printed == row.wanted);
        CHECK(told(read_delivery_report(with_lf(text))) == row.wanted);
    }
}

TEST_CASE("delivery_report: what bhm says is understood, whatever the original was") {
    for (const char* before : {"", "X-Odd: \xff\xfe=\r\n", "Long: 0123456789\r\n"}) {
        const std::vector<std::string> recipients{"b@example.com", "j\xc3\xb6rg@example.com"};
        const std::string octets = original(before) + "body\r\n";
        const std::string text = mail::make_delivery_status({.host = "mx.example",
                                                             .reverse_path = "a@example.org",
                                                             .recipients = recipients,
                                                             .status = "5.2.1",
                                                             .diagnostic = "550 5.2.1 Bounced",
                                                             .original = octets,
                                                             .number = 7});
        CHECK(mail::may_be_delivery_report(text));
        CHECK(told(read_delivery_report(text)) ==
              "b@example.com failed 5.2.1|550 5.2.1 Bounced; j\xc3\xb6rg@example.com failed "
              "5.2.1|550 5.2.1 Bounced");
    }
}

TEST_CASE("delivery_report: a text that ends anywhere does no harm") {
    const std::string text = text_of({});
    std::size_t reports = 0;
    for (std::size_t end = 0; end <= text.size(); ++end)
        reports += read_delivery_report(std::string_view(text).substr(0, end)) ? 1U : 0U;
    CHECK(reports > 0);
    CHECK(mail::may_be_delivery_report(text.substr(0, text.find("for old"))));
    CHECK_FALSE(mail::may_be_delivery_report("Subject: multipart/report\r\n\r\n"));
    CHECK_FALSE(read_delivery_report(""));
}

TEST_CASE("delivery_report: bounds hold") {
    std::string groups;
    for (std::size_t each = 0; each < 2 * delivery_report::most_recipients; ++each)
        groups += "Final-Recipient: t;b\nAction: failed\n\n";
    const auto many = read_delivery_report(text_of(with(&pieces::groups, groups)));
    REQUIRE(many.has_value());
    CHECK(many->recipients.size() == delivery_report::most_recipients);
    const std::string far(70'000, 'x');
    CHECK_FALSE(
        read_delivery_report(text_of(with(&pieces::of, "X: " + far + "\r\n" + original()))));
    CHECK_FALSE(read_delivery_report(text_of(
        with(&pieces::groups, "Final-Recipient: rfc822;" + far + "\r\nAction: failed\r\n"))));
    std::string parts;
    for (int each = 0; each < 20; ++each)
        parts += "--b/1\r\n\r\n";
    CHECK_FALSE(read_delivery_report("Content-Type: " + pieces().type + "\r\n\r\n" + parts +
                                     text_of({}).substr(text_of({}).find("--b/1"))));
}
