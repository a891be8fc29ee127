// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/smtp/reply_parser.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using postal::proto::reply_event;
using postal::proto::reply_parser;

namespace {

struct heard {
    int code;
    std::string enhanced;
    std::string text;
    bool operator==(const heard&) const = default;
};

struct result {
    std::vector<heard> lines;  // all of them
    std::size_t replies = 0;
    std::string problem;
};

void feed(reply_parser& parser, std::string_view bytes, result& into) {
    while (!bytes.empty() && into.problem.empty()) {
        switch (parser.feed(bytes)) {
            case reply_event::need_more:
                return;
            case reply_event::malformed:
                into.problem = parser.problem();
                return;
            case reply_event::reply:
                ++into.replies;
                [[fallthrough]];
            case reply_event::line:
                into.lines.push_back(
                    {parser.code(), std::string(parser.enhanced()), std::string(parser.text())});
        }
    }
}

result parse(std::string_view bytes) {
    reply_parser parser;
    result got;
    feed(parser, bytes, got);
    return got;
}

}  // namespace

TEST_CASE("reply_parser: reads what servers say") {
    struct row {
        std::string_view bytes;
        std::vector<heard> lines;
        std::size_t replies;
        const char* why;
    };
    const std::vector<row> rows{
        {"250 ok\r\n", {{250, "", "ok"}}, 1, "one line"},
        {"250\r\n", {{250, "", ""}}, 1, "RFC 5321 4.2.1: text may be missing"},
        {"250 2.1.5 ok\r\n", {{250, "2.1.5", "2.1.5 ok"}}, 1, "RFC 2034"},
        {"550 5.1.1\r\n", {{550, "5.1.1", "5.1.1"}}, 1, "an enhanced code alone"},
        {"550 5.1.1x y\r\n", {{550, "", "5.1.1x y"}}, 1, "no enhanced code"},
        {"250-a\r\n250 b\r\n", {{250, "", "a"}, {250, "", "b"}}, 1, "two lines"},
        {"250-\r\n250 \r\n", {{250, "", ""}, {250, "", ""}}, 1, "empty texts"},
        {"220 x\n", {{220, "", "x"}}, 1, "LF alone is taken"},
        {"250 a\r\n354 b\r\n", {{250, "", "a"}, {354, "", "b"}}, 2, "pipelined"},
    };
    for (const row& one : rows) {
        INFO(one.why << ": " << one.bytes);
        const result got = parse(one.bytes);
        CHECK(got.lines == one.lines);
        CHECK(got.replies == one.replies);
        CHECK(got.problem.empty());
    }
}

TEST_CASE("reply_parser: gives the same however the octets arrive") {
    const std::string bytes =
        "220 hi\r\n250-SIZE 10\r\n250-2.0.0 x\r\n250 PIPELINING\r\n354 go\r\n";
    const result whole = parse(bytes);
    REQUIRE(whole.replies == 3);
    for (std::size_t split = 0; split <= bytes.size(); ++split) {
        reply_parser parser;
        result got;
        feed(parser, std::string_view(bytes).substr(0, split), got);
        feed(parser, std::string_view(bytes).substr(split), got);
        INFO("split at " << split);
        CHECK(got.lines == whole.lines);
    }
    reply_parser parser;
    result got;
    for (const char& octet : bytes) {
        feed(parser, {&octet, 1}, got);
    }
    CHECK(got.lines == whole.lines);
}

TEST_CASE("reply_parser: refuses what is no reply") {
    struct row {
        std::string bytes;
        std::string_view problem;
    };
    std::string many;
    for (int i = 0; i < 2000; ++i) {
        many += "250-x\r\n";
    }
    const std::vector<row> rows{
        {"hello\r\n", "garbage"},
        {"\r\n", "garbage"},
        {"99\r\n", "garbage"},
        {"150 x\r\n", "garbage"},
        {"650 x\r\n", "garbage"},
        {"000 x\r\n", "garbage"},
        {"2500 x\r\n", "garbage"},
        {"25x x\r\n", "garbage"},
        {"250-a\r\n251 b\r\n", "mixed_codes"},
        {many, "too_many_lines"},
        {std::string(100'000, '2'), "line_too_long"},
        {"250 " + std::string(100'000, 'x') + "\r\n", "line_too_long"},
    };
    for (const row& one : rows) {
        INFO(one.bytes.substr(0, 40));
        CHECK(parse(one.bytes).problem == one.problem);
    }
}

TEST_CASE("reply_parser: keeps no more than a line of an endless one") {
    reply_parser parser;
    const std::string piece(1000, '2');
    reply_event last = reply_event::need_more;
    for (int i = 0; i < 13 && last == reply_event::need_more; ++i) {
        std::string_view bytes = piece;
        last = parser.feed(bytes);
    }
    CHECK(last == reply_event::malformed);
}
