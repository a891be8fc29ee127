// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/imap/responses.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "imap_dovecot.hpp"
#include "imap_play.hpp"

using namespace postal::proto;
using namespace postal::proto::test;

namespace {

std::string repeated(std::string_view text, int times) {
    std::string made;
    for (int i = 0; i < times; ++i)
        made += text;
    return made;
}

std::string code(imap_code code) {
    return "#" + std::to_string(static_cast<int>(code));
}

}  // namespace

TEST_CASE("imap_responses: status responses and their codes") {
    struct row {
        std::string_view input;
        heard wanted;
        const char* reason;
    };
    const row rows[] = {
        {"* OK hi\r\n", {"untagged ok 'hi'"}, "a greeting"},
        {"* PREAUTH\r\n", {"untagged preauth ''"}, "without text"},
        {"* bye x\n", {"untagged bye 'x'"}, "in lower case, and LF alone"},
        {"a1 NO [TRYCREATE] x\r\n", {"tagged a1 no #10 'x'"}, ""},
        {"a1 BAD [FOO bar] x\r\n", {"tagged a1 bad #1 bar 'x'"}, "an unknown code"},
        {"a1 OK [x\r\n", {"tagged a1 ok '[x'"}, "no code"},
        {"a1 OK [CLOSED]x\r\n", {"tagged a1 ok " + code(imap_code::closed) + " 'x'"}, "no blank"},
        {"a1 OK [UIDNEXT 18446744073709551616] x\r\n",
         {"tagged a1 ok " + code(imap_code::uid_next) + " 18446744073709551616 'x'"},
         "a number that is too large is none"},
        {"* OK [CAPABILITY IDLE] x\r\n",
         {"untagged ok " + code(imap_code::capability) + " IDLE 'x'"},
         "capabilities in a code"},
        {"12 OK x\r\n", {"tagged 12 ok 'x'"}, "a tag that nobody sent, but a tag"},
        {"+ go (\"{\r\n+\r\n", {"continuation go (\"{", "continuation"}, "RFC 3501 7.5"},
        {"+ \r\n", {"continuation"}, "an empty challenge"},
    };
    for (const row& one : rows) {
        INFO(one.reason << ": " << one.input);
        check_all_splits(one.input, one.wanted);
    }
}

