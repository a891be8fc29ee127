// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/delivery_status.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "mail/transfer_encoding.hpp"

using namespace postal;

namespace {

std::string made(std::string_view original, std::vector<std::string> recipients = {"b@example.com"},
                 std::string_view reverse_path = "a@example.org") {
    return mail::make_delivery_status(
        {.host = "mx.example",
         .reverse_path = reverse_path,
         .recipients = recipients,
         .status = "5.2.1",
         .diagnostic = "550 5.2.1 Bounced on request",
         .original = original,
         .number = 7,
         .now = std::chrono::system_clock::time_point(std::chrono::seconds(1795208350))});
}

std::string boundary_of(const std::string& text) {
    const std::string mark = "boundary=\"";
    const std::size_t begin = text.find(mark) + mark.size();
    return text.substr(begin, text.find('"', begin) - begin);
}

std::size_t how_often(std::string_view what, std::string_view in) {
    std::size_t found = 0;
    for (std::size_t at = in.find(what); at != in.npos; at = in.find(what, at + 1))
        ++found;
    return found;
}

// What stands in the last part, behind its own header.
std::string last_part(const std::string& text) {
    const std::string end = "\r\n--" + boundary_of(text) + "--\r\n";
    REQUIRE(text.ends_with(end));
    const std::size_t part = text.find("Content-Type: text/rfc822-headers\r\n");
    REQUIRE(part != std::string::npos);
    const std::size_t begin = text.find("\r\n\r\n", part) + 4;
    return text.substr(begin, text.size() - end.size() - begin);
}

bool is_seven_bit_lines(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find("\r\n");
        if (end == text.npos || end > 998) return false;
        for (const char c : text.substr(0, end)) {
            if (c != '\t' && (c < ' ' || c > '~')) return false;
        }
        text.remove_prefix(end + 2);
    }
    return true;
}

}  // namespace

TEST_CASE("delivery status: says to whom, about whom, and that nobody shall answer") {
    const std::string text = made("Subject: one\r\nFrom: <a@example.org>\r\n\r\nbody\r\n",
                                  {"b@example.com", "\"c d\"@example.com"});
    for (const char* wanted :
         {"From: Mail Delivery System <MAILER-DAEMON@mx.example>\r\n", "To: <a@example.org>\r\n",
          "Date: Fri, 20 Nov 2026 20:59:10 +0000\r\n", "Auto-Submitted: auto-replied\r\n",
          "Message-ID: <0000000000000007.report@mx.example>\r\n",
          "Content-Type: multipart/report; report-type=delivery-status;\r\n",
          "\r\nReporting-MTA: dns; mx.example\r\n",
          "\r\n\r\nFinal-Recipient: rfc822; b@example.com\r\nAction: failed\r\nStatus: 5.2.1\r\n"
          "Diagnostic-Code: smtp; 550 5.2.1 Bounced on request\r\n",
          "\r\n\r\nFinal-Recipient: rfc822; \"c d\"@example.com\r\n"}) {
        CAPTURE(wanted);
        CHECK(text.find(wanted) != std::string::npos);
    }
    CHECK(last_part(text) == "Subject: one\r\nFrom: <a@example.org>\r\n");
    CHECK(text.find("body") == std::string::npos);
    CHECK(is_seven_bit_lines(text));
}

TEST_CASE("delivery status: of the original its header section, whatever that is") {
    const std::string at_the_limit =
        std::string(mail::delivery_status::most_of_original - 7, 'x');  // and what stands around it
    struct row {
        std::string original, wanted, reason;
    };
    const row rows[] = {
        {"A: b\r\n\r\ntext", "A: b\r\n", "a body behind it"},
        {"A: b\r\n", "A: b\r\n", "no body"},
        {"\r\ntext\r\n", "", "no header field"},
        {"", "", "nothing at all"},
        {"A: b\r\nC: d", "A: b\r\n", "a line that is not whole"},
        {"no header\r\nat all\r\n", "no header\r\nat all\r\n", "not our business"},
        {"A: b\r\n\tc\r\n\r\n", "A: b\r\n\tc\r\n", "a folded field"},
    };
    for (const row& one : rows) {
        CAPTURE(one.original, one.reason);
        CHECK(last_part(made(one.original)) == one.wanted);
    }
    CHECK(last_part(made("A: b\r\n" + at_the_limit + "\r\n\r\n")) == "A: b\r\n");
}

TEST_CASE("delivery status: a hostile original does not break out of its part") {
    const std::string ours = boundary_of(made("A: b\r\n\r\n"));
    const std::string rows[] = {
        "--" + ours + "\r\nContent-Type: text/html\r\n",
        "--" + ours + "--\r\nA: b\r\n",
        "A: b\r\n.\r\nMAIL FROM:<x@example.com>\r\n",
        "A: \xe4\xff\r\n",
        "A: b\nB: c\n",
        "A: b\rB: c\r\n",
        "A: " + std::string(2000, 'x') + "\r\n",
        std::string("A: \0\x1b[2J\r\n", 10),
    };
    for (const std::string& one : rows) {
        CAPTURE(one);
        const std::string text = made(one + "\r\nbody\r\n");
        CHECK(how_often("--" + boundary_of(text), text) == 4);
        CHECK(is_seven_bit_lines(text));
        const bool encoded = text.find("quoted-printable") != std::string::npos;
        const std::string part = last_part(text);
        CHECK((encoded ? mail::from_quoted_printable(part) : part) == one);
    }
}

TEST_CASE("delivery status: addresses that are not ASCII") {
    const std::string text =
        made("A: b\r\n\r\n", {"j\xc3\xbcrgen+x@example.com"}, "\xc3\xa4@x.example");
    CHECK(text.find("To: <\xc3\xa4@x.example>\r\n") != std::string::npos);
    CHECK(text.find("Final-Recipient: utf-8; j\\x{FC}rgen\\x{2B}x@example.com\r\n") !=
          std::string::npos);
}

TEST_CASE("quoted-printable: what is written is read back, in short lines of plain text") {
    const std::string rows[] = {"",
                                "plain\r\n",
                                "a = b\r\n",
                                "blanks at the end  \r\n\t\r\n",
                                "no end ",
                                "\r\n\r\n",
                                "lone\rand\nlone\r\n",
                                std::string(300, 'x') + "\r\n",
                                std::string(300, '\xe4') + "\r\nx",
                                std::string(75, 'x') + " \r\n",
                                std::string(76, 'x')};
    for (const std::string& one : rows) {
        CAPTURE(one);
        std::string text = mail::to_quoted_printable(one);
        CHECK(mail::from_quoted_printable(text) == one);
        text += "\r\n";
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find("\r\n", at);
            const std::string line = text.substr(at, end - at);
            CHECK(line.size() <= 76);
            CHECK(std::all_of(line.begin(), line.end(),
                              [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); }));
            CHECK_FALSE((line.ends_with(' ') || line.ends_with('\t')));
            at = end + 2;
        }
    }
}
