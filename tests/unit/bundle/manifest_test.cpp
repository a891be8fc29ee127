// SPDX-License-Identifier: GPL-3.0-or-later
// Manifests: what is written is read, and what is wrong with a bundle's files is said.
#include "bundle/manifest.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "mail/sha256.hpp"

using namespace postal;
using bundle::file_fault;

namespace {

const bundle::files two{{"records/a.json", "{}"}, {"printed/records.txt", "result"}};

bundle::manifest good() {
    bundle::manifest made;
    made.version = "1.0.0";
    made.records = {"records/a.json"};
    made.files = bundle::list_of(two);
    made.left_out = {{"users.txt", "secret"}};
    made.remarks = {"look"};
    return made;
}

std::string refusal(const bundle::manifest& of) {
    const auto read = bundle::parse_manifest(bundle::manifest_text(of));
    return read ? std::string{} : read.error().message;
}

}  // namespace

TEST_CASE("manifest: what is written is what is read") {
    const std::string text = bundle::manifest_text(good());
    const auto read = bundle::parse_manifest(text);
    REQUIRE(read.has_value());
    CHECK(bundle::manifest_text(*read) == text);
    REQUIRE(read->files.size() == 2);
    CHECK(read->files[1].sha256 == mail::sha256_of("{}"));
    CHECK(bundle::parse_manifest("{}").error().message == "schema is not postal-bundle/1");
    CHECK_THAT(bundle::parse_manifest("[").error().message, Catch::StartsWith("is no JSON: "));
}

TEST_CASE("manifest: what no manifest says is refused") {
    CHECK(refusal(good()).empty());
    auto bad = good();
    bad.files[0].name = "../x";
    CHECK(refusal(bad) == "files[0].name is not a name that a file of a bundle has");
    bad = good();
    bad.files[0].name = "manifest.json";
    CHECK(refusal(bad) == "files[0].name is not a name that a file of a bundle has");
    bad = good();
    bad.files[1] = bad.files[0];
    CHECK(refusal(bad) == "files[1].name is not named once");
    bad = good();
    bad.files[0].sha256 = "ABCD";
    CHECK(refusal(bad) == "files[0].sha256 is not 64 hexadecimal digits");
    bad = good();
    bad.records.emplace_back("records/b.json");
    CHECK(refusal(bad) == "records[1] is not one of files, once");
    bad = good();
    bad.records.push_back(bad.records[0]);
    CHECK(refusal(bad) == "records[1] is not one of files, once");
    bad = good();
    bad.ledgers = {"etc/passwd"};
    CHECK(refusal(bad) == "ledgers[0] is not one of files, once");
    bad = good();
    bad.records.assign(1001, "records/a.json");
    CHECK(refusal(bad) == "records is not a list of at most 1000");
    bad = good();
    bad.records.clear();
    CHECK_THAT(refusal(bad), Catch::StartsWith("records is not a list of at least one"));
    bad.account = true;
    CHECK(refusal(bad).empty());
    bad = good();
    bad.results = "/";
    CHECK(refusal(bad) == "results is not \"results/\" or empty");
}

TEST_CASE("manifest: each fault of a file is one of its own") {
    const auto of = good();
    CHECK(bundle::check_files(of, two).empty());
    auto all = two;
    all["manifest.json"] = all["manifest.json.sig"] = "?";
    CHECK(bundle::check_files(of, all).empty());
    all["records/a.json"] = "[]";
    all["extra"] = "";
    all.erase("printed/records.txt");
    const auto found = bundle::check_files(of, all);
    REQUIRE(found.size() == 3);
    CHECK(found[0].is == file_fault::missing);
    CHECK(found[0].line == "printed/records.txt: is in the manifest, and not there");
    CHECK(found[1].is == file_fault::changed);
    CHECK(found[1].line == "records/a.json: is not what it was: its SHA-256 is another one");
    CHECK(found[2].is == file_fault::unlisted);
    CHECK(found[2].line == "extra: is there, and not in the manifest");
    all["records/a.json"] = "{} ";
    CHECK(bundle::check_files(of, all)[1].line ==
          "records/a.json: has 3 octets, and the manifest says 2");
}
