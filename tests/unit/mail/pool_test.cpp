// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/pool.hpp"

#include "base/text.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace postal::mail;
using postal::base::random_source;

namespace {

struct line_facts {
    std::size_t longest = 0;
    std::size_t dots = 0;       // lines that begin with a dot
    std::size_t only_dots = 0;  // "." and ".."
    std::size_t blank_ends = 0;
    std::size_t empty = 0;
    std::size_t lines = 0;
};

line_facts facts_of(std::string_view text) {
    line_facts facts;
    while (!text.empty()) {
        const std::size_t end = text.find("\r\n");
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
        ++facts.lines;
        facts.longest = std::max(facts.longest, line.size());
        if (line.starts_with('.')) ++facts.dots;
        if (line == "." || line == "..") ++facts.only_dots;
        if (line.empty()) ++facts.empty;
        if (!line.empty() && postal::base::is_blank(line.back())) ++facts.blank_ends;
    }
    return facts;
}

bool only_crlf(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n')) return false;
        if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("pool: each kind holds the lines that it promises") {
    for (const body_kind kind : test::line_kinds) {
        INFO(name_of(kind));
        const pool made(7, kind);
        const line_facts facts = facts_of(made.text());
        CHECK(made.text().size() >= 256 * 1024);
        CHECK(made.text().size() < 258 * 1024);
        CHECK(only_crlf(made.text()));
        CHECK(postal::base::is_valid_utf8(made.text()));
        CHECK(facts.longest <= (kind == body_kind::long_lines ? 998 : 78));
        CHECK(made.text().find("\r\nFrom ") == std::string_view::npos);
        CHECK((facts.dots > facts.lines / 2) == (kind == body_kind::dots));
        CHECK((facts.dots > 0) == (kind == body_kind::dots));
        CHECK((facts.only_dots > 100) == (kind == body_kind::dots));
        CHECK((facts.empty > 100) == (kind == body_kind::crlf_edge));
        CHECK((facts.blank_ends > 100) == (kind == body_kind::crlf_edge));
        CHECK((facts.longest == 998) == (kind == body_kind::long_lines));
        const bool ascii = std::all_of(made.text().begin(), made.text().end(),
                                       [](char c) { return static_cast<unsigned char>(c) < 128; });
        CHECK(ascii == (kind != body_kind::eight_bit));
    }
}

TEST_CASE("pool: the text follows from seed and kind") {
    CHECK(pool(7, body_kind::ascii).text() == pool(7, body_kind::ascii).text());
    CHECK(pool(7, body_kind::ascii).text() != pool(8, body_kind::ascii).text());
    CHECK(pool(7, body_kind::ascii).text() != pool(7, body_kind::crlf_edge).text());
}

TEST_CASE("pool: a cut has exactly the octets asked, whole lines, and survives dot-stuffing") {
    for (const body_kind kind : test::line_kinds) {
        const pool made(7, kind);
        random_source random(9);
        body_parts parts;
        const auto check = [&](std::uint64_t octets) {
            INFO(name_of(kind) << " " << octets);
            parts.clear();
            made.cut(random, octets, parts);
            const std::string raw = test::joined(parts.raw);
            const std::string stuffed = test::joined(parts.stuffed);
            REQUIRE(raw.size() == octets);
            REQUIRE(only_crlf(raw));
            REQUIRE(postal::base::is_valid_utf8(raw));
            REQUIRE(facts_of(raw).longest <= (kind == body_kind::long_lines ? 998 : 78));
            REQUIRE(parts.final_newline == (raw.empty() || raw.ends_with("\r\n")));
            REQUIRE(test::unstuffed(stuffed) == raw + (parts.final_newline ? "" : "\r\n"));
            REQUIRE(stuffed == dot_stuffed(raw));
            // A body ends in an empty line only where its kind has them, or when it is nothing
            // else.
            if (kind != body_kind::crlf_edge && octets > 2) {
                REQUIRE_FALSE(raw.ends_with("\r\n\r\n"));
            }
        };
        for (std::uint64_t octets = 0; octets < 2100; octets += octets < 500 ? 1 : 5)
            check(octets);
        for (int i = 0; i < 60; ++i)
            check(random.below(100'000));
        for (std::uint64_t octets = made.text().size() - 3; octets < made.text().size() + 5;
             ++octets) {
            for (int i = 0; i < 4; ++i)
                check(octets);
        }
        check(1'000'000);
    }
}

TEST_CASE("pool: only crlf-edge leaves out the final CRLF, and it does so often") {
    for (const body_kind kind : test::line_kinds) {
        const pool made(7, kind);
        random_source random(9);
        body_parts parts;
        int without = 0;
        for (int i = 0; i < 200; ++i) {
            parts.clear();
            made.cut(random, 1000, parts);
            if (!parts.final_newline) ++without;
        }
        INFO(name_of(kind));
        CHECK((without > 20) == (kind == body_kind::crlf_edge));
        CHECK((without > 0) == (kind == body_kind::crlf_edge));
    }
}

TEST_CASE("pool: dots are doubled at line starts only, and a missing CRLF is supplied") {
    CHECK(dot_stuffed("") == "");
    CHECK(dot_stuffed(".") == "..\r\n");
    CHECK(dot_stuffed("a.b\r\n.\r\n..c\r\n") == "a.b\r\n..\r\n...c\r\n");
}
