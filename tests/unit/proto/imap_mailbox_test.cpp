// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/imap/mailbox.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "imap_dovecot.hpp"
#include "imap_play.hpp"

using namespace postal::proto;
using namespace postal::proto::test;

namespace {

struct sent_command {
    std::string_view line;  // as it is sent, without its tag
    imap_verb verb;
};

// The verb whose name the line begins with.
imap_verb verb_of(std::string_view line) {
    imap_verb found = imap_verb::none;
    for (int i = 1; i <= static_cast<int>(imap_verb::unselect); ++i) {
        const auto verb = static_cast<imap_verb>(i);
        if (line.starts_with(imap_verb_name(verb))) found = verb;
    }
    return found;
}

// A client that sends the lines beginning with "C: " (tags are a1, a2, ...) and hears the others.
class client {
  public:
    explicit client(std::uint32_t most = 100) : mailbox(most) {}

    void play(const std::vector<std::string>& lines) {
        for (const std::string& line : lines) {
            if (line.starts_with("C: ")) {
                send(line.substr(3));
            } else {
                hear(line + "\r\n");
            }
        }
    }

    void send(std::string_view line) {
        const imap_verb verb = verb_of(line);
        const bool selects = verb == imap_verb::select || verb == imap_verb::examine;
        ++tag;
        const bool room = selects ? mailbox.select(line.substr(line.find(' ') + 1), tag, verb, {})
                                  : mailbox.sent(tag, verb);
        CHECK(room);
    }

    void hear(std::string_view bytes) {
        feed(responses, bytes, [this](const imap_responses&, const imap_step& step) {
            const std::string_view text = mailbox.apply(step);
            if (!text.empty()) wrong.emplace_back(text);
            CHECK(step.event != imap_event::broken);
        });
    }

