// SPDX-License-Identifier: GPL-3.0-or-later
// Archives of others: what is read, what is refused, and that whoever makes one cannot have more
// read than the bounds say.
#include "bundle/archive.hpp"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "bundle/manifest.hpp"
#include "hostile_tar.hpp"

using namespace postal;
using bundle::files;

namespace {

std::string refusal(const std::string& octets, const bundle::archive_bounds& bounds = {}) {
    const auto read = bundle::read_archive(octets, bounds);
    return read ? std::string{} : read.error().message;
}

const files three{{"a.json", "{}"}, {"b/c.txt", std::string(100000, 'x')}, {"manifest.json", ""}};

}  // namespace

TEST_CASE("archive: what is written is what is read, and the same octets each time") {
    const auto written = bundle::write_archive(three);
    REQUIRE(written.has_value());
    CHECK(*bundle::write_archive(three) == *written);
    CHECK(bundle::looks_like_archive(*written));
    CHECK_FALSE(bundle::looks_like_bundle(*written));  // its manifest is empty
    CHECK(*bundle::read_archive(*written) == three);
    CHECK(written->size() < 2000);
    const files long_name{{"a/" + std::string(253, 'n'), "long"}};
    CHECK(*bundle::read_archive(*bundle::write_archive(long_name)) == long_name);
    CHECK(bundle::read_archive(*bundle::write_archive({}))->empty());
}

TEST_CASE("archive: a bundle is known by its beginning, and no other archive is one") {
    const files made{{"ledgers/a", std::string(10000, 'x')},
                     {"manifest.json", bundle::manifest_text({})}};
    const std::string whole = *bundle::write_archive(made);
    CHECK(bundle::looks_like_bundle(whole));
    CHECK(bundle::looks_like_bundle(whole.substr(0, 4096)));
    const std::string text = bundle::manifest_text({});
    CHECK(bundle::looks_like_bundle(
        test::gzip(test::tar({{.name = "manifest.json", .content = text}}))));
    for (const std::string& other :
         {test::gzip("hello"), test::gzip(text), std::string("\x1f\x8b"), std::string(),
          test::gzip(test::tar({{.name = "manifest.json.old", .content = text}})),
          test::gzip(test::tar({{.name = "manifest.json", .content = "{}"}})),
          test::gzip(test::tar({{.name = "a", .content = text}}))})
        CHECK_FALSE(bundle::looks_like_bundle(other));
}

TEST_CASE("archive: what would not be read is not written") {
    const bundle::archive_bounds few{.archive = 600, .file = 1000, .all = 1500, .files = 3};
    const auto why = [&](const files& all) {
        const auto made = bundle::write_archive(all, few);
        return made ? std::string() : made.error().message;
    };
    CHECK(why({{"a", std::string(1000, 'x')}}).empty());
    CHECK(why({{"a", std::string(1001, 'x')}}) == "a: is larger than 1000 B, which nobody reads");
    CHECK(why({{"a", std::string(800, 'x')}, {"b", std::string(701, 'x')}}) ==
          "would have files of 1.5 KiB, and 1.5 KiB are read");
    CHECK(why({{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}}) ==
          "would have 4 files, and 3 are read");
    std::string noise;
    for (unsigned i = 0; noise.size() < 900; ++i)
        noise += static_cast<char>((i * i * 2654435761U) >> 13U);
    CHECK_THAT(why({{"a", noise}}), Catch::StartsWith("would be larger than 600 B"));
}

TEST_CASE("archive: nothing stands behind the gzip") {
    const std::string whole = *bundle::write_archive(three);
    CHECK(refusal(whole + "x") == "has more behind its gzip");
    CHECK(refusal(whole + std::string(10000, '\0')) == "has more behind its gzip");
    CHECK(refusal(whole + test::gzip("more")) == "has more behind its gzip");
    CHECK(refusal(whole + whole) == "has more behind its gzip");
    CHECK_THAT(refusal(whole.substr(0, whole.size() - 1)), Catch::Contains("cannot be read: "));
    // Half of it as one member, half as another.
    const std::string plain = test::tar({{.name = "a", .content = std::string(2000, 'x')}});
    CHECK(refusal(test::gzip(plain.substr(0, 700)) + test::gzip(plain.substr(700))) != "");
}