TEST_CASE("imap_responses: untagged data") {
    struct row {
        std::string_view input;
        heard wanted;
        const char* reason;
    };
    const row rows[] = {
        {"* 23 EXISTS\r\n* 5 recent\r\n* 44 EXPUNGE\r\n",
         {"exists 23", "recent 5", "expunge 44"},
         "counts"},
        {"* CAPABILITY IMAP4rev1 IDLE\r\n", {"capability"}, ""},
        {"* ENABLED CONDSTORE\r\n* ENABLED\r\n", {"enabled", "enabled"}, "RFC 5161"},
        {"* FLAGS (\\Seen \\Draft x)\r\n* FLAGS ()\r\n", {"flags", "flags"}, ""},
        {"* SEARCH 2 84 882\r\n",
         {"found 2:2", "found 84:84", "found 882:882", "search_end 3"},
         "RFC 3501 7.2.5"},
        {"* SEARCH\r\n* SEARCH \r\n", {"search_end", "search_end"}, "nothing found"},
        {"* SEARCH 2 (MODSEQ 917162500)\r\n", {"found 2:2", "search_end 1"}, "RFC 7162 3.1.5"},
        {"* SORT 5 3\r\n", {"found 5:5", "found 3:3", "search_end 2"}, "RFC 5256"},
        {"* ESEARCH (TAG \"a\") UID COUNT 5 ALL 4:19,21,28\r\n",
         {"found 4:19", "found 21:21", "found 28:28", "search_end 5"},
         "RFC 4731 3.1"},
        {"* ESEARCH (TAG {3}\r\na)b) MIN 7 MODSEQ 12 X (1 (2) \"3\") ALL 9\r\n",
         {"found 9:9", "search_end"},
         "values that are passed over"},
        {"* ESEARCH\r\n", {"search_end"}, "RFC 9051 7.3.4: nothing found"},
        {"* VANISHED 405,407,410:425\r\n",
         {"vanished 405:405", "vanished 407:407", "vanished 410:425"},
         "RFC 7162 3.2.10"},
        {"* VANISHED (EARLIER) 3:1\r\n", {"vanished 1:3 earlier"}, "in any order"},
        {"* LIST (\\Noselect \\Sent) \"/\" ~/x\r\n", {"list 47"}, ""},
        {"* LSUB () NIL {3}\r\na\"b\r\n", {"list"}, "a literal"},
        {"* LIST (\\x) \"\\\\\" \"a b\" (\"CHILDINFO\" (\"S\"))\r\n* LIST () \".\" 12\r\n",
         {"list 92", "list 46"},
         "extended, RFC 5258; and a number for a name"},
        {"* STATUS {2}\r\nab (X (1 2) MESSAGES 231 UIDNEXT 44292)\r\n", {"status ab"}, ""},
        {"* STATUS b ()\r\n", {"status b"}, ""},
        {"* NAMESPACE ((\"\" \"/\")) NIL NIL\r\n* NAMESPACE ((\"INBOX.\" \".\")) NIL ((\"#\" "
         "NIL))\r\n",
         {"namespace '' 47", "namespace 'INBOX.' 46"},
         "RFC 2342 5"},
        {"* NAMESPACE ((INBOX NIL)(\"#mh/\" \"/\" \"X\" (\"a\" \"b\"))) ((\"~\" \"/\")) NIL\r\n* "
         "NAMESPACE "
         "(({3}\r\na\r\n \"\\\\\" \"X\" ({2}\r\n))))) NIL {3}\r\n\r\n*\r\n* 1 EXISTS\r\n",
         {"namespace 'INBOX' 0", "namespace 'a\r\n' 92", "exists 1"},
         "the first of ours, with literals and extensions behind it"},
        {"* NAMESPACE NIL NIL ((\"#news.\" \".\"))\r\n* ID NIL\r\n* 1 FOO {3}\r\n\r\n* "
         "(a)\r\n+\r\n",
         {"other NAMESPACE", "other ID", "other FOO", "continuation"},
         "what nobody knows, with a literal"},
    };
    for (const row& one : rows) {
        INFO(one.reason << ": " << one.input);
        check_all_splits(one.input, one.wanted);
    }
}

TEST_CASE("imap_responses: FETCH") {
    struct row {
        std::string_view input;
        heard wanted;
        const char* reason;
    };
    const row rows[] = {
        {"* 1 FETCH ()\r\n", {"fetch 1", "fetch_end 1"}, "nothing"},
        {"* 12 FETCH (FLAGS (\\Seen) RFC822.SIZE 44827 uid 7)\r\n",
         {"fetch 12", "flags \\Seen", "size 44827", "uid 7", "fetch_end 12"},
         "numbers and flags"},
        {"* 2 FETCH (FLAGS () FLAGS (\\Seen $Forwarded work))\r\n",
         {"fetch 2", "flags", "flags \\Seen $Forwarded work", "fetch_end 2"},
         "flags are given with blanks between"},
        {"* 1 FETCH (MODSEQ (624140003) INTERNALDATE \"17-Jul-1996 02:44:25 -0700\")\r\n",
         {"fetch 1", "modseq 624140003", "date 17-Jul-1996 02:44:25 -0700", "fetch_end 1"},
         "RFC 7162 3.1.4.2"},
        {"* 1 FETCH (BODY[HEADER] {6}\r\na: b\r\n UID 3)\r\n",
         {"fetch 1", "body [HEADER] 6", "piece a: b\r\n", "body_end [HEADER]", "uid 3",
          "fetch_end 1"},
         "a literal in the middle"},
        {"* 1 FETCH (BODY[]<5> {0}\r\n BODY[1.MIME] NIL)\r\n",
         {"fetch 1", "body [] 0", "body_end []", "nil [1.MIME]", "fetch_end 1"},
         "empty, and not there"},
        {"* 1 FETCH (BODY[] \"a\\\"b\" BODY[TEXT] \"\" UID 9)\r\n",
         {"fetch 1", "body [] 3", "piece a\"b", "body_end []", "body [TEXT] 0", "body_end [TEXT]",
          "uid 9", "fetch_end 1"},
         "a body may be quoted"},
        {"* 1 FETCH (RFC822 {1}\r\nx RFC822.HEADER {1}\r\ny RFC822.TEXT NIL)\r\n",
         {"fetch 1", "body [] 1", "piece x", "body_end []", "body [HEADER] 1", "piece y",
          "body_end [HEADER]", "nil [TEXT]", "fetch_end 1"},
         "by their old names"},
        {"* 1 FETCH (BINARY[2]<1> ~{2}\r\n)( BINARY.SIZE[2] 7)\r\n",
         {"fetch 1", "body [2] 2", "piece )(", "body_end [2]", "fetch_end 1"},
         "RFC 3516"},
        {"* 1 FETCH (ENVELOPE (NIL {1}\r\n( ((\"a\" NIL \"b\" \"c\")) NIL NIL NIL NIL NIL NIL "
         "\"<\\\"x@y>\"))\r\n",
         {"fetch 1", "envelope", "fetch_end 1"},
         "RFC 3501 7.4.2"},
        {"* 1 FETCH (BODY (\"TEXT\" \"PLAIN\" (\"CHARSET\" \"US-ASCII\") NIL NIL \"7BIT\" 3 "
         "9))\r\n",
         {"fetch 1", "structure", "fetch_end 1"},
         "a single part"},
        {"* 1 FETCH (X-A 1 X-B (1 (2) {1}\r\n)) X-C NIL X-D {2}\r\n() UID 1)\r\n",
         {"fetch 1", "uid 1", "fetch_end 1"},
         "unknown items"},
    };
    for (const row& one : rows) {
        INFO(one.reason << ": " << one.input);
        check_all_splits(one.input, one.wanted);
    }
}

