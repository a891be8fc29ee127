// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/canonical.hpp"

#include <catch2/catch.hpp>

using namespace postal::mail;

namespace {

std::string canonical(std::string_view headers, coverage mask = all_covered) {
    std::string out;
    append_canonical(scan_headers(headers), mask, out);
    return out;
}

digest_value digest(std::string_view body, line_ends ends, std::size_t split) {
    body_digester digester;
    digester.begin(digest_kind::xxh3, "x", ends);
    digester.feed(body.substr(0, split));
    digester.feed(body.substr(split));
    return digester.finish();
}

}  // namespace

TEST_CASE("canonical: fields come in one order, relaxed, whatever they looked like") {
    const std::string wanted =
        "from:<a@x>\r\nto:<b@x>, <c@x>\r\nsubject:some "
        "words\r\ndate:Fri\r\nmessage-id:<1@x>\r\n\r\n";
    struct row {
        std::string headers, reason;
    };
    const row rows[]{
        {"From: <a@x>\r\nTo: <b@x>, <c@x>\r\nSubject: some words\r\nDate: Fri\r\nMessage-ID: "
         "<1@x>\r\n",
         "as made"},
        {"MESSAGE-ID:<1@x>\r\nDATE:Fri\r\nsubject:some words\r\nto:<b@x>, <c@x>\r\nfrom:<a@x>\r\n",
         "other order and case"},
        {"Received: by x;\r\n\tdate\r\nFrom:   <a@x>  \r\nTo: <b@x>,\r\n\t<c@x>\r\nSubject: some "
         "\t words"
         "\r\n \r\nDate:\r\n Fri\r\nMessage-ID : <1@x>\r\n",
         "folded, blanks, a line added"},
        {"From: <a@x>\nTo: <b@x>,\n <c@x>\nSubject: some words\nDate: Fri\nMessage-ID: <1@x>\n",
         "LF"},
        {"From: <z@x>\r\nnot a field\r\nFrom: <a@x>\r\nTo: <b@x>, <c@x>\r\nSubject: some words\r\n"
         "Date: Fri\r\nMessage-ID: <1@x>",
         "added on top, junk, no final line end"},
    };
    for (const row& each : rows) {
        INFO(each.reason);
        CHECK(canonical(each.headers) == wanted);
    }
}

TEST_CASE("canonical: absent and uncovered fields contribute nothing") {
    CHECK(canonical("") == "\r\n");
    CHECK(canonical("To: x\r\n") == "to:x\r\n\r\n");
    CHECK(canonical("To:\r\n") == "to:\r\n\r\n");
    CHECK(canonical("From: y\r\nTo: x\r\n", 1) == "from:y\r\n\r\n");
    CHECK(scan_headers("From: y\r\nDate: x\r\n").present == 0b01001);
}

TEST_CASE("canonical: the first identity counts, with its folds") {
    const auto found = scan_headers("x-postal-id: v=1;\r\n two\r\nX-Postal-Id: other\r\n");
    CHECK(found.has_identity);
    CHECK(found.identity == " v=1;\r\n two\r\n");
    CHECK_FALSE(scan_headers("X-Postal: postal/1\r\n").has_identity);
}

TEST_CASE("canonical: the header section ends behind the first blank line") {
    struct row {
        std::string text;
        std::size_t wanted;
    };
    const row rows[]{{"a: b\r\n\r\nbody", 8},
                     {"a: b\n\nbody", 6},
                     {"a: b\n\r\nbody", 7},
                     {"\r\nbody", 2},
                     {"\nbody", 1},
                     {"a: b\r\n", std::string::npos},
                     {"", std::string::npos},
                     {"a: b\r\n\r", std::string::npos},
                     {"a: b\r\n \r\n\r\n", 11}};
    for (const row& each : rows) {
        INFO(each.text);
        CHECK(header_end(each.text) == each.wanted);
    }
}

TEST_CASE("canonical: a missing final CRLF is supplied, an empty body stays empty") {
    const auto wanted = digest("one\r\ntwo\r\n", line_ends::crlf, 0);
    CHECK(digest("one\r\ntwo", line_ends::crlf, 3) == wanted);
    CHECK_FALSE(digest("one\r\ntwo\n", line_ends::crlf, 3) == wanted);
    CHECK_FALSE(digest("one\r\ntwo\r\n\r\n", line_ends::crlf, 3) == wanted);
    CHECK_FALSE(digest("", line_ends::crlf, 0) == digest("\r\n", line_ends::crlf, 0));
}

TEST_CASE("canonical: LF files have the digest of the CRLF mail, at every split") {
    const std::string crlf = "one\r\n\r\n two\r\nthree";
    const std::string lf = "one\n\n two\nthree";
    const auto wanted = digest(crlf, line_ends::crlf, 0);
    for (std::size_t split = 0; split <= lf.size(); ++split) {
        CHECK(digest(lf, line_ends::lf, split) == wanted);
        CHECK(digest(lf + "\n", line_ends::lf, split) == wanted);
    }
    for (std::size_t split = 0; split <= crlf.size(); ++split) {
        CHECK(digest(crlf, line_ends::crlf, split) == wanted);
        CHECK(digest(crlf, line_ends::lf, split) == wanted);
    }
}
