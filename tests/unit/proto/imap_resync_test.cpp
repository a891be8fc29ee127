// SPDX-License-Identifier: GPL-3.0-or-later
// QRESYNC and CONDSTORE (RFC 7162): what one session leaves to the next, and where a server
// contradicts itself across the two.
#include "proto/imap/mailbox.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <malloc.h>

#include "imap_play.hpp"

using namespace postal::proto;
using namespace postal::proto::test;

namespace {

using lines = std::vector<std::string>;

// A session with QRESYNC enabled that has selected INBOX, and hears what the server says in pieces.
class session {
  public:
    explicit session(std::size_t piece, const imap_memory& remembered = {}) : piece_(piece) {
        mailbox.qresync_enabled();
        CHECK(mailbox.select("INBOX", ++tag, imap_verb::select, remembered));
    }

    session& hear(const lines& said) {
        for (const std::string& line : said) {
            const std::string bytes = line + "\r\n";
            for (std::size_t at = 0; at < bytes.size(); at += piece_) {
                feed(responses, bytes.substr(at, piece_),
                     [this](const imap_responses&, const imap_step& step) {
                         const std::string_view text = mailbox.apply(step);
                         if (!text.empty()) wrong.emplace_back(text);
                         CHECK(step.event != imap_event::broken);
                     });
            }
        }
        return *this;
    }

    session& say(imap_verb verb) {
        CHECK(mailbox.sent(++tag, verb));
        return *this;
    }

    imap_mailbox mailbox{100};
    imap_responses responses;
    lines wrong;
    imap_tag tag = no_tag;

