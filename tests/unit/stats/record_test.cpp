// SPDX-License-Identifier: GPL-3.0-or-later
// The record of ordinary runs and of runs that are nearly nothing: its keys, its numbers, its file.
#include "stats/record_writer.hpp"

#include "base/write_file.hpp"
#include "support.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace postal::stats;
using namespace std::chrono_literals;
using json = nlohmann::json;

namespace {

json parsed(const run_report& report) {
    return json::parse(record_text(report));
}

class folder {
  public:
    folder() {
        std::string name = "/tmp/record_test.XXXXXX";
        path_ = ::mkdtemp(name.data());
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::string operator/(const char* name) const { return path_ + "/" + name; }
    [[nodiscard]] std::size_t files() const {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(path_))
            ++count;
        return count;
    }

  private:
    std::string path_;
};

json read(const std::string& path) {
    std::ifstream file(path);
    return json::parse(file);
}

// A percentile is there where a value lies beyond it, and a rate always. Keys and types are the
// schema's.
void check_shape(const json& record) {
    const json& rate = record.at("rate").at("messages_per_minute");
    for (const char* key : {"mean", "min", "max", "intervals"})
        CHECK(rate.at(key).is_number());
    CHECK(rate.at("ci95").is_null() == (rate.at("intervals") < 10));
    const std::map<std::string, unsigned> needed{
        {"mean", 1}, {"min", 1}, {"max", 1}, {"p50", 2}, {"p90", 10}, {"p99", 100}, {"p999", 1000}};
    for (const auto& phase : record.at("latency_us"))
        for (const auto& [key, values] : needed)
            CHECK(phase.at(key).is_null() == (phase.at("count") < values));
    CHECK(record.at("generator").at("worker_busy").is_number());
}

}  // namespace

TEST_CASE("record: an ordinary run") {
    auto run = test::description();
    run.options["sessions"] = std::uint64_t{12};
    run_report report(run);
    report.add_time_slice(test::counted(0, 60, 100));
    auto part = test::counted(60, 120, 200);
    part.counts.errors.add("rcpt", 550, "5.1.1", "no \xff such user");
    part.counts.errors.add("connect", 0, "refused", "127.0.0.1:25");
    part.counts.slip.record(120us);
    report.add_time_slice(part);
    report.finish({120.5, run_ending::duration, 1.5, 0.25, 1U << 20U});
    report.thresholds = {{"errors==0", 2.0, "", false}, {"p99(x)<1s", std::nullopt, "us", false}};
    const json record = parsed(report);
    check_shape(record);
    CHECK(record["started"] == "2026-01-01T00:00:00.000Z");
    CHECK(record["ended"] == "duration");
    CHECK(record["interrupted"].is_null());
    CHECK(record["duration_s"] == 120.5);
    CHECK(record["interval_s"] == 60.0);
    CHECK(record["options"]["sessions"] == 12);
    CHECK(record["totals"]["messages"] == 300);
    CHECK(record["totals"]["errors"] == 2);
    CHECK(record["totals"]["max_rss_bytes"] == 1U << 20U);
    CHECK(record["rate"]["messages_per_minute"]["mean"] == 150.0);
    CHECK(record["rate"]["messages_per_minute"]["ci95"].is_null());
    CHECK(record["latency_us"]["message"]["count"] == 300);
    CHECK(record["latency_us"]["message"]["p50"] == 1000);
    CHECK(record["latency_us"]["message"]["min"] == 1000);
    REQUIRE(record["intervals"].size() == 2);
    CHECK(record["intervals"][1]["t_s"] == 120.0);
    CHECK(record["intervals"][1]["message_p99_us"] == 1000);
    CHECK(record["intervals"][1]["errors"] == 2);
    CHECK(record["generator"]["schedule_slip_p99_us"] == 120);
    REQUIRE(record["errors"].size() == 2);
    CHECK(record["errors"][0]["enhanced"] == "5.1.1");
    CHECK(record["errors"][0]["reason"] == "");
    CHECK(record["errors"][1]["enhanced"] == "");
    CHECK(record["errors"][1]["reason"] == "refused");
    CHECK(record["thresholds"][0]["value"] == 2);
    CHECK(record["thresholds"][1]["value"].is_null());
    CHECK_FALSE(record.contains("integrity"));
}

