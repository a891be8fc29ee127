// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/digest.hpp"

#include <catch2/catch.hpp>

using namespace postal::mail;

TEST_CASE("digest: known values of each kind") {
    struct row {
        digest_kind kind;
        std::string text, wanted;
    };
    // md5 and sha256: RFC 1321 A.5 and FIPS 180-4; xxh3: XXH3_64bits of the empty input (xxHash's
    // own tests)
    const row rows[]{
        {digest_kind::xxh3, "", "xxh3:2d06800538d394c2"},
        {digest_kind::md5, "", "md5:d41d8cd98f00b204e9800998ecf8427e"},
        {digest_kind::md5, "abc", "md5:900150983cd24fb0d6963f7d28e17f72"},
        {digest_kind::sha256, "abc",
         "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    };
    hasher one;
    for (const row& each : rows) {
        one.reset(each.kind);
        one.update(each.text);
        CHECK(to_text(one.finish()) == each.wanted);
        CHECK(to_text(parse_digest(each.wanted).value()) == each.wanted);
    }
}

TEST_CASE("digest: splits do not matter and contexts can be used again") {
    std::string text;
    for (int i = 0; i < 1000; ++i)
        text += static_cast<char>(i * 7);
    for (const auto kind : {digest_kind::xxh3, digest_kind::md5, digest_kind::sha256}) {
        hasher one(kind);
        one.update(text);
        const auto whole = one.finish();
        for (std::size_t split = 0; split <= text.size(); split += 13) {
            one.reset(kind);
            one.update(std::string_view(text).substr(0, split));
            one.update(std::string_view(text).substr(split));
            REQUIRE(one.finish() == whole);
        }
    }
}

TEST_CASE("digest: damaged text is not a digest") {
    for (const std::string text :
         {"", "xxh3", "xxh3:", "xxh3:2d06800538d394c", "xxh3:2d06800538d394c20",
          "xxh3:2d06800538d394cG", "XXH3:2d06800538d394c2", "crc:00", "xxh3:2D06800538D394C2",
          "md5:2d06800538d394c2"}) {
        INFO(text);
        CHECK_FALSE(parse_digest(text));
    }
}
