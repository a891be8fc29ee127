#include "lmtp-deliver/message_file.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

#include <stdlib.h>
#include <unistd.h>

using namespace postal::lmtp_deliver;

namespace {

struct folder {
    folder() {
        std::string name = "/tmp/postal-message-XXXXXX";
        path = ::mkdtemp(name.data());
    }
    ~folder() { std::filesystem::remove_all(path); }
    std::string path;
};

std::string content_of(const unique_fd& file) {
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
        const storage_rules rules{100, place.path};
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
        CHECK(std::filesystem::is_empty(place.path));  // unlinked
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
