// SPDX-License-Identifier: GPL-3.0-or-later
// Records as files: what cannot be read, and how records are told apart.
#include "postal-report/record.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace postal;

TEST_CASE("record: a file's failure names the file and is safe to print") {
    const auto missing = report::read_record("/nonexistent/\x1b[2Jrun.json");
    REQUIRE(missing.has_error());
    CHECK_THAT(missing.error().message, Catch::Contains("/nonexistent/"));
    CHECK_THAT(missing.error().message, Catch::Contains("No such file"));
    CHECK(missing.error().message.find('\x1b') == std::string::npos);
    const auto folder = report::read_record("/tmp");
    REQUIRE(folder.has_error());
    CHECK_THAT(folder.error().message, Catch::Contains("/tmp: is a directory"));
}

TEST_CASE("record: labels are short and tell records apart") {
    const auto labels = [](const std::vector<std::string>& files) {
        std::vector<report::record> records(files.size());
        for (std::size_t i = 0; i < files.size(); ++i)
            records[i].file = files[i];
        report::label(records);
        std::vector<std::string> made;
        for (const auto& one : records)
            made.push_back(one.label);
        return made;
    };
    CHECK(labels({"/a/ext4.json", "/b/xfs.json"}) == std::vector<std::string>{"ext4", "xfs"});
    CHECK(labels({"a/run.json", "b/run.json"}) ==
          std::vector<std::string>{"a/run.json", "b/run.json"});
    CHECK(labels({"run.json", "run.json"}) == std::vector<std::string>{"run.json", "run.json #2"});
    CHECK(labels({"-", "run.txt"}) == std::vector<std::string>{"standard input", "run.txt"});
}
