// The record of an experiment, written and read back, and what somebody else wrote there.
#include "experiment/record.hpp"

#include "made_up.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <functional>

using namespace postal;
using namespace postal::experiment;
using json = nlohmann::ordered_json;

namespace {

experiment_record full_record() {
    auto made = test::made_up_record({"a", "b", "a again"}, metric::p99);
    made.variants[2].same_as = 0;
    made.variants[1].values = {{"options", "barrier=0"}, {"disk", ""}};
    made.version = "1.0.0";
    made.argv = {"postal-compare", "x.toml"};
    made.versions = {{"postal-compare", "1.0.0"}, {"dovecot --version", "2.3"}};
    made.until_width = 0.05;
    made.host = {"mx", "Linux", 2, 1U << 30U};
    made.text = "title = \"\xc3\xa4\"";
    recorded_run& run = made.runs.emplace_back();
    run.at = {1, 0, 2};
    run.folder = "runs/b01-1-a..b";
    run.flush_median_s = 0.001;
    run.loads = {{"postal", "runs/b01-1-a..b/postal.json", std::string(64, 'a')}};
    run.costs = kept_file{"costs", "runs/b01-1-a..b/costs.json", std::string(64, 'b')};
    run.devices = {"/dev/loop0"};
    made.runs.push_back({.at = {1, 1, 0}, .end = run_end::failed, .reason = "no luck"});
    made.runs.push_back({.at = {1, 2, 1}, .end = run_end::interrupted});
    return made;
}

}  // namespace

TEST_CASE("record: what was written is what is read") {
    const auto wanted = full_record();
    const std::string text = record_text(wanted, {{"voided", false}});
    const auto read = parse_experiment_record(text);
    REQUIRE(read.has_value());
    CHECK(record_text(*read, {{"voided", false}}) == text);
    CHECK(read->verdict.about == metric::p99);
    CHECK(read->variants.at(2).same_as == 0);
    CHECK(read->variants.at(1).values == wanted.variants[1].values);
    CHECK(read->runs.at(0).at == wanted.runs[0].at);
    CHECK(read->runs.at(0).loads.at(0).path == "runs/b01-1-a..b/postal.json");
    CHECK(read->runs.at(1).end == run_end::failed);
    CHECK_FALSE(read->runs.at(1).costs.has_value());
    CHECK(read->until_width == 0.05);
    CHECK(recorded_analysis(text) == json{{"voided", false}});
}

TEST_CASE("record: what is no record is refused, with its key") {
    struct row {
        std::function<void(json&)> harm;
        std::string named;
    };
    const std::vector<row> table{
        {[](json& all) { all["schema"] = "postal-record/1"; }, "schema"},
        {[](json& all) { all["schema"] = 1; }, "schema"},
        {[](json& all) { all["seed"] = -1; }, "seed"},
        {[](json& all) { all["duration_s"] = "10"; }, "duration_s"},
        {[](json& all) { all["variants"] = json::array(); }, "variant"},
        {[](json& all) { all["variants"][0]["same_as"] = 0; }, "same_as"},
        {[](json& all) { all["variants"][2]["same_as"] = 2; }, "same_as"},
        {[](json& all) { all["variants"][1]["values"]["disk"] = 7; }, "disk"},
        {[](json& all) { all["verdict"]["metric"] = "joy"; }, "metric"},
        {[](json& all) { all["verdict"]["program"] = 1; }, "program"},
        {[](json& all) { all["verdict"]["margin"] = 0; }, "margin"},
        {[](json& all) { all["verdict"]["margin"] = 1; }, "margin"},
        {[](json& all) { all["verdict"]["confidence"] = 1.5; }, "confidence"},
        {[](json& all) { all["runs"][0]["variant"] = 3; }, "variant"},
        {[](json& all) { all["runs"][0]["state"] = "fine"; }, "state"},
        {[](json& all) { all["runs"][0]["loads"][0]["path"] = "/etc/passwd"; }, "path"},
        {[](json& all) { all["runs"][0]["loads"][0]["path"] = "../x"; }, "path"},
        {[](json& all) { all["runs"][0]["loads"][0]["path"] = "runs/../../x"; }, "path"},
        {[](json& all) { all["runs"][0]["costs"]["path"] = "runs/.."; }, "path"},
        {[](json& all) { all["runs"][0]["loads"] = "many"; }, "loads"},
        {[](json& all) { all["runs"] = 1; }, "runs"},
        {[](json& all) { all["host"] = json::array(); }, "host"},
    };
    const json good = json::parse(record_text(full_record(), nullptr));
    REQUIRE(parse_experiment_record(good.dump()).has_value());
    for (const auto& [harm, named] : table) {
        json bad = good;
        harm(bad);
        const auto read = parse_experiment_record(bad.dump());
        INFO(named);
        REQUIRE_FALSE(read.has_value());
        INFO(read.error().message);
        CHECK(read.error().message.find(named) != std::string::npos);
        CHECK(read.error().message.find('\n') == std::string::npos);
    }
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("[]"), std::string("null"),
          std::string("{\"schema\":NaN}"), std::string(100000, '['), good.dump().substr(0, 500)}) {
        CHECK_FALSE(parse_experiment_record(text).has_value());
        CHECK(recorded_analysis(text).is_null());
    }
}
