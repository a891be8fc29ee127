// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/message_file.hpp"

#include <catch2/catch.hpp>

#include "../temporary_folder.hpp"

#include <filesystem>
#include <string>

#include <stdlib.h>
#include <unistd.h>

using namespace postal::lmtp_deliver;

namespace {

using folder = test::temporary_folder;

std::string content_of(const postal::base::file_descriptor& file) {
    std::string text(1 << 20, '\0');
    std::string all;
    for (ssize_t got = 1; got > 0;) {
        got = ::read(file.get(), text.data(), text.size());
        if (got > 0) all.append(text, 0, static_cast<std::size_t>(got));
    }
    return all;
}

}  // namespace

TEST_CASE("message file: what was appended is read whole, in memory and on disk") {
    const folder place;
    struct row {
        std::size_t pieces, size;
        bool in_memory;
        const char* reason;
    };
    for (const row& each :
         {row{0, 0, true, "an empty message is a file too"}, row{1, 10, true, "one short piece"},
          row{4, 25, true, "as long as the limit"}, row{1, 101, false, "one piece over the limit"},
          row{10, 11, false, "over the limit in the middle"},
          row{3, 70'000, false, "large pieces"}}) {
        INFO(each.reason);
        const storage_rules rules{100, place.path()};
        message_file file(rules);
        std::string wanted;
        for (std::size_t i = 0; i < each.pieces; ++i) {
            const std::string piece(each.size, static_cast<char>('a' + i));
            file.append(piece);
            wanted += piece;
        }
        REQUIRE(file.finish().has_value());
        CHECK(file.in_memory() == each.in_memory);
        CHECK(file.size() == wanted.size());
        const auto first = file.open_copy();
        const auto second = file.open_copy();
        REQUIRE(first.has_value());
        REQUIRE(second.has_value());
        CHECK(content_of(*first) == wanted);
        CHECK(content_of(*second) == wanted);  // an offset of its own
        const auto headed = file.open_copy("Head: 1\r\n");
        REQUIRE(headed.has_value());
        CHECK(content_of(*headed) == "Head: 1\r\n" + wanted);
        CHECK(std::filesystem::is_empty(place.path()));  // unlinked
    }
}

TEST_CASE("message file: an agent cannot change what the next one reads") {
    const storage_rules rules{100, "/tmp"};
    message_file file(rules);
    file.append("as it came");
    REQUIRE(file.finish().has_value());
    const auto copy = file.open_copy();
    REQUIRE(copy.has_value());
    CHECK(::write(copy->get(), "x", 1) == -1);
    CHECK(::ftruncate(copy->get(), 0) == -1);
    CHECK(content_of(*copy) == "as it came");
}

TEST_CASE("message file: a folder that takes no file is told at the end, and nothing before") {
    const storage_rules rules{4, "/nonexistent/folder"};
    message_file file(rules);
    file.append("1234");
    file.append("5");
    file.append("6");
    const auto done = file.finish();
    REQUIRE_FALSE(done.has_value());
    CHECK(done.error().message == "cannot store the message: No such file or directory");
    CHECK(open_unlinked("/nonexistent/folder").error().message ==
          "/nonexistent/folder: cannot make a file: No such file or directory");
}

TEST_CASE("message file: a disk that fills while a message is written keeps its free space") {
    storage_rules rules{100, "/tmp"};
    message_file file(rules);
    file.append(std::string(200, 'x'));
    CHECK_FALSE(file.no_room());
    rules.least_free = ~std::uint64_t{0} / 2;  // as if others had filled it
    file.append(std::string(std::size_t{8} << 20U, 'x'));
    CHECK_FALSE(file.no_room());  // it looks now and then
    file.append("y");
    CHECK(file.no_room());
    file.append("z");
    CHECK(file.finish().error().message == "cannot store the message: No space left on device");
}

TEST_CASE("message file: a copy that goes to a disk without room for it may not be made") {
    struct row {
        std::size_t message, head;
        bool full, may;
        const char* reason;
    };
    for (const row& each :
         {row{50, 50, true, true, "in memory"},
          row{50, 51, true, false, "on the disk for its head"},
          row{101, 1, true, false, "as the message"}, row{101, 1, false, true, "there is room"}}) {
        INFO(each.reason);
        storage_rules rules{100, "/tmp"};
        message_file file(rules);
        file.append(std::string(each.message, 'x'));
        REQUIRE(file.finish().has_value());
        if (each.full) rules.least_free = ~std::uint64_t{0} / 2;
        CHECK(file.may_copy(std::string(each.head, 'h')) == each.may);
    }
}

TEST_CASE("message file: with LF at the end of lines, wherever the pieces end") {
    struct row {
        std::string given, wanted;
        const char* reason;
    };
    const row rows[] = {{"a\r\nb\r\n", "a\nb\n", "lines"},
                        {"a\rb\r\r\nc\r", "a\rb\r\nc\r", "a CR that no LF follows stays"},
                        {"\r\n\r\n\r\r\n", "\n\n\r\n", "empty lines"},
                        {"a\nb", "a\nb", "LF stays LF"},
                        {"", "", "nothing"}};
    for (const row& each : rows) {
        for (std::size_t first = 0; first <= each.given.size(); ++first) {
            for (std::size_t second = first; second <= each.given.size(); ++second) {
                INFO(each.reason << " " << first << " " << second);
                const storage_rules rules{100, "/tmp", postal::mail::line_ends::lf};
                message_file file(rules);
                file.append(std::string_view(each.given).substr(0, first));
                file.append(std::string_view(each.given).substr(first, second - first));
                file.append(std::string_view(each.given).substr(second));
                REQUIRE(file.finish().has_value());
                CHECK(file.size() == each.wanted.size());
                const auto copy = file.open_copy();
                REQUIRE(copy.has_value());
                CHECK(content_of(*copy) == each.wanted);
            }
        }
    }
}

TEST_CASE("message file: long messages with LF at the end of lines") {
    const storage_rules rules{50'000, "/tmp", postal::mail::line_ends::lf};
    message_file file(rules);
    std::string wanted;
    for (int i = 0; i < 5000; ++i) {
        const std::string line(static_cast<std::size_t>(i % 78), 'x');
        file.append(line + "\r");
        file.append("\n");
        wanted += line + "\n";
    }
    const std::string block = std::string(16'383, 'y') + "\r\n" + std::string(40'000, 'z') + "\r";
    file.append(block);
    wanted += std::string(16'383, 'y') + "\n" + std::string(40'000, 'z') + "\r";
    REQUIRE(file.finish().has_value());
    CHECK_FALSE(file.in_memory());
    const auto copy = file.open_copy();
    REQUIRE(copy.has_value());
    CHECK(content_of(*copy) == wanted);
}
