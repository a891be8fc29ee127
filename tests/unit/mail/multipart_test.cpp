// SPDX-License-Identifier: GPL-3.0-or-later
// What every octet of a multipart body must hold. That parsers of others read the trees as they are
// meant is held by tests/commands/test_multipart.py.
#include "mail/multipart.hpp"

#include "base/text.hpp"
#include "mail/mime_tree.hpp"
#include "mail/pool.hpp"
#include "mail/transfer_encoding.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace postal::mail;
using postal::base::random_source;

namespace {

// A source, and the last body that was cut.
struct bodies {
    multipart_source source{7};
    random_source random{9};
    body_parts parts;

    std::string cut(std::uint64_t octets) {
        parts.clear();
        source.cut(random, octets, parts);
        return test::joined(parts.raw);
    }
    std::string fields() const { return std::string(parts.fields); }
};

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find("\r\n"), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 2, text.size()));
    }
    return lines;
}

std::size_t count(std::string_view text, std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size())
        ++found;
    return found;
}

std::string boundary_in(std::string_view fields) {
    const std::size_t begin = fields.find("boundary=\"");
    if (begin == fields.npos) return {};
    const std::size_t from = begin + std::string_view("boundary=\"").size();
    return std::string(fields.substr(from, fields.find('"', from) - from));
}

// "alternative", "mixed alternative related", "mixed message", ...: what the tree consists of.
std::string shape_of(std::string_view fields, std::string_view body) {
    std::string shape;
    const std::string all = std::string(fields) + std::string(body);
    for (const std::string_view each : {"mixed", "alternative", "related"}) {
        if (all.find("multipart/" + std::string(each)) != all.npos)
            shape += (shape.empty() ? "" : " ") + std::string(each);
    }
    if (all.find("message/rfc822") != all.npos) return "mixed message";
    return shape.empty() ? "text" : shape;
}

void check_octets(const std::string& raw, const body_parts& parts, std::uint64_t octets) {
    REQUIRE(raw.size() == octets);
    REQUIRE(std::all_of(raw.begin(), raw.end(),
                        [](char c) { return c == '\r' || c == '\n' || (c >= ' ' && c <= '~'); }));
    REQUIRE(count(raw, "\n") == count(raw, "\r\n"));
    REQUIRE(count(raw, "\r") == count(raw, "\r\n"));
    REQUIRE(parts.final_newline == (raw.empty() || raw.ends_with("\r\n")));
    const std::string stuffed = test::joined(parts.stuffed);
    REQUIRE(stuffed == dot_stuffed(raw));
    REQUIRE(stuffed == raw + (parts.final_newline ? "" : "\r\n"));
    for (const std::string_view line : lines_of(raw)) {
        REQUIRE(line.size() <= 100);
        REQUIRE_FALSE(line.starts_with("From "));
    }
}

// Each boundary that is announced ends once, and nothing but delimiters begins with a hyphen.
void check_boundaries(std::string_view fields, std::string_view body) {
    std::set<std::string> announced;
    std::string all(fields);
    all += body;
    for (std::size_t at = 0; (at = all.find("boundary=\"", at)) != all.npos; ++at)
        REQUIRE(announced.insert(boundary_in(std::string_view(all).substr(at))).second);
    std::multiset<std::string> closed;
    std::set<std::string> begun;
    for (const std::string_view line : lines_of(body)) {
        if (!line.starts_with("--")) continue;
        std::string name(line.substr(2));
        if (announced.contains(name)) {
            begun.insert(name);
        } else {
            REQUIRE(name.ends_with("--"));
            closed.insert(name.substr(0, name.size() - 2));
        }
    }
    REQUIRE(begun == announced);
    REQUIRE(closed == std::multiset<std::string>(announced.begin(), announced.end()));
    if (!announced.empty()) REQUIRE(body.ends_with("--" + boundary_in(fields) + "--\r\n"));
    for (const std::string& one : announced) {
        REQUIRE(one.size() <= 70);
        for (const std::string& other : announced)
            REQUIRE((one == other || !other.starts_with(one)));
    }
}

}  // namespace