TEST_CASE("archive: names") {
    for (const char* good : {"a", "a/b.c", "runs/b01-1-x+y=z/postal.json", "a..b", "..."})
        CHECK(bundle::is_plain_name(good));
    for (const std::string& bad :
         {std::string(), std::string("/a"), std::string("a/"), std::string("a//b"),
          std::string("."), std::string("a/../b"), std::string(".."), std::string("./a"),
          std::string("a b"), std::string("a\n"), std::string("a\\b"), std::string("\xc3\xa9"),
          std::string("a\0b", 3), std::string(256, 'a')}) {
        INFO(bad);
        CHECK_FALSE(bundle::is_plain_name(bad));
        CHECK(bundle::write_archive({{bad, ""}}).has_error());
    }
}

TEST_CASE("archive: what no archive of ours has is refused") {
    using test::tar;
    struct row {
        std::string octets;
        std::string wanted;
    };
    const std::string plain = tar({{.name = "a"}});
    for (const auto& [octets, wanted] :
         {row{"", "is not a tar archive within one gzip"},
          row{"hello", "is not a tar archive within one gzip"},
          row{plain, "is not a tar archive within one gzip"},
          row{test::gzip(test::gzip(plain)), "is not a tar archive within one gzip"},
          row{test::gzip("hello"), "cannot be read: "},
          row{test::gzip(tar({{.name = "../a"}})), "has a name that no file of a bundle has"},
          row{test::gzip(tar({{.name = "/etc/passwd"}})),
              "has a name that no file of a bundle has"},
          row{test::gzip(tar({{.name = "a/"}})), "has a name that no file of a bundle has"},
          row{test::gzip(tar({{.name = "a", .type = '5'}})), "a: is no plain file"},
          row{test::gzip(tar({{.name = "a", .type = '2', .link = "/etc/passwd"}})),
              "a: is no plain file"},
          row{test::gzip(tar({{.name = "b"}, {.name = "a", .type = '1', .link = "b"}})),
              "a: is no plain file"},
          row{test::gzip(tar({{.name = "a", .type = '3'}})), "a: is no plain file"},
          row{test::gzip(tar({{.name = "a", .type = '6'}})), "a: is no plain file"},
          row{test::gzip(tar({{.name = "a"}, {.name = "b"}, {.name = "a"}})), "a: is there twice"},
          row{test::gzip(tar({{.name = "a", .content = "x", .says = 8ULL << 30U}})), "a: "}}) {
        INFO(wanted);
        CHECK_THAT(refusal(octets), Catch::StartsWith(wanted));
    }
    CHECK(refusal(test::gzip(plain)).empty());
}

TEST_CASE("archive: bombs end at the bounds") {
    const bundle::archive_bounds few{.archive = 4096, .file = 1000, .all = 2500, .files = 3};
    const auto of = [](const files& all) { return *bundle::write_archive(all); };
    CHECK(refusal(of({{"a", std::string(1000, 'x')}}), few).empty());
    CHECK(refusal(of({{"a", std::string(1001, 'x')}}), few) == "a: is larger than 1000 B");
    CHECK_THAT(refusal(of({{"a", std::string(900, 'x')},
                           {"b", std::string(900, 'x')},
                           {"c", std::string(900, 'x')}}),
                       few),
               Catch::StartsWith("c: is larger than "));
    CHECK(refusal(of({{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}}), few) ==
          "has more than 3 files");
    CHECK_THAT(refusal(std::string(4097, '\x1f'), few), Catch::StartsWith("is larger than "));
    // 64 MiB of one octet in 64 KiB, in one file and in what lies between files.
    const std::string large(std::size_t{64} << 20U, '\0');
    const bundle::archive_bounds small{.file = 1U << 20U, .all = 1U << 20U};
    CHECK_THAT(refusal(of({{"a", large}}), small), Catch::StartsWith("a: is larger than "));
    CHECK(refusal(test::gzip(test::tar({{.name = "a", .type = 'x', .content = large}})), small) !=
          "");
    // Holes are octets, too.
    CHECK(refusal(test::gzip(test::tar({{.name = "a", .type = 'S', .says = 1ULL << 40U}}))) != "");
}

TEST_CASE("archive: cut off or changed anywhere, it is refused or says other files") {
    const std::string whole = *bundle::write_archive(three);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto read = bundle::read_archive(whole.substr(0, size));
        CHECK_FALSE(read.has_value());
    }
    std::size_t taken = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string other = whole;
        other[at] = static_cast<char>(other[at] ^ 0x20);
        taken += bundle::read_archive(other).has_value() ? 1 : 0;
    }
    // But for what its header says of the time and the system.
    CHECK(taken <= 10);
}
