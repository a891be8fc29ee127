// SPDX-License-Identifier: GPL-3.0-or-later
// Rewritten headers, recoded bodies, mail that changed as a whole, and that of others.
#include "mail/old_postal.hpp"

#include "difference_play.hpp"

using namespace postal::mail;
using namespace difference_play;

TEST_CASE("difference: a rewritten header is named as far as it can be known") {
    const std::string text =
        "Return-Path: <sender@example.com>\r\nX-Original-To: "
        "rcpt@example.com\r\n" +
        made(body_kind::ascii, 900);
    struct row {
        std::string_view from;
        std::string_view to;
        std::string_view name;
    };
    const row rows[]{
        {"Subject: ", "Subject: [SPAM] ", "Subject"},
        {"Subject: ", "X-Subject: ", "Subject"},
        {"2026", "2025", "Date"},
        {"Date: ", "X-Date: ", "Date"},
        {"Message-ID: <", "Message-ID: <x", "Message-ID"},
        {".1.1@", ".1.2@", "Message-ID"},
        {"From: <sender@", "From: <masked@", "From"},
        {"From: <", "From: A Sender <", "From"},
        {"\r\nTo: <rcpt@", "\r\nTo: <other@", "To"},
        {"@test.example.com", "@relay.example.com", "From, To, Message-ID or X-Postal-Id"},
    };
    for (const row& one : rows) {
        INFO(one.to);
        const std::string received = replaced(text, one.from, one.to);
        CHECK(told(received) == "header " + std::string(one.name) + " rewritten");
    }
    CHECK(told(replaced(made(body_kind::ascii, 900), "<sender@", "<masked@")) ==
          "header From, To, Message-ID or X-Postal-Id rewritten");
}

TEST_CASE("difference: a subject that was given is not taken for a rewritten one") {
    auto options = test::options_for(body_kind::ascii, 900);
    options.subject_text = "Half price";
    message_factory factory(message_plan::create(options).value());
    message one;
    factory.make(test::request(1, 1), one);
    const std::string text = test::joined(one.raw_parts());
    CHECK(diagnosed(text).kind == none);
    CHECK(told(replaced(text, "From: <", "From: A Sender <")) == "header From rewritten");
    CHECK(told(replaced(text, "Half price", "[SPAM] Half price")) ==
          "header From, To, Subject, Message-ID or X-Postal-Id rewritten");
}

TEST_CASE("difference: a recoded body is read back, and what else differs is told") {
    const sample one(body_kind::eight_bit, 3000);
    const auto encoded = [&](const std::string& name, const std::string& body) {
        const std::string head = replaced(one.head, "Encoding: 8bit", "Encoding: " + name);
        if (name.size() == 6) return head + base64(body);
        return head + quoted_printable(body);
    };
    const std::string cut = one.body.substr(0, 1000);
    for (const std::string name : {"quoted-printable", "base64", "BASE64"}) {
        INFO(name);
        const std::string recoded =
            name == "BASE64" ? "body recoded as base64" : "body recoded as " + name;
        CHECK(told(encoded(name, one.body)) == recoded);
        CHECK(diagnosed(encoded(name, one.body)).kind == difference_kind::recoded);
        CHECK(told(encoded(name, one.body + "-- \r\nfooter\r\n")) ==
              recoded + fmt::format("; 13 bytes too many from byte {} on", one.text.size() + 1));
        CHECK(told(encoded(name, cut)) ==
              recoded + fmt::format("; truncated at byte {} of 3000", one.head.size() + 1001));
        CHECK(diagnosed(encoded(name, cut)).kind == truncated);
        CHECK(told(replaced(encoded(name, one.body), "Subject: ", "Subject: [x] ")) ==
              recoded + "; header Subject rewritten");
    }
}