  private:
    std::size_t piece_;
};

const lines first_select{"* 5 EXISTS", "* OK [UIDVALIDITY 7] x", "* OK [UIDNEXT 20] x",
                         "* OK [HIGHESTMODSEQ 90] x", "a1 OK [READ-WRITE] x"};
const lines all_fetched{"* 1 FETCH (UID 3 MODSEQ (1))", "* 2 FETCH (UID 4)", "* 3 FETCH (UID 5)",
                        "* 4 FETCH (UID 8)", "* 5 FETCH (UID 9)"};

imap_memory remembered() {
    session before(1000);
    before.hear(first_select).hear(all_fetched);
    CHECK(before.wrong.empty());
    return before.mailbox.remember();
}

// The second SELECT, of which some lines differ.
lines select_again(const lines& changes, const std::string& modseq = "95") {
    lines said{"* 4 EXISTS", "* OK [UIDVALIDITY 7] x", "* OK [UIDNEXT 22] x",
               "* OK [HIGHESTMODSEQ " + modseq + "] x"};
    said.insert(said.end(), changes.begin(), changes.end());
    said.emplace_back("a1 OK [READ-WRITE] x");
    return said;
}

lines operator+(lines left, const lines& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

std::string set_of(const imap_memory& kept) {
    std::string text;
    kept.append_uids(text);
    return text;
}

}  // namespace

TEST_CASE("imap_memory: UIDs are kept as ranges, and taken out of them") {
    imap_memory kept;
    kept.complete = true;
    kept.learn(std::vector<std::uint32_t>{3, 4, 5, 0, 8, 9, 4294967295});
    CHECK(set_of(kept) == "3:5,8:9,4294967295");
    CHECK(kept.count() == 6);
    kept.forget({{4, 4}});
    CHECK(set_of(kept) == "3,5,8:9,4294967295");
    kept.forget({{1, 3}});
    kept.forget({{9, 4294967295}});
    CHECK(set_of(kept) == "5,8");
    kept.forget({{6, 7}});
    CHECK(set_of(kept) == "5,8");
    CHECK(kept.complete);
    CHECK_FALSE(kept.usable());
}

TEST_CASE("imap_memory: what vanished is taken out at once, in any order and overlapping") {
    // Against the same done one UID at a time.
    const std::vector<std::vector<imap_range>> cases{
        {{7, 9}, {1, 2}, {2, 4}, {3, 3}},
        {{1, 100}, {5, 6}, {90, 120}},
        {{20, 30}, {10, 40}, {35, 36}},
        {{50, 50}, {49, 49}, {51, 4294967295}},
        {},
    };
    std::vector<std::uint32_t> all;
    for (std::uint32_t uid = 1; uid <= 110; ++uid) {
        if (uid % 7 != 0) all.push_back(uid);
    }
    for (const auto& gone : cases) {
        imap_memory kept;
        kept.learn(all);
        kept.forget(gone);
        std::vector<std::uint32_t> left;
        for (const std::uint32_t uid : all) {
            const bool went = std::any_of(gone.begin(), gone.end(), [uid](imap_range one) {
                return uid >= one.first && uid <= one.last;
            });
            if (!went) left.push_back(uid);
        }
        imap_memory wanted;
        wanted.learn(left);
        CHECK(set_of(kept) == set_of(wanted));
    }
}

TEST_CASE("imap_memory: many gaps are remembered by the lowest UIDs only") {
    std::vector<std::uint32_t> even;
    for (std::uint32_t uid = 2; uid < 10'000; uid += 2)
        even.push_back(uid);
    imap_memory kept;
    kept.complete = true;
    kept.learn(even);
    CHECK_FALSE(kept.complete);
    CHECK(kept.uids.size() == imap_memory::most_ranges);
    CHECK(kept.uids.back().last == 2 * imap_memory::most_ranges);
    CHECK(set_of(kept).size() < 8000);
}

TEST_CASE("imap resync: what a session leaves is what it knew at SELECT") {
    session one(1000);
    one.hear(first_select).hear(all_fetched).say(imap_verb::noop);
    one.hear({"* OK [HIGHESTMODSEQ 99] x", "* VANISHED 5", "* 5 EXISTS", "a2 OK x"});
    CHECK(one.wrong.empty());
    imap_memory kept = one.mailbox.remember();
    CHECK(kept.uid_validity == 7);
    CHECK(kept.modseq == 90);
    CHECK(set_of(kept) == "3:4,8:9");
    CHECK_FALSE(kept.complete);  // nobody has said the UID of the fifth
    one.hear({"* 5 FETCH (UID 20)"});
    kept = one.mailbox.remember();
    CHECK(set_of(kept) == "3:4,8:9,20");
    CHECK(kept.complete);
    session nothing(1000);
    nothing.hear({"* 0 EXISTS", "* OK [UIDVALIDITY 7] x", "* OK [NOMODSEQ] x", "a1 OK x"});
    CHECK(nothing.wrong.empty());
    CHECK_FALSE(nothing.mailbox.remember().usable());
}

TEST_CASE("imap resync: the next session goes on from there") {
    const imap_memory before = remembered();
    REQUIRE(before.complete);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
        session one(piece, before);
        one.hear(select_again({"* VANISHED (EARLIER) 1:2,4,6:7,8",
                               "* 2 FETCH (UID 5 FLAGS (\\Seen) MODSEQ (94))",
                               "* 4 FETCH (UID 21 FLAGS () MODSEQ (95))"}));
        CHECK(one.wrong == lines{});
        CHECK(one.mailbox.uids() == std::vector<std::uint32_t>{3, 5, 9, 21});
        one.say(imap_verb::noop).hear({"* VANISHED 5", "a2 OK x"});
        CHECK(one.mailbox.uids() == std::vector<std::uint32_t>{3, 9, 21});
        one.say(imap_verb::uid_fetch).hear({"* VANISHED (EARLIER) 30:40", "a3 OK x"});
        CHECK(one.wrong == lines{});
    }
}

TEST_CASE("imap resync: a server that says VANISHED (EARLIER) without an end grows nothing") {
    session one(1000, remembered());
    imap_step gone;
    gone.event = imap_event::vanished;
    gone.earlier = true;
    gone.range = {4, 4};
    one.mailbox.apply(gone);
    const auto before = mallinfo2().uordblks;
    for (std::uint32_t uid = 100; uid < 1'000'100; ++uid) {
        gone.range = {uid, uid};
        one.mailbox.apply(gone);
    }
    CHECK(mallinfo2().uordblks < before + 100'000);  // 0 with a sanitizer's allocator
    // All of it counts, whether it came before the flood or behind.
    one.hear({"* VANISHED (EARLIER) 9", "* 3 EXISTS", "* OK [UIDVALIDITY 7] x",
              "* OK [UIDNEXT 20] x", "* OK [HIGHESTMODSEQ 90] x", "a1 OK x"});
    CHECK(one.wrong == lines{});
    CHECK(one.mailbox.uids() == std::vector<std::uint32_t>{3, 5, 8});
}

TEST_CASE("imap resync: another UIDVALIDITY is another mailbox") {
    session one(1, remembered());
    one.hear({"* 2 EXISTS", "* OK [UIDVALIDITY 8] x", "* OK [UIDNEXT 3] x",
              "* OK [HIGHESTMODSEQ 4] x", "a1 OK x", "* 1 FETCH (UID 1)", "* 2 FETCH (UID 2)"});
    CHECK(one.wrong == lines{});
    CHECK(one.mailbox.remember().uid_validity == 8);
}

TEST_CASE("imap resync: contradictions") {
    struct row {
        lines said;
        lines wrong;
        const char* why;
    };
    const row rows[] = {
        {select_again({}), {"messages are gone without VANISHED"}, "five were there, four are"},
        {select_again({"* VANISHED (EARLIER) 4", "* 2 FETCH (UID 8)"}),
         {"UID of a message changed"},
         "5 is the second of those that are left"},
        {select_again({"* 2 FETCH (UID 4)", "* VANISHED (EARLIER) 4:5"}),
         {"VANISHED (EARLIER) names a message that is there", "UID of a message changed"},
         "it was just told"},
        {select_again({"* VANISHED (EARLIER) 3:8"}, "89"),
         {"HIGHESTMODSEQ shrank between two sessions"},
         "with the same UIDVALIDITY"},
        {select_again({"* VANISHED (EARLIER) 3:8", "* 1 FETCH (UID 9 MODSEQ (0))"}),
         {"MODSEQ is no number that it can be"},
         "RFC 7162 7: mod-sequences count from 1"},
        {{"* 4 EXISTS", "* OK [UIDVALIDITY 7] x", "a1 OK x"},
         {"SELECT without HIGHESTMODSEQ"},
         "QRESYNC is enabled"},
        {{"* 4 EXISTS", "* OK [UIDVALIDITY 7] x", "* OK [NOMODSEQ] x", "* 1 FETCH (MODSEQ (3))",
          "a1 OK x"},
         {"MODSEQ in a mailbox that has none"},
         "NOMODSEQ was said"},
        {select_again({"* VANISHED (EARLIER) 4"}) + lines{"* VANISHED (EARLIER) 3"},
         {"VANISHED (EARLIER) that nobody asked for"},
         "behind SELECT"},
    };
    for (const row& each : rows) {
        INFO(each.why);
        session one(1, remembered());
        one.hear(each.said);
        CHECK(one.wrong == each.wrong);
    }
    session plain(1);
    plain.hear(first_select).hear(all_fetched);
    plain.say(imap_verb::noop).hear({"* 2 EXPUNGE", "a2 OK x"});
    CHECK(plain.wrong == lines{"EXPUNGE although QRESYNC is enabled"});
    CHECK(plain.mailbox.exists() == 4);
    session refused(1, remembered());
    refused.hear({"a1 NO x"});
    CHECK(refused.wrong == lines{});
    CHECK_FALSE(refused.mailbox.remember().usable());
}

TEST_CASE("imap resync: known UIDs that go, and others, are told apart") {
    struct row {
        std::string vanished;
        lines wrong;
    };
    const row rows[] = {{"* VANISHED 4", {}},
                        {"* VANISHED 7", {"VANISHED names an unknown UID"}},
                        {"* VANISHED 3:9", {}}};
    for (const row& each : rows) {
        session one(1);
        one.hear(first_select).hear(all_fetched).say(imap_verb::noop).hear({each.vanished});
        CHECK(one.wrong == each.wrong);
    }
    session searching(1);
    searching.hear(first_select).hear(all_fetched).say(imap_verb::search).hear({"* VANISHED 3"});
    CHECK(searching.wrong == lines{"EXPUNGE during FETCH, STORE or SEARCH"});
    session beyond(1);
    beyond.hear(first_select).say(imap_verb::noop).hear({"* VANISHED 20:30"});
    CHECK(beyond.wrong == lines{"VANISHED beyond EXISTS"});
}
