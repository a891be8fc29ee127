// SPDX-License-Identifier: GPL-3.0-or-later
// Transcripts are told from other files, which they must not replace.
#include "net/transcript.hpp"

#include "../temporary_file.hpp"
#include "base/read_file.hpp"

#include <catch2/catch.hpp>

#include <cstdio>
#include <filesystem>

#include <unistd.h>

using namespace postal;

TEST_CASE("transcript: what was written is known again, and nothing else is") {
    const test::temporary_file base("");
    {
        net::transcript written({base.path(), "", false}, 0);
        written.begin_connection("127.0.0.1:25");
        written.received("220 mail.example.com ESMTP\r\n");
    }
    const auto text = base::read_file(base.path() + ":0");
    std::remove((base.path() + ":0").c_str());
    REQUIRE(text.has_value());
    REQUIRE(net::is_transcript(*text));
    for (std::size_t size = 0; size < 16; ++size) {
        INFO(size);
        CHECK_FALSE(net::is_transcript(std::string_view(*text).substr(0, size)));
    }
    CHECK(net::is_transcript("123456.000001 -> QUIT\n"));
    CHECK(net::is_transcript("    0.000001 <- 221 bye\n"));
    for (const char* other : {"Dear diary", "0.000001 -> QUIT", "    0.00000x -> QUIT",
                              "    0.0000001 -> QUIT", "    0.000001 == x", "            "})
        CHECK_FALSE(net::is_transcript(other));
}

TEST_CASE("transcript: a stranger's link is not followed, one's own is") {
    const test::temporary_file base("");
    const test::temporary_file target("kept");
    const std::string link = base.path() + ":0";
    std::filesystem::create_symlink(target.path(), link);
    const net::transcript_options wanted{base.path(), "", false};
    CHECK(net::check_transcripts(wanted).has_value());
    const bool made_strange = ::geteuid() == 0 && ::lchown(link.c_str(), 65534, 65534) == 0;
    if (made_strange) {  // only root can
        CHECK_FALSE(net::check_transcripts(wanted).has_value());
        net::transcript written(wanted, 0);
        written.begin_connection("127.0.0.1:25");
    }
    std::filesystem::remove(link);
    CHECK(base::read_file(target.path()).value() == "kept");
}