TEST_CASE("record: runs that are nearly nothing are still valid") {
    auto run = test::description();
    run.checks_integrity = true;
    run_report report(run);
    SECTION("no piece at all") {}
    SECTION("zero length") {
        report.add_time_slice(test::counted(0, 0, 0));
    }
    SECTION("a moment") {
        auto part = test::counted(0, 0.001, 0);
        part.partial = true;
        report.add_time_slice(part);
    }
    SECTION("never connected") {
        time_slice part(2);
        part.end_s = 3;
        part.closes_interval = part.partial = true;
        for (int i = 0; i < 10; ++i)
            part.counts.errors.add("connect", 0, "refused", "[::1]:25");
        report.add_time_slice(part);
        CHECK(parsed(report)["errors"][0]["count"] == 10);
    }
    SECTION("warm-up only") {
        auto part = test::counted(0, 5, 50);
        part.in_warmup = part.partial = true;
        report.add_time_slice(part);
        CHECK(parsed(report)["totals"]["messages"] == 0);
        CHECK(parsed(report)["totals_with_warmup"]["messages"] == 50);
        CHECK(parsed(report)["intervals"][0]["messages"] == 50);
    }
    SECTION("numbers that are none") {
        report.finish({std::nan(""), {}, INFINITY, 0, 0});
        CHECK(parsed(report)["duration_s"].is_null());
        report.finish({});
    }
    const json record = parsed(report);
    check_shape(record);
    CHECK(record.at("integrity").at("verified") == 0);
    CHECK(record_text(report).find("nan") == std::string::npos);
}

TEST_CASE("record: the file appears whole, beside nothing else") {
    const folder place;
    run_report report(test::description());
    report.add_time_slice(test::counted(0, 60, 1));
    const std::string path = place / "run.json";
    REQUIRE(postal::base::check_writable(path).has_value());
    CHECK(place.files() == 0);
    REQUIRE(write_record(report.record(), path).has_value());
    REQUIRE(write_record(report.record(), path).has_value());
    CHECK(place.files() == 1);
    CHECK(read(path)["totals"]["messages"] == 1);

    std::filesystem::create_symlink(path, place / "latest.json");
    REQUIRE(write_record(report.record(), place / "latest.json").has_value());
    CHECK(std::filesystem::is_symlink(place / "latest.json"));
    CHECK(place.files() == 2);
}

TEST_CASE("record: text that is not UTF-8 does not end the run without a record") {
    const folder place;
    auto run = test::description();
    run.argv = {"postal", "\xff\xfe"};
    REQUIRE(write_record(run_report(run).record(), place / "run.json").has_value());
    CHECK(read(place / "run.json")["argv"][1].is_string());
}

TEST_CASE("record: where it cannot be written is said with the reason") {
    const folder place;
    const run_report report(test::description());
    struct row {
        std::string path;
        std::string_view reason;
        bool known_before;
    };
    const std::vector<row> table{
        {place / "missing/run.json", "No such file or directory", true},
        {place / ".", "Is a directory", true},
        {"/dev/full", "No space left on device", false},
    };
    for (const auto& [path, reason, known_before] : table) {
        INFO(path);
        CHECK(postal::base::check_writable(path).has_error() == known_before);
        const auto written = write_record(report.record(), path);
        REQUIRE(written.has_error());
        CHECK(written.error().message.find(reason) != std::string::npos);
        CHECK(written.error().message.find(path) == 0);
    }
    CHECK(postal::base::check_writable("").has_error());
    CHECK(postal::base::check_writable("-").has_value());
    CHECK(postal::base::check_writable("/dev/null").has_value());
    CHECK(write_record(report.record(), "/dev/null").has_value());
}
