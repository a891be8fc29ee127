// SPDX-License-Identifier: GPL-3.0-or-later
// Files of variables, of which some are secret: what stands in one is in no message.
#include "lmtp-deliver/environment_file.hpp"

#include "support.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace postal;
using namespace postal::lmtp_deliver;

TEST_CASE("environment file: what is accepted") {
    struct row {
        std::string text;
        std::vector<std::string> wanted;
        std::string_view reason;
    };
    const row rows[]{
        {"", {}, "an empty file"},
        {"\n  \n# A=1\n  # B=2\n", {}, "blank lines and comments"},
        {"A=1\nB=2\n", {"A=1", "B=2"}, "two"},
        {"A=1", {"A=1"}, "without a line end"},
        {"A=1\r\nB=\r\n", {"A=1", "B="}, "CRLF, and an empty value"},
        {"A= x = 'y' # z \n", {"A= x = 'y' # z "}, "a value is taken as it is"},
        {"_a_1=\xff%to%\n", {"_a_1=\xff%to%"}, "any octets"},
    };
    for (const row& each : rows) {
        INFO(each.reason);
        const auto read = parse_environment(each.text, "f");
        REQUIRE(read.has_value());
        CHECK(*read == each.wanted);
    }
}

TEST_CASE("environment file: what is refused, with the line and without what it says") {
    struct row {
        std::string text;
        std::string_view wanted;
    };
    const row rows[]{
        {"hush\n", "f:1: is not NAME=VALUE"},
        {"A=1\n=hush\n", "f:2: is not NAME=VALUE"},
        {"A B=hush\n", "f:1: is not NAME=VALUE"},
        {" A=hush\n", "f:1: is not NAME=VALUE"},
        {"1A=hush\n", "f:1: is not NAME=VALUE"},
        {"export A=hush\n", "f:1: is not NAME=VALUE"},
        {"A-B=hush\n", "f:1: is not NAME=VALUE"},
        {"A=hush\nA=hush\n", "f:2: A stands there twice"},
        {std::string("A=hu\0sh\n", 8), "f:1: the value of A has a NUL in it"},
    };
    for (const row& each : rows) {
        INFO(each.text);
        const auto read = parse_environment(each.text, "f");
        REQUIRE(read.has_error());
        CHECK(read.error().message.find(each.wanted) == 0);
        CHECK(read.error().message.find("hu") == std::string::npos);
    }
    CHECK(parse_environment("A=1\nAB=2\n", "f").has_value());
}

TEST_CASE("environment file: it is its owner's alone") {
    const test::temporary_file file("A=hush\n");
    struct row {
        mode_t mode;
        bool fine;
    };
    for (const auto& [mode, fine] : {row{0600, true}, row{0400, true}, row{0640, false},
                                     row{0604, false}, row{0620, false}, row{0601, false}}) {
        CAPTURE(mode);
        REQUIRE(::chmod(file.path().c_str(), mode) == 0);
        const auto read = load_environment(file.path());
        CHECK(read.has_value() == fine);
        if (!fine)
            CHECK(read.error().message.find("others may use it (mode 06") != std::string::npos);
    }
    const auto folder = load_environment("/");
    REQUIRE(folder.has_error());
    CHECK(folder.error().message == "/: is no regular file");
    const test::temporary_file large(std::string(100'000, '#'));
    REQUIRE(::chmod(large.path().c_str(), 0600) == 0);
    const auto read = load_environment(large.path());
    REQUIRE(read.has_error());
    CHECK(read.error().message.find("is longer than 64") != std::string::npos);
}

TEST_CASE("environment file: another user's is refused") {
    if (::geteuid() != 0) return;
    const test::temporary_file file("A=hush\n");
    REQUIRE(::chmod(file.path().c_str(), 0600) == 0);
    REQUIRE(::chown(file.path().c_str(), 12345, 12345) == 0);
    const auto read = load_environment(file.path());
    REQUIRE(read.has_error());
    CHECK(read.error().message.find("belongs to user number 12345") != std::string::npos);
}