TEST_CASE("imap_responses: what is no response ends the reading") {
    struct row {
        std::string_view input;
        std::string_view problem;
    };
    const std::string long_prefix =
        "* NAMESPACE (({1025}\r\n" + std::string(1025, 'a') + " NIL)) NIL NIL\r\n";
    const row rows[] = {
        {"\r\n", "garbage"},
        {"(a)\r\n", "garbage"},
        {"HTTP/1.1 400 Bad\r\n", "garbage"},
        {"a1 BYE x\r\n", "garbage"},
        {"a1 PREAUTH x\r\n", "garbage"},
        {"a1\r\n", "garbage"},
        {"*\r\n", "garbage"},
        {"* \"x\"\r\n", "garbage"},
        {"* 1 2\r\n", "garbage"},
        {"* 1 EXISTS 2\r\n", "end_expected"},
        {"* CAPABILITY (x)\r\n", "bad_capability"},
        {"* FLAGS x\r\n", "bad_flags"},
        {"* FLAGS (a (b))\r\n", "bad_flags"},
        {"* SEARCH 0\r\n", "bad_search"},
        {"* SEARCH 4294967296\r\n", "bad_search"},
        {"* SEARCH x\r\n", "bad_search"},
        {"* ESEARCH ALL\r\n", "bad_search"},
        {"* ESEARCH MIN\r\n", "value_expected"},
        {"* ESEARCH ALL 1,\r\n", "bad_set"},
        {"* VANISHED\r\n", "bad_vanished"},
        {"* VANISHED (NOW) 1\r\n", "bad_vanished"},
        {"* VANISHED 1:*\r\n", "bad_set"},
        {"* VANISHED 1;2\r\n", "bad_set"},
        {"* VANISHED 4294967296\r\n", "bad_set"},
        {"* VANISHED 1 2\r\n", "end_expected"},
        {"* LIST x\r\n", "bad_list"},
        {"* LIST () \"ab\" x\r\n", "bad_list"},
        {"* LIST () NIL ()\r\n", "bad_list"},
        {"* LIST () NIL {65537}\r\n", "string_too_long"},
        {"* LIST () NIL {4294967296}\r\n", "string_too_long"},
        {"* NAMESPACE\r\n", "bad_namespace"},
        {"* NAMESPACE x\r\n", "bad_namespace"},
        {"* NAMESPACE ()\r\n", "bad_namespace"},
        {"* NAMESPACE (NIL)\r\n", "bad_namespace"},
        {"* NAMESPACE (()) NIL NIL\r\n", "bad_namespace"},
        {"* NAMESPACE ((NIL NIL)) NIL NIL\r\n", "bad_namespace"},
        {"* NAMESPACE ((\"a\")) NIL NIL\r\n", "bad_namespace"},
        {"* NAMESPACE ((\"a\" \"\")) NIL NIL\r\n", "bad_namespace"},
        {"* NAMESPACE ((\"a\" \"//\")) NIL NIL\r\n", "bad_namespace"},
        {"* NAMESPACE ((\"a\" {2}\r\n//)) NIL NIL\r\n", "bad_namespace"},
        {long_prefix, "bad_namespace"},
        {"* NAMESPACE ((\"a\" NIL)\r\n", "unbalanced"},
        {"* STATUS (x)\r\n", "bad_status"},
        {"* STATUS a x\r\n", "bad_status"},
        {"* STATUS a (MESSAGES x)\r\n", "bad_status"},
        {"* STATUS a (x)\r\n", "value_expected"},
        {"* 1 FETCH UID 1\r\n", "bad_fetch"},
        {"* 1 FETCH (UID x)\r\n", "bad_fetch"},
        {"* 1 FETCH (UID 1\r\n", "unbalanced"},
        {"* 1 FETCH (UID 1) x\r\n", "end_expected"},
        {"* 1 FETCH (INTERNALDATE 1)\r\n", "bad_fetch"},
        {"* 1 FETCH (MODSEQ 1)\r\n", "bad_fetch"},
        {"* 1 FETCH (MODSEQ ())\r\n", "bad_fetch"},
        {"* 1 FETCH (MODSEQ (1 2))\r\n", "bad_fetch"},
        {"* 1 FETCH (FLAGS 1)\r\n", "bad_flags"},
        {"* 1 FETCH (X)\r\n", "value_expected"},
        {"* 1 FETCH (BODY[] x)\r\n", "bad_body"},
        {"* 1 FETCH (BODY[] ())\r\n", "bad_body"},
        {"* 1 FETCH (BODY[x\r\n", "open_section"},
        {"* 1 FETCH (BODY[] {1x}\r\n", "bad_literal"},
        {"* 1 FETCH (ENVELOPE NIL)\r\n", "bad_structure"},
        {"* 1 FETCH (ENVELOPE (NIL))\r\n", "bad_structure"},
        {"* 1 FETCH (ENVELOPE (x))\r\n", "bad_structure"},
        {"* 1 FETCH (ENVELOPE {1}\r\nx)\r\n", "bad_structure"},
        {"* 1 FETCH (ENVELOPE )\r\n", "bad_structure"},
        {"* 1 FETCH (BODYSTRUCTURE (()))\r\n", "bad_structure"},
        {{"* OK \0\r\n", 8}, "nul"},
        {{"* \0\r\n", 5}, "control_character"},
    };
    for (const row& one : rows) {
        INFO(one.input);
        const heard lines = hear(one.input);
        REQUIRE_FALSE(lines.empty());
        CHECK(lines.back() == "broken " + std::string(one.problem));
        check_all_splits(one.input, lines);
    }
}

