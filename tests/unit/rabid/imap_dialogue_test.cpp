// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/imap_dialogue.hpp"

#include <catch2/catch.hpp>

#include <string_view>

using namespace postal;
using rabid::imap_untagged;

namespace {

void hear(imap_untagged& told, std::string_view heard) {
    proto::imap_responses responses;
    for (;;) {
        const proto::imap_step step = responses.next(heard);
        heard.remove_prefix(step.consumed);
        if (step.event == proto::imap_event::need_more) return;
        REQUIRE(step.event != proto::imap_event::broken);
        told.take(step, 100);
    }
}

}  // namespace

TEST_CASE("imap untagged: what SEARCH finds, however it is told, until the next command") {
    imap_untagged told;
    hear(told, "* SEARCH 2 3\r\n* ESEARCH (TAG \"a1\") UID ALL 7:9\r\n");
    CHECK(told.found == std::vector<std::uint32_t>{2, 3, 7, 8, 9});
    told.begin();
    CHECK(told.found.empty());
}

TEST_CASE("imap untagged: no more is found than there is") {
    imap_untagged told;
    hear(told, "* ESEARCH ALL 1:4294967295\r\n* SEARCH 1 2 3\r\n");
    CHECK(told.found.size() == 100);
}

TEST_CASE("imap untagged: messages go one by one, or by their UIDs, but not those gone earlier") {
    imap_untagged told;
    hear(told, "* 3 EXPUNGE\r\n* VANISHED 5:8,11\r\n* VANISHED (EARLIER) 1:100\r\n");
    CHECK(told.expunged == 6);
    told.begin();
    CHECK(told.expunged == 0);
    CHECK(told.gone == 6);
}

TEST_CASE("imap untagged: the number of those known falls with what goes before it") {
    const struct {
        std::string_view heard;
        std::uint32_t left;
    } rows[] = {
        {"* 4 EXPUNGE\r\n", 3},
        {"* 5 EXPUNGE\r\n", 4},
        {"* 1 EXPUNGE\r\n* 4 EXPUNGE\r\n", 3},
        {"* VANISHED 7:9\r\n", 1},
        {"* VANISHED 1:99\r\n", 0},
        {"* VANISHED (EARLIER) 1:99\r\n", 4},
    };
    for (const auto& row : rows) {
        INFO(row.heard);
        imap_untagged told;
        told.known = 4;
        hear(told, row.heard);
        CHECK(told.known == row.left);
    }
}

TEST_CASE("imap untagged: where mailboxes of our own go") {
    const struct {
        std::string_view heard, prefix;
    } rows[] = {
        {"* NAMESPACE ((\"INBOX.\" \".\")) NIL NIL\r\n", "INBOX."},
        {"* NAMESPACE ((\"INBOX\" \".\")) NIL NIL\r\n", "INBOX."},
        {"* NAMESPACE ((\"\" \"/\")) NIL NIL\r\n", ""},
        {"* NAMESPACE ((\"x\" NIL)) NIL NIL\r\n", "x"},
        {"* NAMESPACE NIL NIL ((\"public/\" \"/\"))\r\n", ""},
    };
    for (const auto& row : rows) {
        INFO(row.heard);
        imap_untagged told;
        hear(told, row.heard);
        told.begin();
        CHECK(told.prefix == row.prefix);
    }
}
