// SPDX-License-Identifier: GPL-3.0-or-later
// What a line of --samples looks like, and a file whose disk is slow.
#include "postal/sample_file.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>

using namespace postal;
using namespace postal::sender;
using namespace std::chrono_literals;

TEST_CASE("samples: a line has what is known") {
    message_sample one{.ended = 61'234'567'890ns,
                       .session = 3,
                       .sequence = 7,
                       .octets = 1024,
                       .what = ledger::outcome::accepted,
                       .code = 250,
                       .late = 0ns,
                       .took = 1'234'567ns,
                       .envelope = 49ns,
                       .data = 1'000'000ns};
    std::string text;
    append_line(text, one);
    CHECK(text == "61.234568,3,7,accepted,250,1024,0.0,0.0,1000.0,1234.6,1234.6\n");
    one.what = ledger::outcome::in_doubt;
    one.code = 0;
    one.late = 2s;
    text.clear();
    append_line(text, one);
    CHECK(text == "61.234568,3,7,in_doubt,,1024,2000000.0,,,1234.6,2001234.6\n");
    CHECK(std::count(text.begin(), text.end(), ',') ==
          std::count(samples_header.begin(), samples_header.end(), ','));
}

TEST_CASE("samples: a disk that does not keep up is told, and loses nothing") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    auto file = sample_file::open("/dev/fd/" + std::to_string(ends[1]));
    REQUIRE(file.has_value());
    ::close(ends[1]);
    constexpr std::size_t blocks = 130;
    constexpr std::size_t in_one = 4096;
    CHECK((*file)->keeps_up());
    for (std::size_t i = 0; i < blocks; ++i)
        CHECK((*file)->hand_over(std::vector<message_sample>(in_one)).empty());
    CHECK_FALSE((*file)->keeps_up());
    std::size_t lines = 0;
    std::thread reader([&] {
        std::array<char, 65536> text{};
        for (ssize_t got = 0; (got = ::read(ends[0], text.data(), text.size())) > 0;)
            lines += static_cast<std::size_t>(std::count(text.data(), text.data() + got, '\n'));
    });
    CHECK((*file)->close().has_value());
    reader.join();
    ::close(ends[0]);
    CHECK(lines == blocks * in_one + 1);
    CHECK((*file)->keeps_up());
    CHECK((*file)->fell_behind());
}

TEST_CASE("samples: what cannot be opened says why") {
    const auto file = sample_file::open("/nonexistent/samples.csv");
    REQUIRE_FALSE(file.has_value());
    CHECK(file.error().message == "/nonexistent/samples.csv: No such file or directory");
}
