// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/identity.hpp"

#include <catch2/catch.hpp>

using namespace postal::mail;

namespace {

identity sample() {
    identity id;
    id.run = 0x00ff00ff00ff00ff;
    id.session = 3;
    id.sequence = 17;
    id.seed = 42;
    id.kind = body_kind::eight_bit;
    id.size = 5120;
    id.head = 612;
    id.time_us = 1790000000000012;
    id.digest = parse_digest("xxh3:0123456789abcdef").value();
    return id;
}

const std::string sample_text =
    "v=1; run=00ff00ff00ff00ff; s=3; n=17; seed=42; kind=8bit; size=5120; head=612;\r\n"
    " t=1790000000.000012; d=xxh3:0123456789abcdef";

identity_parse parsed(std::string_view text) {
    identity into;
    return parse_identity(text, into);
}

}  // namespace

TEST_CASE("identity: text and value agree both ways") {
    CHECK(to_text(sample()) == sample_text);
    identity into;
    REQUIRE(parse_identity(sample_text, into) == identity_parse::ok);
    CHECK(into == sample());

    identity large = sample();
    large.session = large.sequence = large.seed = large.size = large.head = ~std::uint64_t{0};
    large.covers = 0b00101;
    large.given_subject = true;
    large.digest = parse_digest("sha256:" + std::string(64, 'a')).value();
    CHECK(to_text(large).size() == identity_octets(large));
    CHECK_THAT(to_text(large), Catch::Contains("; h=fs; "));
    REQUIRE(parse_identity(to_text(large), into) == identity_parse::ok);
    CHECK(into == large);
}

TEST_CASE("identity: relays may fold it, and a later sender may add fields") {
    identity into;
    std::string folded;
    for (const char c : sample_text)
        folded += c == ';' ? std::string(";\r\n\t ") : std::string(1, c);
    CHECK(parse_identity(" " + folded + "\r\n", into) == identity_parse::ok);
    CHECK(into == sample());
    CHECK(parse_identity(sample_text + "; later=thing;", into) == identity_parse::ok);
    CHECK(into == sample());
    CHECK(parsed("v=2; whatever") == identity_parse::other_version);
}

TEST_CASE("identity: damaged text is unreadable, at every cut") {
    for (std::size_t size = 0; size < sample_text.size(); ++size) {
        INFO(size);
        CHECK(parsed(sample_text.substr(0, size)) == identity_parse::unreadable);
    }
    const auto damaged = [](std::string_view from, std::string_view to) {
        std::string text = sample_text;
        return text.replace(text.find(from), from.size(), to);
    };
    CHECK(parsed(damaged("v=1", "v=")) == identity_parse::unreadable);
    CHECK(parsed(damaged("v=1", "v=x")) == identity_parse::unreadable);
    CHECK(parsed(damaged("s=3", "s=-3")) == identity_parse::unreadable);
    CHECK(parsed(damaged("s=3", "s=99999999999999999999")) == identity_parse::unreadable);
    CHECK(parsed(damaged("s=3", "n=3")) == identity_parse::unreadable);
    CHECK(parsed(damaged("run=00ff", "run=0ff")) == identity_parse::unreadable);
    CHECK(parsed(damaged("00ff00ff00ff00ff", "0000000000000000")) == identity_parse::unreadable);
    CHECK(parsed(damaged("kind=8bit", "kind=9bit")) == identity_parse::unreadable);
    CHECK(parsed(damaged("head=612", "head=5121")) == identity_parse::unreadable);
    CHECK(parsed(damaged(".000012", ".12")) == identity_parse::unreadable);
    CHECK(parsed(damaged("t=1790000000", "t=18446744073709551615")) == identity_parse::unreadable);
    CHECK(parsed(sample_text + "; h=x") == identity_parse::unreadable);
    CHECK(parsed(sample_text + "; junk") == identity_parse::unreadable);
    CHECK(parsed(sample_text + "; x=" + std::string(2000, 'x')) == identity_parse::unreadable);
    CHECK(parsed(sample_text + std::string(100, ';')) == identity_parse::unreadable);
}

TEST_CASE("identity: a run has 16 digits, zeros included") {
    std::string text;
    append_run(0xab, text);
    CHECK(text == "00000000000000ab");
}