TEST_CASE("imap_responses: hostile input is bounded") {
    struct row {
        std::string input;
        std::string_view problem;
        const char* reason;
    };
    const std::string fetch = "* 1 FETCH (";
    const row rows[] = {
        {fetch + "BODYSTRUCTURE " + std::string(100'000, '('), "nested_too_deep", "RFC 3501 9"},
        {fetch + "X " + std::string(100'000, '('), "nested_too_deep", "within an unknown item"},
        {"* X " + std::string(100'000, '('), "nested_too_deep", "within an unknown response"},
        {std::string(100'000, 'a'), "line_too_long", "an endless tag"},
        {std::string(100, 'a') + " OK\r\n", "garbage", "a long tag"},
        {"* OK " + std::string(100'000, 'a'), "line_too_long", "endless text"},
        {"* X " + std::string(2'000'000, ' '), "line_too_long", "endless blanks"},
        {"* NAMESPACE (({65537}\r\n", "string_too_long", "before any of it"},
        {"* NAMESPACE ((\"a\" NIL \"x\" " + std::string(100'000, '('), "nested_too_deep", ""},
        {"* NAMESPACE ((\"a\" NIL)" + repeated("(\"b\" NIL)", 200'000), "line_too_long",
         "an endless list"},
        {"* LIST () NIL {65536}\r\n" + std::string(70'000, '\0'), "control_character", "NULs"},
    };
    for (const row& one : rows) {
        INFO(one.reason);
        const std::string wanted = "broken " + std::string(one.problem);
        CHECK(hear(one.input).back() == wanted);
        CHECK(hear(one.input, 1) == hear(one.input));
        CHECK(hear(one.input, 4093) == hear(one.input));
    }
}

TEST_CASE("imap_responses: a literal's size is told before any of it, however large") {
    const std::string input = "* 1 FETCH (BODY[] {9223372036854775807}\r\nabc";
    const heard wanted{"fetch 1", "body [] 9223372036854775807", "piece abc"};
    check_all_splits(input, wanted);
}

TEST_CASE("imap_responses: a flood is read one response at a time") {
    std::string flood;
    for (int i = 0; i < 100'000; ++i)
        flood += "* 1 EXISTS\r\n* OK\r\n";
    CHECK(hear(flood).size() == 200'000);
}

TEST_CASE("imap_responses: content is never copied") {
    const std::string input = "* 1 FETCH (UID 1 BODY[] {5}\r\nabcde)\r\n";
    imap_responses responses;
    std::string_view left = input;
    imap_step step;
    do {
        step = responses.next(left);
        left.remove_prefix(step.consumed);
    } while (step.event != imap_event::body_piece);
    CHECK(step.text.data() == input.data() + input.find("abcde"));
}

TEST_CASE("imap_responses: what is told in lists can be asked for") {
    imap_responses responses;
    const auto tell = [&responses](std::string_view text) {
        feed(responses, text, [](const imap_responses&, const imap_step&) {});
    };
    CHECK(responses.capabilities().empty());
    tell("* OK [CAPABILITY IMAP4rev1 literal+ AUTH=PLAIN auth=x X] hi\r\n");
    CHECK(responses.capabilities().has(imap_capability::literal_plus));
    CHECK(responses.capabilities().mechanisms() == "PLAIN x ");
    CHECK_FALSE(responses.capabilities().has(imap_capability::idle));
    tell("* CAPABILITY IDLE\r\n* ENABLED QRESYNC\r\n");
    CHECK(responses.capabilities().has(imap_capability::idle));
    CHECK_FALSE(responses.capabilities().has(imap_capability::literal_plus));
    CHECK(responses.enabled().has(imap_capability::qresync));
    CHECK(responses.enabled().mechanisms().empty());
    tell("* STATUS a (UIDVALIDITY 7 X (1 2) UIDNEXT 9223372036854775807 MESSAGES 3)\r\n");
    CHECK(responses.status().uid_validity == 7);
    CHECK(responses.status().uid_next == 9223372036854775807U);
    tell("* STATUS a (MESSAGES 3)\r\n");
    CHECK(responses.status().uid_next == 0);
}

TEST_CASE("imap_responses: a session with Dovecot") {
    const std::string said = with_crlf(dovecot_lines);
    const heard lines = hear(said);
    REQUIRE(lines.size() == 120);
    CHECK(lines.back() == "tagged a27 ok 'Logout completed.'");
    const std::string expected[] = {
        "list 46",
        "status INBOX",
        "date 20-Nov-2026 20:16:57 +0000",
        "modseq 4",
        "envelope",
        "structure",
        "body [] 439",
        "body [HEADER.FIELDS (FROM \"SUBJECT\")] 62",
        "body [1] 3",
        "piece llo",
        "body [9] 0",
        "piece hello 1",
        "vanished 2:2",
        "untagged ok " + code(imap_code::other) + " [1795205818] 1795205818 2 2 'Moved UIDs.'",
        "tagged a20 ok " + code(imap_code::append_uid) +
            " [1795205817] 1795205817 4 'Append completed.'",
    };
    for (const std::string& line : expected) {
        CAPTURE(line);
        CHECK(std::find(lines.begin(), lines.end(), line) != lines.end());
    }
    check_all_splits(said, lines);
}
