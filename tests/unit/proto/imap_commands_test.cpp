// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/imap/commands.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

using namespace postal::proto;

TEST_CASE("imap_commands: every command as it is sent") {
    struct row {
        std::function<imap_tag(imap_commands&, imap_output&)> say;
        std::string wanted;
    };
    using verb = imap_verb;
    const auto plain = [](verb one) {
        return [one](imap_commands& to, imap_output& out) { return to.plain(out, one); };
    };
    const row rows[] = {
        {plain(verb::capability), "CAPABILITY"},
        {plain(verb::noop), "NOOP"},
        {plain(verb::logout), "LOGOUT"},
        {plain(verb::idle), "IDLE"},
        {plain(verb::expunge), "EXPUNGE"},
        {plain(verb::close), "CLOSE"},
        {plain(verb::unselect), "UNSELECT"},
        {plain(verb::compress), "COMPRESS DEFLATE"},
        {[](auto& to, auto& out) { return to.login(out, "u@example.com", "secret"); },
         "LOGIN u@example.com secret"},
        {[](auto& to, auto& out) { return to.login(out, "a b", ""); }, "LOGIN \"a b\" \"\""},
        {[](auto& to, auto& out) { return to.login(out, "nil", "\"\\%"); },
         R"(LOGIN "nil" "\"\\%")"},
        {[](auto& to, auto& out) { return to.authenticate(out, "PLAIN", ""); },
         "AUTHENTICATE PLAIN"},
        {[](auto& to, auto& out) { return to.authenticate(out, "PLAIN", "AHUAcA=="); },
         "AUTHENTICATE PLAIN AHUAcA=="},
        {[](auto& to, auto& out) { return to.enable(out, "QRESYNC"); }, "ENABLE QRESYNC"},
        {[](auto& to, auto& out) { return to.select(out, verb::select, "INBOX"); }, "SELECT INBOX"},
        {[](auto& to, auto& out) { return to.select(out, verb::examine, "a/b"); }, "EXAMINE a/b"},
        {[](auto& to, auto& out) {
             return to.select(out, verb::select, "x",
                              {.uid_validity = 7, .modseq = 20050715194045});
         },
         "SELECT x (QRESYNC (7 20050715194045))"},
        {[](auto& to, auto& out) {
             return to.select(out, verb::select, "x",
                              {.uid_validity = 7, .modseq = 20, .known_uids = "41,43:211"});
         },
         "SELECT x (QRESYNC (7 20 41,43:211))"},
        {[](auto& to, auto& out) { return to.create(out, "a\\b"); }, R"(CREATE "a\\b")"},
        {[](auto& to, auto& out) { return to.delete_mailbox(out, "a"); }, "DELETE a"},
        {[](auto& to, auto& out) { return to.list(out, "", "*"); }, R"(LIST "" "*")"},
        {[](auto& to, auto& out) { return to.status(out, "a", "(MESSAGES)"); },
         "STATUS a (MESSAGES)"},
        {[](auto& to, auto& out) { return to.search(out, verb::uid_search, "UNSEEN"); },
         "UID SEARCH UNSEEN"},
        {[](auto& to, auto& out) { return to.search(out, verb::uid_sort, "(DATE) UTF-8 ALL"); },
         "UID SORT (DATE) UTF-8 ALL"},
        {[](auto& to, auto& out) { return to.fetch(out, verb::fetch, "1:*", "(UID FLAGS)"); },
         "FETCH 1:* (UID FLAGS)"},
        {[](auto& to, auto& out) { return to.fetch(out, verb::uid_fetch, "1:9", "FLAGS"); },
         "UID FETCH 1:9 FLAGS"},
        {[](auto& to, auto& out) {
             return to.store(out, verb::uid_store, "2", "+FLAGS.SILENT (\\Deleted)");
         },
         "UID STORE 2 +FLAGS.SILENT (\\Deleted)"},
        {[](auto& to, auto& out) { return to.copy(out, verb::uid_move, "2:3", "T rash"); },
         "UID MOVE 2:3 \"T rash\""},
        {[](auto& to, auto& out) { return to.uid_expunge(out, "2"); }, "UID EXPUNGE 2"},
        {[](auto& to, auto& out) {
             const std::vector<std::string> names{"a", "T rash", "NIL"};
             return to.notify(out, "(SELECTED (x))", names, "(MessageNew)");
         },
         R"(NOTIFY SET STATUS (SELECTED (x)) (MAILBOXES (a "T rash" "NIL") (MessageNew)))"},
    };
    imap_commands commands;
    imap_output out;
    imap_tag tag = no_tag;
    std::string wanted;
    for (const row& one : rows) {
        CHECK(one.say(commands, out) == ++tag);
        wanted += "a" + std::to_string(tag) + " " + one.wanted + "\r\n";
    }
    CHECK(out.text == wanted);
    CHECK(out.waits.empty());
    CHECK(commands.last() == tag);
}

TEST_CASE("imap_commands: literals wait where the server does not take them at once") {
    struct row {
        imap_literals form;
        std::string_view sent;  // "|" where a continuation must come
        const char* reason;
    };
    const row rows[] = {
        {imap_literals::synchronizing,
         "a1 LOGIN {2}\r\n|\xc3\xa9 p\r\na2 APPEND {1}\r\n|\xff {5000}\r\n|", "RFC 3501 4.3"},
        {imap_literals::minus, "a1 LOGIN {2+}\r\n\xc3\xa9 p\r\na2 APPEND {1+}\r\n\xff {5000}\r\n|",
         "RFC 7888 5"},
        {imap_literals::plus, "a1 LOGIN {2+}\r\n\xc3\xa9 p\r\na2 APPEND {1+}\r\n\xff {5000+}\r\n",
         "RFC 7888 4"},
    };
    for (const row& one : rows) {
        INFO(one.reason);
        imap_commands commands;
        imap_output out;
        commands.literals(one.form);
        CHECK(commands.login(out, "\xc3\xa9", "p") == 1);
        CHECK(commands.append(out, "\xff", 5000) == 2);
        std::string sent = out.text;
        for (auto wait = out.waits.rbegin(); wait != out.waits.rend(); ++wait)
            sent.insert(*wait, "|");
        CHECK(sent == one.sent);
    }
}

