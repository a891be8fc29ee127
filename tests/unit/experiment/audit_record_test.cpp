// The record of an audit, written and read back, and what somebody else wrote there.
#include "experiment/audit_record.hpp"

#include "made_up_audit.hpp"

#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

#include <functional>

using namespace postal;
using namespace postal::experiment;
using json = nlohmann::ordered_json;

namespace {

audit_record full_record() {
    audit_record made = test::made_up_audit(3);
    made.version = "1.0.0";
    made.argv = {"postal-audit", "x.toml"};
    made.file = "x.toml";
    made.text = "title = \"\xc3\xa4\"";
    made.torn_percent = 25;
    made.host = {"mx", "Linux", 2, 1U << 30U};
    made.versions = {{"postal-audit", "1.0.0"}, {"dovecot --version", "2.3"}};
    audited_variant& variant = made.variants[0];
    variant.started = "2026-01-01T00:00:00.000Z";
    variant.mounted = "/dev/loop0 /mnt ext4 rw 0 0";
    variant.entries = 1400;
    variant.octets = std::uint64_t{1} << 40U;
    variant.recording_s = 12.5;
    variant.longest_gap_s = 0.004;
    audited_image& image = variant.images[1];
    image.what = survival::some;
    image.seed = 0xfedcba9876543210U;
    image.at_risk = 9;
    image.survived = 4;
    image.torn = 2;
    image.misplaced = 1;
    image.duplicated = 2;
    image.truncated = 3;
    image.changed = 4;
    image.unopened = 5;
    image.failure = "mount: wrong fs type";
    image.fsck_status = 4;
    image.fsck = "Inode 12 has a bad checksum";
    image.first_lost = {{"ab", "3", "17", "a@x", "2026-01-01T00:00:01.000000Z"}};
    image.seconds = 1.25;
    return made;
}

}  // namespace

TEST_CASE("audit record: what was written is what is read") {
    const audit_record wanted = full_record();
    const std::string text = audit_text(wanted);
    const auto read = parse_audit_record(text);
    REQUIRE(read.has_value());
    CHECK(audit_text(*read) == text);
    CHECK(read->torn_percent == 25);
    CHECK(read->versions == wanted.versions);
    CHECK(read->host.kernel == "Linux");
    CHECK(read->variants.at(1).as == control::must_lose);
    CHECK(read->variants.at(2).as == control::must_keep);
    const audited_variant& variant = read->variants.at(0);
    CHECK(variant.octets == std::uint64_t{1} << 40U);
    CHECK(variant.longest_gap_s == 0.004);
    CHECK(variant.end == all_cuts_done);
    const audited_image& image = variant.images.at(1);
    CHECK(image.seed == 0xfedcba9876543210U);
    CHECK(image.what == survival::some);
    CHECK(image.torn == 2);
    CHECK(image.failure == "mount: wrong fs type");
    CHECK(image.fsck_status == 4);
    CHECK_FALSE(image.lost_window_s.has_value());
    CHECK(read->variants.at(1).images.at(0).lost_window_s == Approx(0.24));
}

TEST_CASE("audit record: every value has a key of its own") {
    // Each number of an image and of a variant is changed in turn; the record reads back as changed.
    json all = json::parse(audit_text(full_record()));
    for (json* object : {&all["variants"][0]["images"][1], &all["variants"][0]}) {
        for (auto& [key, value] : object->items()) {
            if (!value.is_number()) continue;
            const json before = value;
            // Below what it is a part of.
            value = before.is_number_float() || before == 0 ? json(0.5) : json(1);
            if (before == 0) value = key == "survived" || key == "torn" ? json(0) : json(1);
            const auto read = parse_audit_record(all.dump());
            INFO(key);
            if (key != "at_risk" && key != "survived" && key != "acknowledged") {
                REQUIRE(read.has_value());
                CHECK(json::parse(audit_text(*read)) == all);
            }
            value = before;
        }
    }
}

TEST_CASE("audit record: what is no record is refused, with its key") {
    struct row {
        std::function<void(json&)> harm;
        std::string named;
    };
    const auto image = [](json& all) -> json& { return all["variants"][0]["images"][1]; };
    const std::vector<row> table{
        {[](json& all) { all["schema"] = "postal-experiment/1"; }, "schema"},
        {[](json& all) { all.erase("schema"); }, "schema"},
        {[](json& all) { all["cuts"] = -1; }, "cuts"},
        {[](json& all) { all["torn_percent"] = 101; }, "torn_percent"},
        {[](json& all) { all["host"] = 1; }, "host"},
        {[](json& all) { all["versions"]["x"] = 1; }, "versions.x"},
        {[](json& all) { all["variants"] = json::array(); }, "variants"},
        {[](json& all) { all["variants"] = 1; }, "variants"},
        {[](json& all) { all["variants"][1]["control"] = "maybe"; }, "variants[1].control"},
        {[](json& all) { all["variants"][1].erase("control"); }, "variants[1].control"},
        {[](json& all) { all["variants"][1]["images"] = "many"; }, "variants[1].images"},
        {[&](json& all) { image(all)["survival"] = "most"; }, "variants[0].images[1].survival"},
        {[&](json& all) { image(all)["survived"] = 10; }, "variants[0].images[1].survived"},
        {[&](json& all) { image(all)["torn"] = 5; }, "variants[0].images[1].torn"},
        {[&](json& all) { image(all)["lost"] = 101; }, "variants[0].images[1].lost"},
        {[&](json& all) { image(all)["changed"] = 101; }, "variants[0].images[1].changed"},
        {[&](json& all) { image(all)["at_s"] = -0.5; }, "variants[0].images[1].at_s"},
        {[&](json& all) { image(all)["failure"] = 1; }, "variants[0].images[1].failure"},
        {[&](json& all) { image(all)["lost_window_s"] = "x"; }, "lost_window_s"},
        {[&](json& all) { image(all) = 7; }, "variants[0].images[1]"},
    };
    const json good = json::parse(audit_text(full_record()));
    REQUIRE(parse_audit_record(good.dump()).has_value());
    for (const auto& [harm, named] : table) {
        json bad = good;
        harm(bad);
        const auto read = parse_audit_record(bad.dump());
        INFO(named);
        REQUIRE_FALSE(read.has_value());
        INFO(read.error().message);
        CHECK(read.error().message.find(named) != std::string::npos);
        CHECK(read.error().message.find('\n') == std::string::npos);
    }
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("[]"), std::string("null"),
          std::string(100000, '['), good.dump().substr(0, 500)})
        CHECK_FALSE(parse_audit_record(text).has_value());
}