    imap_mailbox mailbox;
    imap_responses responses;
    std::vector<std::string> wrong;
    imap_tag tag = no_tag;
};

using lines = std::vector<std::string>;

const lines selected{
    "C: SELECT INBOX",          "* 4 EXISTS",          "* 1 RECENT",
    "* OK [UIDVALIDITY 7] x",   "* OK [UIDNEXT 20] x", "* OK [PERMANENTFLAGS (\\Seen)] x",
    "* OK [HIGHESTMODSEQ 9] x", "a1 OK [READ-WRITE] x"};

const lines fetched{"C: FETCH",          "* 1 FETCH (UID 3 FLAGS (\\Seen))",
                    "* 2 FETCH (UID 5)", "* 3 FETCH (UID 8 FLAGS ())",
                    "* 4 FETCH (UID 9)", "a2 OK x"};

lines operator+(lines left, const lines& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

}  // namespace

TEST_CASE("imap_mailbox: knows what the server said") {
    client one;
    one.play(selected + fetched);
    CHECK(one.wrong.empty());
    CHECK(one.mailbox.selected());
    CHECK(one.mailbox.exists() == 4);
    CHECK(one.mailbox.uid_validity() == 7);
    CHECK(one.mailbox.uid_next() == 20);
    CHECK(one.mailbox.highest_modseq() == 9);
    CHECK(one.mailbox.uids() == std::vector<std::uint32_t>{3, 5, 8, 9});
    CHECK(one.mailbox.running() == 0);
}

TEST_CASE("imap_mailbox: messages go, and the others move up") {
    client one;
    one.play(selected + fetched +
             lines{"C: NOOP", "* 2 EXPUNGE", "* 5 EXISTS", "* 5 FETCH (UID 21)"});
    one.mailbox.qresync_enabled();
    CHECK(one.mailbox.exists() == 5);
    CHECK(one.mailbox.uids() == std::vector<std::uint32_t>{3, 8, 9, 0, 21});
    one.play({"* VANISHED 3,9", "a3 OK x"});
    CHECK(one.mailbox.exists() == 3);
    CHECK(one.wrong == std::vector<std::string>{});
    one.play({"C: CLOSE", "a4 OK x"});
    CHECK_FALSE(one.mailbox.selected());
    CHECK(one.mailbox.exists() == 0);
}

TEST_CASE("imap_mailbox: contradictions") {
    struct row {
        lines said;  // behind `selected` and `fetched`
        std::vector<std::string> wrong;
    };
    const std::string no_expunge = "EXPUNGE during FETCH, STORE or SEARCH";
    const row rows[] = {
        {{"C: NOOP", "* 5 EXPUNGE"}, {"EXPUNGE beyond EXISTS"}},
        {{"C: NOOP", "* 0 EXPUNGE"}, {"EXPUNGE beyond EXISTS"}},
        {{"* 1 EXPUNGE"}, {"EXPUNGE while no command is in progress"}},
        {{"C: IDLE", "+ go", "* 1 EXPUNGE"}, {}},
        {{"C: FETCH", "* 1 EXPUNGE", "* 1 EXPUNGE"}, {no_expunge, no_expunge}},
        {{"C: STORE", "* 1 EXPUNGE"}, {no_expunge}},
        {{"C: SEARCH", "* 1 EXPUNGE"}, {no_expunge}},
        {{"C: UID FETCH", "* 1 EXPUNGE"}, {}},
        {{"C: FETCH", "C: NOOP", "* 1 EXPUNGE"}, {}},
        {{"C: FETCH", "* VANISHED (EARLIER) 1:99"}, {"VANISHED (EARLIER) that nobody asked for"}},
        {{"C: NOOP", "* VANISHED 3"}, {"VANISHED although QRESYNC is not enabled"}},
        {{"* 3 EXISTS"}, {"EXISTS shrank without EXPUNGE"}},
        {{"* 3 EXISTS", "* 3 EXISTS"}, {"EXISTS shrank without EXPUNGE"}},
        {{"* 4294967296 EXISTS"}, {"EXISTS is no number that it can be"}},
        {{"* 5 FETCH (UID 10)"}, {"FETCH beyond EXISTS"}},
        {{"* 0 FETCH (UID 10)"}, {"FETCH beyond EXISTS"}},
        {{"* 2 FETCH (UID 6)", "* 2 FETCH (UID 6)"}, {"UID of a message changed"}},
        {{"* 2 FETCH (UID 0)"}, {"a UID is no number that it can be"}},
        {{"* 5 EXISTS", "* 5 FETCH (UID 9)"}, {"UIDs are not ascending"}},
        {{"* 6 EXISTS", "* 6 FETCH (UID 30)", "* 5 FETCH (UID 31)"}, {"UIDs are not ascending"}},
        {{"* 5 EXISTS", "* 5 FETCH (UID 19)"}, {"UID of a new message is below UIDNEXT"}},
        {{"* OK [UIDVALIDITY 8] x"}, {"UIDVALIDITY changed within a session"}},
        {{"* OK [UIDVALIDITY 0] x"}, {"UIDVALIDITY is no number that it can be"}},
        {{"* OK [UIDNEXT 19] x"}, {"UIDNEXT shrank"}},
        {{"* OK [HIGHESTMODSEQ 8] x"}, {"HIGHESTMODSEQ shrank"}},
        {{"C: SEARCH", "* SEARCH 4 5"}, {"SEARCH beyond EXISTS"}},
        {{"C: UID SEARCH", "* SEARCH 3 6 9 40"}, {"SEARCH names an unknown UID"}},
        {{"C: UID SEARCH", "* ESEARCH UID ALL 3:5,6:7"}, {"SEARCH names an unknown UID"}},
        {{"* 5 EXISTS", "C: UID SEARCH", "* SEARCH 4"}, {}},
        {{"* SEARCH 1"}, {"SEARCH that nobody asked for"}},
        {{"C: SORT", "* SORT 3 1 2"}, {}},
        {{"C: SORT", "* SORT 5"}, {"SEARCH beyond EXISTS"}},
        {{"C: UID SORT", "* SORT 9 3 8 5"}, {}},
        {{"C: UID SORT", "* SORT 6 3"}, {"SEARCH names an unknown UID"}},
        {{"C: UID THREAD", "* THREAD (3 6 (9)(12))"}, {}},
        {{"* 1 FETCH (MODSEQ (0))"}, {"MODSEQ is no number that it can be"}},
        {{"* OK [HIGHESTMODSEQ 0] x"}, {"HIGHESTMODSEQ is no number that it can be"}},
        {{"* OK [NOMODSEQ] x", "* 1 FETCH (MODSEQ (5))"}, {"MODSEQ in a mailbox that has none"}},
        {{"a9 OK x"}, {"a tag that nobody sent"}},
        {{"zz OK x"}, {"a tag that nobody sent"}},
        {{"a2 OK x"}, {"a tag that was answered before"}},
        {{"C: SELECT Other", "a3 OK x"}, {"SELECT without EXISTS"}},
        {{"C: SELECT Other", "* 1 EXISTS", "* OK [UIDVALIDITY 8] x", "a3 OK x"}, {}},
        {{"C: SELECT INBOX", "* 1 EXISTS", "* OK [UIDVALIDITY 8] x", "a3 OK x"},
         {"UIDVALIDITY changed within a session"}},
        {{"C: SELECT INBOX", "* 9 EXISTS", "* OK [CLOSED] x", "* 1 EXISTS", "a3 OK x"}, {}},
        {{"C: SELECT INBOX", "a3 NO x", "* 1 EXISTS", "* 1 FETCH (UID 1)", "* 1 EXPUNGE",
          "* VANISHED 1"},
         {"EXISTS while no mailbox is selected", "FETCH while no mailbox is selected",
          "EXPUNGE while no mailbox is selected", "VANISHED while no mailbox is selected"}},
    };
    for (const row& one : rows) {
        INFO(one.said.back());
        client other;
        other.play(selected + fetched + one.said);
        CHECK(other.wrong == one.wrong);
    }
}

TEST_CASE("imap_mailbox: a UID of a message that was there is below UIDNEXT") {
    client one;
    one.play(selected + lines{"* 4 FETCH (UID 20)"});
    CHECK(one.wrong == std::vector<std::string>{"UID is not below UIDNEXT"});
}

TEST_CASE("imap_mailbox: an expunged message among unknown ones makes them all unknown") {
    client one;
    one.mailbox.qresync_enabled();
    one.play(selected +
             lines{"C: NOOP", "* 2 FETCH (UID 5)", "* VANISHED 7,8", "* 2 FETCH (UID 9)"});
    CHECK(one.wrong.empty());
    CHECK(one.mailbox.exists() == 2);
    CHECK(one.mailbox.uid(2) == 9);
}

TEST_CASE("imap_mailbox: memory is bounded") {
    client one(3);
    one.play({"C: SELECT INBOX", "* 4294967295 EXISTS", "a1 OK x", "* 3 FETCH (UID 3 FLAGS ())",
              "* 4294967295 FETCH (UID 4294967295 FLAGS ())", "C: NOOP", "* 4294967295 EXPUNGE",
              "* 1 EXPUNGE"});
    one.mailbox.qresync_enabled();
    one.play({"* VANISHED 1:4294967290"});
    CHECK(one.wrong.empty());
    CHECK(one.mailbox.exists() == 3);
    CHECK(one.mailbox.uids().size() <= 3);
    CHECK(one.mailbox.fetched() == 4294967295);
    imap_mailbox full;
    for (imap_tag tag = 1; tag <= imap_mailbox::max_running; ++tag)
        CHECK(full.sent(tag, imap_verb::noop));
    CHECK_FALSE(full.sent(99, imap_verb::noop));
}

TEST_CASE("imap_mailbox: commands may be answered in any order, and a second SELECT waits") {
    client one;
    one.play({"C: NOOP", "C: SELECT A", "C: SELECT B"});
    CHECK(one.mailbox.answering() == imap_verb::noop);
    one.play({"a1 OK x", "* 3 EXISTS", "a2 OK x", "* 4 EXISTS", "a3 OK [READ-ONLY] x"});
    CHECK(one.wrong.empty());
    CHECK(one.mailbox.exists() == 4);
    one.play({"C: FETCH", "C: SEARCH", "a5 OK x", "* SEARCH 1", "a4 OK x"});
    CHECK(one.wrong == std::vector<std::string>{"SEARCH that nobody asked for"});
}

TEST_CASE("imap_mailbox: Dovecot does not contradict itself") {
    const char* sent[] = {"CAPABILITY", "LOGIN",        "ENABLE",      "",
                          "",           "LIST",         "CREATE",      "LIST",
                          "STATUS",     "SELECT INBOX", "UID FETCH",   "FETCH",
                          "FETCH",      "UID SEARCH",   "UID SEARCH",  "SEARCH",
                          "STORE",      "COPY",         "UID EXPUNGE", "APPEND",
                          "MOVE",       "MOVE",         "SELECT a",    "",
                          "DELETE",     "SELECT INBOX", "LOGOUT"};
    client one;
    const std::string said = with_crlf(dovecot_lines);
    std::size_t from = said.find('\n') + 1;
    one.hear(said.substr(0, from));
    for (const char* line : sent) {
        if (line == std::string_view("ENABLE")) one.mailbox.qresync_enabled();
        one.send(line);
        const std::string tagged = "\na" + std::to_string(one.tag) + " ";
        const std::size_t to = said.find('\n', said.find(tagged, from - 1) + 1) + 1;
        one.hear(said.substr(from, to - from));
        from = to;
    }
    CHECK(from == said.size());
    CHECK(one.wrong == std::vector<std::string>{});
    CHECK(one.mailbox.running() == 0);
    CHECK(one.mailbox.uid_validity() == 1795205817);
    CHECK(one.mailbox.exists() == 2);
}