TEST_CASE("imap_commands: what cannot be said is refused and leaves nothing behind") {
    const std::string_view nul("a\0", 2);
    const std::function<imap_tag(imap_commands&, imap_output&)> rows[] = {
        [](auto& to, auto& out) { return to.login(out, "a\r\na2 LOGOUT", "p"); },
        [](auto& to, auto& out) { return to.login(out, "\xc3\xa9", "p\n"); },
        [nul](auto& to, auto& out) { return to.login(out, nul, "p"); },
        [](auto& to, auto& out) { return to.authenticate(out, "PLAIN", "=\r\n"); },
        [](auto& to, auto& out) { return to.enable(out, "\r"); },
        [](auto& to, auto& out) { return to.create(out, "\n"); },
        [](auto& to, auto& out) { return to.list(out, "", "\r"); },
        [](auto& to, auto& out) { return to.status(out, "a", "\r"); },
        [](auto& to, auto& out) { return to.search(out, imap_verb::search, "X\r\n"); },
        [](auto& to, auto& out) { return to.fetch(out, imap_verb::fetch, "1", "\n"); },
        [](auto& to, auto& out) { return to.store(out, imap_verb::store, "1\n", "x"); },
        [](auto& to, auto& out) { return to.copy(out, imap_verb::copy, "1", "\r"); },
        [](auto& to, auto& out) { return to.append(out, "x\r", 1); },
    };
    imap_commands commands;
    imap_output out{.text = "before", .waits = {3}};
    for (const auto& say : rows) {
        CHECK(say(commands, out) == no_tag);
        CHECK(out.text == "before");
        CHECK(out.waits.size() == 1);
    }
    CHECK(commands.plain(out, imap_verb::noop) == 1);
}

TEST_CASE("imap_commands: tags are read back, and no others") {
    CHECK(read_imap_tag("a1") == 1);
    CHECK(read_imap_tag("a4294967295") == 4294967295);
    for (const char* other : {"", "a", "1", "b1", "a01", "a0", "a1x", "a-1", "A1", "a4294967296"}) {
        INFO(other);
        CHECK(read_imap_tag(other) == no_tag);
    }
}

TEST_CASE("imap_commands: number sets") {
    struct row {
        std::vector<std::uint32_t> numbers;
        std::size_t most;
        std::string wanted;
        std::size_t used;
    };
    const row rows[] = {
        {{}, 99, "", 0},
        {{7}, 99, "7", 1},
        {{1, 2, 3, 5, 7, 8}, 99, "1:3,5,7:8", 6},
        {{4294967294, 4294967295}, 99, "4294967294:4294967295", 2},
        {{1, 3, 5, 6, 9}, 7, "1,3,5:6", 4},
        {{1, 3, 5, 6, 9}, 6, "1,3", 2},
        {{100, 101}, 1, "100:101", 2},
    };
    for (const row& one : rows) {
        std::string out = "x";
        CHECK(append_imap_set(out, one.numbers, one.most) == one.used);
        CHECK(out == "x" + one.wanted);
    }
}

TEST_CASE("imap_commands: what the capabilities allow") {
    imap_capabilities offered;
    CHECK(imap_literals_of(offered) == imap_literals::synchronizing);
    offered.add("imap4REV2");
    CHECK(imap_literals_of(offered) == imap_literals::minus);
    offered.add("LITERAL+");
    CHECK(imap_literals_of(offered) == imap_literals::plus);
    CHECK(forbids_expunge(imap_verb::fetch));
    CHECK_FALSE(forbids_expunge(imap_verb::uid_fetch));
    CHECK(imap_verb_name(imap_verb::uid_search) == "UID SEARCH");
}

TEST_CASE("imap_commands: several messages in one APPEND, RFC 3502") {
    struct row {
        imap_literals form;
        std::string wanted;
    };
    const std::string head = "a1 APPEND \"a b\" (\\Seen) \"17-Jul-1996 09:44:25 +0000\" {5";
    for (const row& one : {row{imap_literals::plus, head + "+}\r\nhello {5000+}\r\n"},
                           row{imap_literals::minus, head + "+}\r\nhello {5000}\r\n"},
                           row{imap_literals::synchronizing, head + "}\r\nhello {5000}\r\n"}}) {
        imap_commands commands;
        commands.literals(one.form);
        imap_output out;
        CHECK(commands.begin_append(out, "a b") == 1);
        CHECK(commands.last_verb() == imap_verb::append);
        commands.append_message(out, "(\\Seen)", "17-Jul-1996 09:44:25 +0000", 5);
        out.text += "hello";
        commands.append_message(out, "", "", 5000);
        CHECK(out.text == one.wanted);
        CHECK(out.waits.size() == (one.form == imap_literals::plus    ? 0U
                                   : one.form == imap_literals::minus ? 1U
                                                                      : 2U));
        for (const std::size_t wait : out.waits)
            CHECK(out.text.substr(wait - 2, 2) == "\r\n");
        if (!out.waits.empty()) CHECK(out.waits.back() == out.text.size());
    }
    imap_commands commands;
    imap_output out;
    CHECK(commands.begin_append(out, "a\rb") == no_tag);
    CHECK(out.text.empty());
}