TEST_CASE(
    "multipart: every size is exact, 7-bit, without lone CR or LF, and its boundaries close") {
    bodies one;
    const auto check = [&](std::uint64_t octets) {
        INFO(octets);
        const std::string raw = one.cut(octets);
        INFO(raw.substr(0, 5000));
        check_octets(raw, one.parts, octets);
        REQUIRE(one.parts.fields.size() == one.source.fields_octets());
        check_boundaries(one.parts.fields, raw);
    };
    for (std::uint64_t octets = 0; octets < 4000; ++octets)
        check(octets);
    for (int i = 0; i < 300; ++i)
        check(one.random.below(40'000));
    check(1'000'000);
    check(1'000'001);
}

TEST_CASE("multipart: a body follows from seed, random source and size alone") {
    bodies one;
    bodies two;
    two.cut(50'000);  // what was cut before does not matter
    for (std::uint64_t n = 0; n < 50; ++n) {
        one.random = two.random = random_source(n);
        CHECK(one.cut(6000) == two.cut(6000));
        CHECK(one.fields() == two.fields());
    }
    const multipart_source other(8);
    body_parts parts;
    random_source random(1);
    other.cut(random, 6000, parts);
    one.random = random_source(1);
    CHECK(one.cut(6000) != test::joined(parts.raw));
}

TEST_CASE("multipart: each shape comes as often as it is said to, where there is room") {
    bodies one;
    std::map<std::string, int> seen;
    constexpr int all = 5000;
    for (int n = 0; n < all; ++n) {
        const std::string raw = one.cut(20'000);
        ++seen[shape_of(one.parts.fields, raw)];
    }
    const std::map<std::string, int> wanted{{"alternative", 40},
                                            {"mixed", 15},
                                            {"mixed alternative", 20},
                                            {"alternative related", 10},
                                            {"mixed alternative related", 5},
                                            {"mixed message", 10}};
    CHECK(seen.size() == wanted.size());
    for (const auto& [shape, share] : wanted) {
        INFO(shape);
        CHECK(std::abs(seen[shape] - share * all / 100) < all / 50);
    }
}

TEST_CASE("multipart: what has no room becomes smaller, at last a plain text") {
    bodies one;
    std::map<std::string, int> tiny, small;
    for (int n = 0; n < 300; ++n) {
        std::string raw = one.cut(300);
        ++tiny[shape_of(one.parts.fields, raw)];
        raw = one.cut(800);
        ++small[shape_of(one.parts.fields, raw)];
    }
    CHECK(tiny.size() == 1);
    CHECK(tiny["text"] == 300);
    CHECK(small["text"] == 0);
    CHECK(small["alternative"] > 150);
    one.cut(300);
    CHECK_THAT(one.fields(), Catch::Contains("Content-Type: text/plain; charset=us-ascii"));
}

TEST_CASE("multipart: all languages, encodings, types and forms of names come") {
    bodies one;
    std::string all;
    for (int n = 0; n < 1500; ++n) {
        const std::string raw = one.cut(9000);
        all += one.fields();
        all += raw;
    }
    for (const std::string_view wanted : {"format=flowed",
                                          "quoted-printable",
                                          "base64",
                                          "Encoding: 7bit",
                                          "image/png",
                                          "image/jpeg",
                                          "application/pdf",
                                          "application/zip",
                                          "wordprocessingml",
                                          "spreadsheetml",
                                          "text/csv",
                                          "filename*=UTF-8''",
                                          "filename*=UTF-8'de'",
                                          "filename*0*=UTF-8''",
                                          "filename*2=\"-",
                                          "filename*=ISO-8859-1''%DC",
                                          " name=\"=?UTF-8?Q?",
                                          "filename=\"=?UTF-8?Q?",
                                          "Content-Description: =?UTF-8?B?",
                                          "Content-Disposition: inline",
                                          "cid:",
                                          "This is a multi-part message",
                                          "----=_Part_",
                                          "boundary=\"000000000000",
                                          "Apple-Mail=_",
                                          "boundary=\"_000_"}) {
        INFO(wanted);
        CHECK(all.find(wanted) != all.npos);
    }
    for (const language& each : languages())
        CHECK(all.find("lang=3D\"" + std::string(each.tag)) != all.npos);
}

TEST_CASE("multipart: what is written for a body alone stays within its memory") {
    bodies one;
    std::size_t most = 0;
    for (int n = 0; n < 5000; ++n) {
        one.cut(30'000);
        REQUIRE(one.parts.made.size() == mime_tree::most_octets);
        const char* const begin = one.parts.made.data();
        for (const std::string_view part : one.parts.raw) {
            const char* const end = part.data() + part.size();
            if (part.data() >= begin && end <= begin + mime_tree::most_octets)
                most = std::max(most, static_cast<std::size_t>(end - begin));
        }
    }
    CHECK(most > 1000);
    CHECK(most < mime_tree::most_octets / 2);
}

TEST_CASE("multipart: texts of each language decode to UTF-8, and no line is too long") {
    const text_rings rings(3);
    random_source random(4);
    body_parts parts;
    const auto decoded = [&](const unit_ring& ring, std::uint64_t octets) {
        parts.clear();
        ring.cut(random, octets, parts);
        const std::string raw = test::joined(parts.raw);
        REQUIRE(raw.size() == octets);
        for (const std::string_view line : lines_of(raw))
            REQUIRE(line.size() <= 76);
        return from_quoted_printable(raw);
    };
    for (const text_rings::of_language& each : rings.in) {
        for (std::uint64_t octets = unit_ring::least_octets; octets < 600; ++octets) {
            REQUIRE(postal::base::is_valid_utf8(decoded(each.plain, octets)));
            REQUIRE(postal::base::is_valid_utf8(decoded(each.html, octets)));
        }
        CHECK(postal::base::is_valid_utf8(decoded(each.plain, each.plain.octets() * 3 + 1)));
        parts.clear();
        each.coded.cut(random, 200, parts);
        const std::string coded = test::joined(parts.raw);
        CHECK(coded.size() == 200 * base64_ring::line_octets);
        CHECK(postal::base::is_valid_utf8(from_base64(coded)));
        for (const std::string_view line : lines_of(coded))
            CHECK(postal::base::is_valid_utf8(from_base64(line)));
    }
    CHECK(decoded(rings.flowed, 9000).find(" \r\n") != std::string::npos);
    for (std::uint64_t octets = unit_ring::least_octets; octets < 600; ++octets)
        decoded(rings.table, octets);
}

TEST_CASE("multipart: a unit that a server could take for something else is left out") {
    unit_ring ring;
    CHECK_FALSE(ring.add(".dot\r\n"));
    CHECK_FALSE(ring.add("word\r\n--boundary\r\n"));
    CHECK_FALSE(ring.add("From here\r\n"));
    CHECK(ring.octets() == 0);
    CHECK(ring.add("word\r\n"));
    CHECK(ring.octets() == 6);
}

TEST_CASE("multipart: subjects are encoded words of whole characters in every second message") {
    const subject_words subjects(42);
    random_source random(5);
    std::map<std::string, int> seen;
    for (int n = 0; n < 4000; ++n) {
        const std::uint64_t bits = random.next();
        const auto made = subjects.choose(bits, body_kind::multipart);
        REQUIRE(made.count > 0);
        REQUIRE(made.count <= subject_words::most);
        const bool encoded = subject_words::is_encoded(made.words[0]);
        ++seen[encoded ? "encoded" : "ascii"];
        for (std::size_t i = 0; i < made.count; ++i) {
            const std::string word(made.words[i]);
            INFO(word);
            REQUIRE(word.size() <= 66);
            REQUIRE(subject_words::is_encoded(word) == encoded);
            if (!encoded) continue;
            const std::size_t text = word.find('?', 2) + 3;
            const std::string inner = word.substr(text, word.size() - 2 - text);
            REQUIRE_FALSE(inner.empty());
            const bool b = word[text - 2] == 'B';
            std::string octets = b ? from_base64(inner) : from_quoted_printable(inner);
            std::replace(octets.begin(), octets.end(), '_', ' ');
            const bool latin1 = word.starts_with("=?iso-8859-1?");
            ++seen[latin1 ? "latin1" : b ? "B" : "Q"];
            REQUIRE((latin1 || postal::base::is_valid_utf8(octets)));
            REQUIRE(octets.starts_with(' ') == (i > 0));
        }
        const auto plain = subjects.choose(bits, body_kind::ascii);
        REQUIRE_FALSE(subject_words::is_encoded(plain.words[0]));
    }
    CHECK(std::abs(seen["encoded"] - 2000) < 200);
    for (const char* sort : {"ascii", "B", "Q", "latin1"}) {
        INFO(sort);
        CHECK(seen[sort] > 50);
    }
}

TEST_CASE("multipart: a folded Subject has lines of at most 78 octets, and verifies") {
    message_factory factory(
        message_plan::create(test::options_for(body_kind::multipart, 4000)).value());
    message made;
    bool folded = false;
    for (std::uint64_t n = 0; n < 300; ++n) {
        factory.make(test::request(1, n), made);
        const std::string headers(made.headers());
        for (const std::string_view line : lines_of(headers))
            if (line.find("=?") != line.npos) REQUIRE(line.size() <= 78);
        folded = folded || headers.find("\r\n =?") != headers.npos;
        REQUIRE_FALSE(made.needs_8bit());
    }
    CHECK(folded);
}
