// SPDX-License-Identifier: GPL-3.0-or-later
// What a recorded run leaves: as it was written by earlier versions, read, and what is no
// recording.
#include "postal-audit/recording.hpp"

#include "base/read_file.hpp"
#include "base/write_file.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>

#include "../stats/record_filler.hpp"
#include "../stats/record_property.hpp"

using namespace postal;

TEST_CASE("recording: written as ever, read back, and refused by key") {
    std::string folder = "/tmp/recording_test.XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    const std::string path = folder + "/recording.json";
    audit::recording one{.disk_octets = 1U << 30U,
                         .first = 3,
                         .last = 5,
                         .begin_us = 1'767'225'600'000'000,
                         .end_us = 1'767'225'601'000'000,
                         .longest_gap_s = 1.0 / 3,
                         .started = "2026-01-01T00:00:00.000Z",
                         .mounted = "/dev/loop0 /mnt ext4 rw 0 0",
                         .last_us = {-1, 0, 7}};
    REQUIRE(audit::keep(one, folder).has_value());
    CHECK(base::read_file(path).value() ==
          "{\"schema\":\"postal-recording/1\",\"started\":\"2026-01-01T00:00:00.000Z\","
          "\"mounted\":\"/dev/loop0 /mnt ext4 rw 0 0\",\"disk_octets\":1073741824,\"first\":3,"
          "\"last\":5,\"begin_us\":1767225600000000,\"end_us\":1767225601000000,"
          "\"longest_gap_s\":0.3333333333333333,\"last_us\":[-1,0,7]}\n");
    for (unsigned seed = 0; seed < 4; ++seed) {
        one = stats::test::filled<audit::recording>(seed);
        one.last = one.first + 1;
        REQUIRE(audit::keep(one, folder).has_value());
        const std::string text = base::read_file(path).value();
        REQUIRE(audit::keep(audit::read_recording(folder).value(), folder).has_value());
        CHECK(base::read_file(path).value() == text);
    }
    const auto refusal = [&](const std::string& text) {
        REQUIRE(base::write_file(path, text).has_value());
        const auto read = audit::read_recording(folder);
        return read ? std::string{} : read.error().message;
    };
    const std::string good = base::read_file(path).value();
    stats::test::check_members(good,
                               {"started", "mounted", "disk_octets", "first", "last", "begin_us",
                                "end_us", "longest_gap_s", "last_us"},
                               refusal);
    const std::string times =
        path + ": last_us is not a list of one number for each of the entries";
    one.last_us.pop_back();
    REQUIRE(audit::keep(one, folder).has_value());
    CHECK_THAT(refusal(base::read_file(path).value()), Catch::StartsWith(times));
    CHECK_THAT(refusal("{\"schema\":\"postal-recording/2\"}"),
               Catch::Equals(path + ": schema is not postal-recording/1"));
    CHECK_THAT(refusal(good.substr(0, 40)), Catch::StartsWith(path + ": is no JSON: parse error"));
    std::filesystem::remove_all(folder);
}
