// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/folder_news.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <string>

#include "rabid/folder_names.hpp"

using namespace postal;
using rabid::announcement;
using rabid::folder_news;

namespace {

// INBOX and "a", in which ten messages lie: each is told anew at 1, 2, ...
struct session {
    session() {
        news.select(0, {11, 1}, 0);
        tell("a", 11);
    }

    std::string_view tell(std::string_view mailbox, std::uint64_t uid_next,
                          std::uint64_t uid_validity = 1) {
        return news.take(mailbox, {uid_next, uid_validity}, ++now);
    }

    std::uint64_t told_at(std::uint32_t uid) const { return news.of(uid, {}).time_us; }

    folder_news news{{"INBOX", "a"}};
    std::uint64_t now = 0;
};

}  // namespace

TEST_CASE("folder_news: a message is told of by the first STATUS that has it") {
    session one;
    CHECK_FALSE(one.news.unread());
    CHECK(one.tell("a", 13).empty());  // 2
    CHECK(one.tell("a", 13).empty());
    CHECK(one.tell("a", 14).empty());  // 4
    REQUIRE(one.news.unread() == 1U);
    CHECK(one.news.select(1, {15, 1}, 9).empty());  // one more that nobody has told of
    CHECK(one.news.first_unread() == 11);
    CHECK(one.told_at(10) == 0);
    CHECK(one.told_at(11) == 2);
    CHECK(one.told_at(12) == 2);
    CHECK(one.told_at(13) == 4);
    CHECK(one.told_at(14) == 9);
    CHECK(one.told_at(15) == 9);
    CHECK(one.news.of(15, {12, ledger::notice::notify}).time_us == 12);
    one.news.leave(15);
    CHECK_FALSE(one.news.unread());
    one.news.select(0, {}, 20);
    CHECK_FALSE(one.news.unread());
    one.tell("a", 17);
    REQUIRE(one.news.unread() == 1U);
    one.news.select(1, {17, 1}, 22);
    CHECK(one.news.first_unread() == 16);
}

TEST_CASE("folder_news: what is told of and is not there is not waited for") {
    session one;
    one.tell("a", 100);
    CHECK(one.news.select(1, {12, 1}, 9) == "UIDNEXT shrank");
    one.news.leave(11);
    one.news.select(0, {}, 10);
    CHECK_FALSE(one.news.unread());
}

TEST_CASE("folder_news: a server that contradicts itself") {
    session one;
    CHECK(one.tell("b", 7).empty());
    CHECK(one.tell("inbox", 12).empty());
    CHECK(one.tell("A", 12).empty());
    CHECK_FALSE(one.news.unread());
    CHECK(one.tell("a", 0) == "STATUS without UIDNEXT");
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    CHECK_FALSE(one.tell("a", most).empty());
    CHECK_FALSE(one.tell("a", 12, most).empty());
    CHECK_FALSE(one.news.unread());
    CHECK(one.tell("a", 14).empty());
    CHECK(one.tell("a", 1) == "UIDNEXT shrank");
    CHECK_FALSE(one.news.unread());
    CHECK(one.tell("a", 3).empty());
    CHECK(one.news.unread() == 1U);
    one.news.select(1, {3, 1}, 50);
    CHECK(one.told_at(2) == one.now);
    // Made anew: all that is there has come since.
    one.news.leave(2);
    one.news.select(0, {}, 51);
    CHECK(one.tell("a", 2, 5).empty());
    CHECK(one.news.unread() == 1U);
    one.news.select(1, {2, 5}, 52);
    CHECK(one.news.first_unread() == 1);
}

TEST_CASE("folder_news: what a server tells of for ever has its bounds") {
    session one;
    for (std::uint32_t uid = 12; uid < 12 + 2 * rabid::announcements::most_kept; ++uid)
        one.tell("a", uid);
    one.news.select(1, {}, one.now + 1);
    CHECK(one.told_at(11) == 2);
    CHECK(one.told_at(10 + 2 * rabid::announcements::most_kept) == one.now);
}

TEST_CASE("folder_names: what servers and addresses call a folder") {
    CHECK(*rabid::folder_name("inbox/a") == "INBOX/a");
    CHECK_FALSE(rabid::folder_name("a//b").has_value());
    CHECK_FALSE(rabid::folder_name("").has_value());
    CHECK(rabid::mailbox_name("a/b", "INBOX.", '.') == "INBOX.a.b");
    CHECK(rabid::mailbox_name("INBOX/b", "INBOX.", '.') == "INBOX.b");
    CHECK(rabid::mailbox_name("INBOX", "x", '.') == "INBOX");
    CHECK(rabid::mailbox_name("a/b", "", 0) == "a-b");
    CHECK(rabid::folder_address("user@example.com", "Lists") == "user+lists@example.com");
    CHECK(rabid::folder_address("user", "a") == "user+a");
}

TEST_CASE("folder_names: folders to watch") {
    const auto two = rabid::parse_watched_folders("lists,a/b");
    REQUIRE(two.has_value());
    CHECK(*two == std::vector<std::string>{"lists", "a/b"});
    for (const std::string_view wrong : {"", ",", "a,", "a,a", "INBOX", "a,inbox", "a\"b"}) {
        INFO(wrong);
        CHECK_FALSE(rabid::parse_watched_folders(wrong).has_value());
    }
    std::string many = "f0";
    for (int i = 1; i < 33; ++i)
        many += ",f" + std::to_string(i);
    CHECK_FALSE(rabid::parse_watched_folders(many).has_value());
    CHECK(rabid::parse_watched_folders(many.substr(0, many.rfind(','))).has_value());
}
