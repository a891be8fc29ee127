// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/announcements.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace postal;
using ledger::notice;
using rabid::announcement;
using rabid::announcements;

namespace {

// Two messages lie there; all that is said comes at a time of its own: 1, 2, ...
struct session {
    explicit session(bool idles = true) {
        told.begin(2, idles ? ledger::notice::answer : ledger::notice::poll);
    }

    void hear(std::string_view heard) {
        const std::string line = std::string(heard) + "\r\n";
        std::string_view left = line;
        ++now;
        for (;;) {
            const proto::imap_step step = responses.next(left);
            left.remove_prefix(step.consumed);
            if (step.event == proto::imap_event::need_more) return;
            REQUIRE(step.event != proto::imap_event::broken);
            const auto news = told.take(step, now);
            messages += news.messages;
            taken_back += news.taken_back;
            if (news.messages > 0) how.push_back(news.how);
        }
    }

    // "3@1 4@-" of messages from 1 on, without those not told of at all.
    std::string times(std::uint32_t last) const {
        std::string made;
        for (std::uint32_t number = 1; number <= last; ++number) {
            const announcement one = told.of(number);
            if (one.time_us == 0) continue;
            made += (made.empty() ? "" : " ") + std::to_string(number) + "@" +
                    std::to_string(one.time_us);
        }
        return made;
    }

    announcements told;
    proto::imap_responses responses;
    std::uint64_t now = 0;
    std::uint64_t messages = 0;
    std::uint64_t taken_back = 0;
    std::vector<notice> how;
};

}  // namespace

TEST_CASE("announcements: a message is told of by the first EXISTS that counts it") {
    const struct {
        std::vector<std::string_view> heard;
        const char* times;
        unsigned messages, taken_back;
        const char* why;
    } rows[] = {
        {{"* 2 EXISTS"}, "", 0, 0, "these lay there before"},
        {{"* 3 EXISTS"}, "3@1", 1, 0, "one more"},
        {{"* 3 EXISTS", "* 3 EXISTS"}, "3@1", 1, 0, "the first counts"},
        {{"* 3 EXISTS", "* 6 EXISTS"}, "3@1 4@2 5@2 6@2", 4, 0, "one, then three"},
        {{"* 3 EXISTS", "* 1 EXPUNGE", "* 3 EXISTS"}, "2@1 3@3", 2, 0, "one before it goes"},
        {{"* 4 EXISTS", "* 3 EXPUNGE", "* 4 EXISTS"}, "3@1 4@3", 3, 0, "itself goes"},
        {{"* 3 EXISTS", "* 4 EXISTS", "* 3 EXPUNGE"}, "3@2", 2, 0, "all of one EXISTS goes"},
        {{"* 9 EXPUNGE", "* 3 EXISTS"}, "3@2", 1, 0, "what never was does not go"},
        {{"* 3 EXISTS", "* VANISHED 7", "* 3 EXISTS"}, "2@1 3@3", 2, 0, "gone by its UID"},
        {{"* VANISHED 1:4294967295", "* 1 EXISTS"}, "1@2", 1, 0, "all gone"},
        {{"* VANISHED (EARLIER) 1:9", "* 3 EXISTS"}, "3@2", 1, 0, "gone before SELECT"},
        {{"* 5 EXISTS", "* 3 EXISTS", "* 4 EXISTS"}, "3@1 4@3", 4, 2, "taken back, and again"},
        {{"* 0 EXISTS", "* 3 EXISTS"}, "1@2 2@2 3@2", 3, 2, "all taken back"},
        {{"* 99999999999 EXISTS", "* 3 EXISTS"}, "3@2", 1, 0, "no number that it can be"},
    };
    for (const auto& row : rows) {
        INFO(row.why);
        session here;
        for (const std::string_view line : row.heard)
            here.hear(line);
        CHECK(here.times(10) == row.times);
        CHECK(here.messages == row.messages);
        CHECK(here.taken_back == row.taken_back);
    }
}

TEST_CASE("announcements: in IDLE, before its continuation, or in an answer") {
    session here;
    here.hear("* 3 EXISTS");
    here.told.idle_said();
    here.hear("* 4 EXISTS");
    here.hear("+ idling");
    here.hear("* 5 EXISTS");
    here.told.done_said();
    here.hear("* 6 EXISTS");
    here.hear("+ what for?");
    here.hear("* 7 EXISTS");
    CHECK(here.how ==
          std::vector{notice::answer, notice::early, notice::idle, notice::answer, notice::answer});
    CHECK(here.told.of(4).how == notice::early);
    CHECK(here.told.of(5).how == notice::idle);
    session polls(false);
    polls.hear("* 3 EXISTS");
    CHECK(polls.told.of(3).how == notice::poll);
}

TEST_CASE("announcements: what was read is forgotten, and of too much the last time counts") {
    session here;
    here.hear("* 3 EXISTS");
    here.hear("* 5 EXISTS");
    here.told.forget(3);
    CHECK(here.times(10) == "4@2 5@2");
    here.hear("* 3 EXPUNGE");
    CHECK(here.times(10) == "3@2 4@2");
    here.told.forget(99);
    CHECK(here.times(10).empty());
    session many;
    for (std::size_t i = 0; i <= announcements::most_kept; ++i)
        many.hear("* " + std::to_string(3 + i) + " EXISTS");
    const auto last = static_cast<std::uint32_t>(2 + announcements::most_kept);
    CHECK(many.told.of(last - 1).time_us == announcements::most_kept - 1);
    CHECK(many.told.of(last).time_us == announcements::most_kept + 1);
    CHECK(many.told.of(last + 1).time_us == announcements::most_kept + 1);
    many.told.forget(last + 1);
    many.hear("* " + std::to_string(last + 2) + " EXISTS");
    CHECK(many.told.of(last + 2).time_us == announcements::most_kept + 2);
    announcements nobody;
    CHECK_FALSE(nobody.watching());
    CHECK(nobody.of(1).time_us == 0);
}
