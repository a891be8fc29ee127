// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/pop3/client.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace postal::proto;

namespace {

using enum pop3_form;
using forms = std::vector<pop3_form>;

// A transcript of events: "+text", "-text", "?text" (challenge), "|line", "=" and content joined,
// "." (end), "!problem".
struct play {
    pop3_client client;
    std::string seen;
    bool in_content = false;

    explicit play(const forms& expected) {
        for (const pop3_form form : expected)
            client.expect(form);
    }
    void note(std::string_view mark, std::string_view text) {
        in_content = false;
        seen.append(seen.empty() ? "" : "\n").append(mark).append(text);
    }
    void note_content() {
        if (!in_content) note("=", "");
        in_content = true;
        seen += client.content();
    }
    void feed(std::string_view bytes) {
        constexpr std::string_view marks[]{"+", "-", "?"};
        while (true) {
            switch (client.feed(bytes)) {
                case pop3_event::need_more:
                    REQUIRE(bytes.empty());
                    return;
                case pop3_event::broken:
                    if (!seen.ends_with(client.problem())) note("!", client.problem());
                    return;
                case pop3_event::status:
                    note(marks[static_cast<std::size_t>(client.status())], client.text());
                    break;
                case pop3_event::list_line:
                    note("|", client.text());
                    break;
                case pop3_event::content:
                    REQUIRE_FALSE(client.content().empty());
                    note_content();
                    break;
                case pop3_event::end:
                    REQUIRE(client.reply_complete());
                    note(".", "");
            }
        }
    }
};

std::string run(const forms& expected, std::string_view bytes) {
    play one(expected);
    one.feed(bytes);
    return one.seen;
}

std::string in_pieces(const forms& expected, std::string_view bytes, std::size_t piece) {
    play one(expected);
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
        one.feed(bytes.substr(0, piece));
    return one.seen;
}

struct row {
    forms expected;
    std::string bytes;
    std::string seen;
    const char* why;
};

const std::vector<row> good{
    {{status_line}, "+OK POP3 ready <1.2@x>\r\n", "+POP3 ready <1.2@x>", "greeting"},
    {{status_line}, "+OK\r\n", "+", "RFC 1939 3: text may be missing"},
    {{status_line}, "+OK \r\n", "+", "one blank belongs to the status"},
    {{status_line}, "+OK\tx\r\n", "+x", "a tab is a blank"},
    {{status_line}, "-ERR [AUTH] no\r\n", "-[AUTH] no", "RFC 3206"},
    {{status_line, status_line}, "+OK\n-ERR x\n", "+\n-x", "LF alone, old servers"},
    {{listing}, "+OK 2 messages\r\n1 10\r\n2 20\r\n.\r\n", "+2 messages\n|1 10\n|2 20\n.", "LIST"},
    {{listing}, "+OK\r\n.\r\n", "+\n.", "an empty listing"},
    {{listing}, "+OK\n1 a\n.\n", "+\n|1 a\n.", "a listing with LF alone"},
    {{listing}, "+OK\r\n..\r\n..x\r\n\r\n.\r\n", "+\n|.\n|.x\n|\n.", "unstuffed; empty lines"},
    {{listing, status_line}, "-ERR no\r\n+OK\r\n", "-no\n+", "-ERR has no lines behind it"},
    {{content}, "+OK\r\na\r\n.\r\n", "+\n=a\r\n\n.", "the final CRLF is the message's"},
    {{content}, "+OK\r\n.\r\n", "+\n.", "an empty message"},
    {{content}, "+OK\r\n\r\n.\r\n", "+\n=\r\n\n.", "a message of an empty line"},
    {{content}, "+OK\r\n..\r\n...a\r\nb.\r\n.\r\n", "+\n=.\r\n..a\r\nb.\r\n\n.", "dots unstuffed"},
    {{content}, "+OK\r\na\n.\nb\r\n.\r\n", "+\n=a\n.\nb\r\n\n.", "LF does not end content"},
    {{content}, "+OK\r\n.\rb\r\n.\r\n", "+\n=\rb\r\n\n.", "a CR behind a dot is content"},
    {{content}, "-ERR no such message\r\n", "-no such message", "RETR refused"},
    {{content, content, status_line},
     "+OK 3\r\na\r\n.\r\n-ERR x\r\n+OK bye\r\n",
     "+3\n=a\r\n\n.\n-x\n+bye",
     "pipelined"},
    {{auth, status_line}, "+ PDE+\r\n+ \r\n+OK\r\n+OK\r\n", "?PDE+\n?\n+\n+", "RFC 5034 4"},
    {{auth}, "+\r\n-ERR no\r\n", "?\n-no", "a challenge of nothing, without its blank"},
    {{status_line},
     "+OK " + std::string(pop3_client::max_line - 4, 'x') + "\r\n",
     "+" + std::string(pop3_client::max_line - 4, 'x'),
     "the longest line"},
};

const std::vector<row> bad{
    {{status_line}, "+ok\r\n", "!garbage", "RFC 1939 3: upper case"},
    {{status_line}, "+OKAY\r\n", "!garbage", "no status"},
    {{status_line}, "\r\n", "!garbage", "nothing"},
    {{status_line}, "* OK IMAP\r\n", "!garbage", "another protocol"},
    {{status_line}, "220 smtp\r\n", "!garbage", "another protocol"},
    {{status_line}, "+ \r\n", "!garbage", "a challenge that nobody wants"},
    {{content}, "+ x\r\n", "!garbage", "a challenge that nobody wants"},
    {{}, "-ERR idle\r\n", "!unasked", "an idle timeout"},
    {{status_line}, "+OK\r\n+OK\r\n", "+\n!unasked", "one reply too many"},
    {{content}, "+OK\r\na\r\n.\r\nb\r\n", "+\n=a\r\n\n.\n!garbage", "content behind the end"},
    {{status_line}, std::string(100'000, '+'), "!line_too_long", "an endless line"},
    {{status_line},
     "+OK " + std::string(pop3_client::max_line - 3, 'x') + "\r\n",
     "!line_too_long",
     "one octet too many"},
    {{listing}, "+OK\r\n" + std::string(15000, '1') + "\r\n", "+\n!line_too_long", "in a listing"},
};

}  // namespace

TEST_CASE("pop3_client: replies come out the same however the octets arrive") {
    for (const auto* rows : {&good, &bad}) {
        for (const row& one : *rows) {
            INFO(one.why);
            REQUIRE(run(one.expected, one.bytes) == one.seen);
            REQUIRE(in_pieces(one.expected, one.bytes, 1) == one.seen);
            for (std::size_t split = 0; split <= std::min<std::size_t>(one.bytes.size(), 5000);
                 ++split) {
                play halves(one.expected);
                halves.feed(std::string_view(one.bytes).substr(0, split));
                halves.feed(std::string_view(one.bytes).substr(split));
                if (halves.seen != one.seen) FAIL("split at " << split << ": " << halves.seen);
            }
        }
    }
}

TEST_CASE("pop3_client: says when a reply is complete, and how many are to come") {
    pop3_client client;
    for (const pop3_form form : {content, auth, status_line})
        client.expect(form);
    CHECK(client.outstanding() == 3);
    std::string_view bytes = "+OK\r\nx\r\n.\r\n+ go\r\n+OK in\r\n-ERR\r\n";
    struct step {
        pop3_event event;
        bool complete;
        std::size_t outstanding;
    };
    const step steps[]{{pop3_event::status, false, 3}, {pop3_event::content, false, 3},
                       {pop3_event::end, true, 2},     {pop3_event::status, false, 2},
                       {pop3_event::status, true, 1},  {pop3_event::status, true, 0}};
    for (const step& each : steps) {
        CHECK(client.feed(bytes) == each.event);
        CHECK(client.reply_complete() == each.complete);
        CHECK(client.outstanding() == each.outstanding);
    }
    CHECK(client.feed(bytes) == pop3_event::need_more);
}

TEST_CASE("pop3_client: many outstanding replies take no more room than there are") {
    play one({});
    for (int turn = 0; turn < 1000; ++turn) {
        for (int i = 0; i < 3; ++i)
            one.client.expect(i == 1 ? content : status_line);
        one.seen.clear();
        one.feed("+OK a\r\n+OK b\r\nc\r\n.\r\n+OK d\r\n");
        REQUIRE(one.seen == "+a\n+b\n=c\r\n\n.\n+d");
    }
    for (int turn = 0; turn < 1000; ++turn) {  // never empty
        one.client.expect(content);
        one.client.expect(status_line);
        one.seen.clear();
        one.feed(turn == 0 ? "+OK b\r\n.\r\n" : "+OK d\r\n+OK b\r\n.\r\n");
        REQUIRE(one.client.outstanding() == 1);
    }
    one.client.reset();
    CHECK(one.client.outstanding() == 0);
}

TEST_CASE("pop3_client: an endless listing ends, and what broke stays broken") {
    pop3_client client;
    client.expect(listing);
    std::string lines;
    for (int i = 0; i < 4096; ++i)
        lines += "x\r\n";
    std::string_view bytes = "+OK\r\n";
    pop3_event last = client.feed(bytes);
    for (std::size_t i = 0; i <= pop3_client::max_list_lines && last != pop3_event::broken; ++i) {
        if (bytes.empty()) bytes = lines;
        last = client.feed(bytes);
    }
    CHECK(last == pop3_event::broken);
    CHECK(client.problem() == "too_many_lines");
    bytes = "+OK\r\n";
    CHECK(client.feed(bytes) == pop3_event::broken);
    client.reset();
    client.expect(status_line);
    CHECK(client.feed(bytes) == pop3_event::status);
}

TEST_CASE("pop3_client: reads STAT, LIST and UIDL") {
    using numbers = std::optional<pop3_numbers>;
    CHECK(parse_stat("2 320") == numbers({2, 320}));
    CHECK(parse_stat("0 0") == numbers({0, 0}));
    CHECK(parse_stat("2 320 more") == numbers({2, 320}));
    CHECK(parse_list_line("1  18446744073709551615") == numbers({1, ~std::uint64_t{0}}));
    for (const std::string_view text : {"", "2", "2 ", "x 1", "1 x", "1,2", "-1 2", "1 2x",
                                        "1 18446744073709551616", "18446744073709551616 1"}) {
        INFO(text);
        CHECK_FALSE(parse_stat(text));
        CHECK_FALSE(parse_list_line(text));
    }
    CHECK_FALSE(parse_list_line("0 1"));
    const std::string longest(70, 'u');
    CHECK(parse_uidl_line("7 " + longest) == pop3_uid{7, longest});
    CHECK(parse_uidl_line("1 !~ x")->uid == "!~");
    for (const std::string& text :
         {std::string("1"), std::string("1 "), std::string("0 x"), std::string("x y"),
          "1 " + longest + "u", std::string("1 a\x7f"), std::string("1 \xc3\xa4")}) {
        INFO(text);
        CHECK_FALSE(parse_uidl_line(text));
    }
}

TEST_CASE("pop3_client: reads capabilities") {
    pop3_capabilities offered;
    for (const std::string_view line :
         {"TOP", "pipelining", "UTF8 USER", "Sasl PLAIN  SCRAM-SHA-256", "IMPLEMENTATION x", ""})
        offered.add(line);
    CHECK(offered.pipelining);
    CHECK(offered.sasl == "PLAIN  SCRAM-SHA-256");
    pop3_capabilities other;
    other.add("PIPELININGS");
    other.add("SASL");
    CHECK_FALSE(other.pipelining);
    CHECK(other.sasl.empty());
}

TEST_CASE("pop3_client: reads APOP's timestamp") {
    struct text_row {
        std::string_view text;
        std::string_view found;
    };
    for (const text_row& one : {text_row{"POP3 server ready <1896.697170952@dbc.mtview.ca.us>",
                                         "<1896.697170952@dbc.mtview.ca.us>"},
                                {"<a@b> <c@d>", "<a@b>"},
                                {"ready", ""},
                                {"<a", ""},
                                {"<>", ""},
                                {"<ab>", ""},
                                {"<@b>", ""},
                                {"<a@>", ""},
                                {"<a@b@c>", ""},
                                {"<a @b>", ""},
                                {"<a\x80@b>", ""},
                                {"<<a@b>", ""}}) {
        INFO(one.text);
        CHECK(apop_timestamp(one.text) == one.found);
    }
}

TEST_CASE("pop3_client: writes commands, and none that would be two") {
    std::string out;
    const std::uint8_t md5[16]{0xc4, 0xc9, 0x33, 0x4b, 0xac, 0x56, 0x0e, 0xcc,
                               0x97, 0x9e, 0x58, 0x00, 0x1b, 0x3e, 0x22, 0xfb};
    CHECK(append_user(out, "mr ose"));
    CHECK(append_pass(out, " tan staaf "));
    CHECK(append_apop(out, "mrose", md5));
    CHECK(append_auth(out, "PLAIN", ""));
    CHECK(append_auth(out, "PLAIN", "AGEAYg=="));
    CHECK(append_auth_answer(out, "*"));
    append_retr(out, 3);
    append_dele(out, 4);
    CHECK(out ==
          "USER mr ose\r\nPASS  tan staaf \r\nAPOP mrose c4c9334bac560ecc979e58001b3e22fb\r\n"
          "AUTH PLAIN\r\nAUTH PLAIN AGEAYg==\r\n*\r\n"
          "RETR 3\r\nDELE 4\r\n");
    out.clear();
    for (const std::string_view hostile : {std::string_view("a\r\nDELE 1"), std::string_view("a\n"),
                                           std::string_view("a\r"), std::string_view("a\0b", 3)}) {
        CHECK_FALSE(append_user(out, hostile));
        CHECK_FALSE(append_pass(out, hostile));
        CHECK_FALSE(append_apop(out, hostile, md5));
        CHECK_FALSE(append_auth(out, hostile, ""));
        CHECK_FALSE(append_auth(out, "PLAIN", hostile));
        CHECK_FALSE(append_auth_answer(out, hostile));
    }
    CHECK(out.empty());
}