TEST_CASE("difference: line ends that changed in all of the message") {
    const sample one(body_kind::ascii);
    const std::string doubled = replaced_all(one.text, "\r\n", "\r\r\n");
    const std::string large = replaced_all(made(body_kind::dots, 200'000), "\r\n", "\r\r\n");
    for (const std::string& each : {doubled, large}) {
        CHECK(told(each) == "line endings changed from CRLF to CRCRLF in headers and body");
        CHECK(diagnosed(each).kind == line_ends_changed);
    }
    message_checker checker;
    for (const char& c : doubled)
        checker.feed({&c, 1});
    CHECK(checker.finish().id != nullptr);
    const std::string head = replaced_all(one.head, "\r\n", "\r\r\n");
    CHECK(told(head + one.body) == "not changed");  // what relays may do with header fields
    CHECK(told(head + one.body + "x\r\n") ==
          fmt::format("3 bytes too many from byte {} on; line endings of the headers changed from "
                      "CRLF to CRCRLF",
                      one.text.size() + 1));
}

TEST_CASE("difference: all header fields that were rewritten are named, and the body, too") {
    const std::string text = made(body_kind::ascii, 900);
    const auto rewritten = [&](const std::string& of) {
        return replaced(replaced(of, "Subject: ", "Subject: [x] "), "2026", "2025");
    };
    CHECK(told(rewritten(text)) == "headers Subject and Date rewritten");
    CHECK(told(replaced(rewritten(text), ".1.1@", ".1.2@")) ==
          "headers Subject, Date and Message-ID rewritten");
    CHECK(told(rewritten(text) + "footer\r\n") ==
          "8 bytes too many from byte 901 on; headers Subject and Date rewritten");
    CHECK(told(replaced(text, "From: <sender@", "From: <masked@").substr(0, 800)) ==
          "truncated at byte 801 of 900; header From, To, Message-ID or X-Postal-Id rewritten");
    CHECK(diagnosed(rewritten(text) + "footer\r\n").kind == extra);
}

TEST_CASE("difference: an identity header that says what the Message-ID does not") {
    const std::string text = made(body_kind::ascii, 900);
    CHECK(told(replaced(text, "; n=1;", "; n=2;")) == "header X-Postal-Id rewritten");
}

TEST_CASE("difference: the Subject is remade for every mix and spread of sizes") {
    for (const char* mix : {"ascii", "ascii=90,8bit=10", "crlf-edge,dots", "multipart=9,dots=1"}) {
        for (const char* sizes : {"fixed:5K", "uniform:0,20K", "lognormal:5K,2"}) {
            auto options = test::options_for(body_kind::ascii, 0);
            options.bodies = body_mix::parse(mix).value();
            const auto spread = size_spec::parse(sizes);
            INFO(mix << " " << sizes);
            REQUIRE(spread.has_value());
            options.sizes = *spread;
            message_factory factory(message_plan::create(options).value());
            message one;
            for (std::uint64_t n = 0; n < 20; ++n) {
                factory.make(test::request(2, n), one);
                const std::string text = test::joined(one.raw_parts());
                CHECK(told(replaced(text, "To: <", "To: <x")) ==
                      "header From, To, Message-ID or X-Postal-Id rewritten");
                CHECK(told(replaced(text, "Subject: ", "Subject: x")) ==
                      "header Subject rewritten");
            }
        }
    }
}

TEST_CASE("difference: what cannot be told is said so") {
    const std::string text = made(body_kind::ascii, 900);
    CHECK(told(replaced(text, "kind=ascii", "kind=asciz")) == "identity header unreadable");
    CHECK(told(replaced(text, "kind=ascii", "kind=corpus").substr(0, 800)) ==
          "differs, and cannot be remade to say how");
    const std::string harmed = text.substr(0, 890) + "#" + text.substr(891);
    REQUIRE(told(harmed).starts_with("byte 891 changed from "));
    CHECK(told(replaced(harmed, "size=900", "size=9000000")) ==
          "differs, and cannot be remade to say how");
    CHECK(diagnosed(replaced(harmed, "seed=42", "seed=43")).kind == other);
    const std::size_t digest_at = text.find("xxh3:") + 5;
    std::string other_digest = text;
    other_digest[digest_at] = text[digest_at] == '0' ? '1' : '0';
    CHECK(told(other_digest) == "header From, To, Message-ID or X-Postal-Id rewritten");
    CHECK(name_of(none) == "none");
    CHECK(name_of(other) == "other");
    CHECK(name_of(header_rewritten) == "header-rewritten");
}

TEST_CASE("difference: mail of the original postal is recognised, and its digest checked") {
    // As postal 0.76 of Debian 12 (amd64) sent them.
    const std::string fields =
        "From: <u2@example.com>\r\nTo: <u1@example.com>\r\nSubject: q>Z(6:,sJc\r\n"
        "Date: Fri, 20 Nov 2026 20:13:31 +0000\r\n"
        "Message-Id: <6B00A9F6.157.001.u2@example.com>\r\n"
        "X-PostalHash: e2df045f08b3f308aaf7f1d25bf74cd6\r\n"
        "X-Postal: 0.75 - the mad postman.\r\nX-Postal: http://www.coker.com.au/postal/\r\n"
        "X-Postal: This is not a real email.\r\n";
    const std::string text = fields + "\r\n";
    CHECK(is_old_postal(fields));
    CHECK(check_old_postal(text) == true);
    CHECK(check_old_postal("Received: from a by b\r\n\tlater\r\n" + text) == true);
    CHECK(check_old_postal(text + "x") == false);
    CHECK(check_old_postal(replaced(text, "q>Z", "q>z")) == false);
    // Its sum where words have 32 bits is a true MD5: of the same five lines.
    CHECK(check_old_postal(replaced(text, "e2df045f08b3f308aaf7f1d25bf74cd6",
                                    "05f137797eb0eeb58374225f8825019f")) == true);
    CHECK(check_old_postal("From: <u1@example.com>\r\n"
                           "To: <u2@example.com>\r\n"
                           "Subject: lB7:e1K\r\n"
                           "Date: Fri, 20 Nov 2026 20:07:20 +0000\r\n"
                           "Message-Id: <6B00A9F0.343.002.u1@example.com>\r\n"
                           "X-PostalHash: c12f631ae78add08e1986e570d336aab\r\n"
                           "X-Postal: 0.75 - the mad postman.\r\n"
                           "X-Postal: http://www.coker.com.au/postal/\r\n"
                           "X-Postal: This is not a real email.\r\n"
                           "\r\n"
                           "K@>j-M6,1 nViF#kestetI\r\n"
                           " 09Hvg _Na(Y<YMi+O9fm3= QQ)p-Y jtENKH>r*//A'T \r\n") == true);
    for (const char* not_old :
         {"", "X-Postal: postal/1.0\r\n", "X-PostalHash: e2df045f08b3f308aaf7f1d25bf74cd6\r\n",
          "X-PostalHash: e2df\r\nX-Postal: x\r\n",
          "X-PostalHash: g2df045f08b3f308aaf7f1d25bf74cd6\r\nX-Postal: x\r\n"}) {
        INFO(not_old);
        CHECK_FALSE(is_old_postal(not_old));
        CHECK_FALSE(check_old_postal(not_old).has_value());
    }
    CHECK_FALSE(is_old_postal(made(body_kind::ascii, 900)));
}
