// SPDX-License-Identifier: GPL-3.0-or-later
// Limits as people write them, and every way of writing them wrong.
#include "os/limits.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>

#include <string>

using namespace postal;

namespace {

constexpr std::uint64_t mebi = 1U << 20U;

}  // namespace

TEST_CASE("child limits: what is accepted") {
    struct row {
        std::string_view text;
        std::vector<os::limit> wanted;
        std::string_view reason;
    };
    const std::vector<row> table{
        {"", {}, "no limit"},
        {"cpu=30s", {{RLIMIT_CPU, 30, 31}}, "the hard limit kills without a word"},
        {"cpu=1500ms", {{RLIMIT_CPU, 2, 3}}, "rounded up"},
        {"cpu=2m", {{RLIMIT_CPU, 120, 121}}, "minutes"},
        {"memory=512M", {{RLIMIT_AS, 512 * mebi, 512 * mebi}}, "powers of 1024"},
        {"files=64", {{RLIMIT_NOFILE, 64, 64}}, "a count"},
        {"processes=100", {{RLIMIT_NPROC, 100, 100}}, "of the user"},
        {"file-size=2G", {{RLIMIT_FSIZE, 2048 * mebi, 2048 * mebi}}, "of one file"},
        {"core=0", {{RLIMIT_CORE, 0, 0}}, "none at all"},
        {"core=1M", {{RLIMIT_CORE, mebi, mebi}}, "for whoever wants one"},
        {"files=64,cpu=1s", {{RLIMIT_NOFILE, 64, 64}, {RLIMIT_CPU, 1, 2}}, "in any order"},
        {" cpu = 1s , files = 8 ", {{RLIMIT_CPU, 1, 2}, {RLIMIT_NOFILE, 8, 8}}, "blanks"},
    };
    for (const auto& [text, wanted, reason] : table) {
        INFO(text << ": " << reason);
        const auto limits = os::parse_limits(text);
        REQUIRE(limits.has_value());
        CHECK((*limits == wanted));
    }
}

TEST_CASE("child limits: what is refused, in one line") {
    struct row {
        std::string_view text;
        std::string_view wanted;
    };
    const std::vector<row> table{
        {"disk=1G", "there is no limit 'disk'; known are cpu=30s"},
        {"CPU=1s", "there is no limit 'CPU'; known are"},
        {",", "there is no limit ''; known are"},
        {"cpu=1s,", "there is no limit ''; known are"},
        {"cpu", "cpu has no value; give for instance cpu=30s"},
        {"cpu=", "cpu: '' is not a duration"},
        {"cpu=30", "cpu: "},
        {"cpu=-1s", "cpu: '-1s' is not a duration"},
        {"cpu=0", "cpu: a limit of 0 would let nothing run"},
        {"memory=0M", "memory: a limit of 0 would let nothing run"},
        {"memory=much", "memory: 'much' is not a size"},
        {"files=0", "files: a limit of 0 would let nothing run"},
        {"processes=0", "processes: a limit of 0 would let nothing run"},
        {"file-size=0", "file-size: a limit of 0 would let nothing run"},
        {"core=", "core: '' is not a size"},
        {"files=1K", "files: '1K' is not a"},
        {"cpu=1s,files=3,cpu=2s", "cpu is limited twice"},
        {"files=1099511627776",
         "files: 1099511627776 are more than the hard limit of this process"},
    };
    for (const auto& [text, wanted] : table) {
        INFO(text);
        const auto limits = os::parse_limits(text);
        REQUIRE(limits.has_error());
        INFO(limits.error().message);
        CHECK(limits.error().message.find(wanted) == 0);
        CHECK(limits.error().message.find('\n') == std::string::npos);
    }
}

TEST_CASE("child limits: a usual limit is never more than this process may have") {
    const auto own = os::current_descriptor_limit();
    const auto less = os::at_most(own.resource, 3);
    CHECK(less.soft == 3);
    CHECK(less.hard == 3);
    const auto more = os::at_most(own.resource, ~std::uint64_t{0});
    CHECK(more.soft == own.hard);
    CHECK(more.hard == own.hard);
}

TEST_CASE("child limits: asking changes no limit of this process") {
    const auto before = os::current_descriptor_limit();
    // Above the hard limit: root may, others may not.
    (void)os::parse_limits("files=" + std::to_string(before.hard + 1));
    CHECK((os::current_descriptor_limit() == before));
}
