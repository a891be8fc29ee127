// SPDX-License-Identifier: GPL-3.0-or-later
// Every dialogue of a table, replayed with a fault at each of its replies: the connection closed
// before or inside it, garbage, a code of the wrong class, 421, a refusal, a reply in pieces, one
// too many. Whatever happens, each message ends once, and how it ends follows from what had been
// said and heard by then.
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "exchange_play.hpp"

using namespace postal;
using namespace postal::sender;
using exchange_play::outcomes;
using exchange_play::play;
using exchange_play::setting;

namespace {

enum class verb { mail, rcpt, data, end, rset };

// A reply that is due: to what, and of which message of the connection.
struct due_reply {
    verb to;
    std::size_t message;
};

// A server that says yes to everything, and the bookkeeping of what it was told.
class server {
  public:
    explicit server(const setting& of) : of_(of) {}

    // What was said, as play::say() gives it.
    void hear(const std::string& said) {
        for (std::size_t at = 0; at < said.size();) {
            const std::size_t end = said.find("\r\n", at);
            const std::size_t next = end == std::string::npos ? said.size() : end + 2;
            take_line(said.substr(at, next - at));
            at = next;
        }
    }

    std::deque<due_reply> due;
    std::size_t begun = 0;    // messages
    std::size_t whole = 0;    // whose last octet was said
    std::size_t replies = 0;  // given so far

  private:
    void take_line(const std::string& line) {
        const std::string body = "<message>";
        const std::size_t at = line.find(body);
        if (at != std::string::npos) {
            const std::string behind = line.substr(at + body.size());
            if (of_.chunking && !behind.empty()) take_line(behind);
            if (!of_.chunking) end_message();
        } else if (line.starts_with("MAIL")) {
            due.push_back({verb::mail, begun++});
        } else if (line.starts_with("RCPT")) {
            due.push_back({verb::rcpt, begun - 1});
        } else if (line.starts_with("DATA")) {
            due.push_back({verb::data, begun - 1});
        } else if (line.starts_with("BDAT")) {
            end_message();
        } else if (line.starts_with("RSET")) {
            due.push_back({verb::rset, begun - 1});
        }
    }

    // Over LMTP each recipient has its reply (RFC 2033 4.2).
    void end_message() {
        for (unsigned i = 0; i < (of_.lmtp ? of_.recipients : 1); ++i) {
            due.push_back({verb::end, whole});
        }
        ++whole;
    }

    const setting& of_;
};

std::string good(verb to) {
    return to == verb::data ? "354 go ahead\r\n" : "250 2.0.0 yes\r\n";
}

// Plays up to the reply of that number, which is due then; nothing if the dialogue is over before.
std::optional<due_reply> play_until(play& dialogue, server& peer, std::size_t number) {
    for (;;) {
        if (peer.due.empty()) peer.hear(dialogue.say());
        if (peer.due.empty()) return std::nullopt;
        if (peer.replies == number) return peer.due.front();
        const due_reply one = peer.due.front();
        peer.due.pop_front();
        ++peer.replies;
        REQUIRE(dialogue.hear(good(one.to)) == hearing::go_on);
        peer.hear(dialogue.say());
    }
}

void play_to_the_end(play& dialogue, server& peer) {
    CHECK_FALSE(play_until(dialogue, peer, SIZE_MAX).has_value());
    CHECK(dialogue.line().idle());
    CHECK_FALSE(dialogue.line().anything_open());
}

std::vector<setting> dialogues() {
    std::vector<setting> all;
    for (const bool lmtp : {false, true}) {
        for (const unsigned recipients : {1U, 2U}) {
            for (const std::uint64_t messages : {1U, 3U}) {
                const setting plain{.lmtp = lmtp, .recipients = recipients, .messages = messages};
                all.push_back(plain);
                setting other = plain;
                other.pipelining = true;
                all.push_back(other);
                other.overlap = true;
                all.push_back(other);
                other.chunking = true;
                all.push_back(other);
                other.in_flight = 3;
                all.push_back(other);
                other = plain;
                other.chunking = true;  // without PIPELINING
                all.push_back(other);
            }
        }
    }
    return all;
}

std::string name_of(const setting& one) {
    return std::string(one.lmtp ? "LMTP" : "SMTP") + (one.pipelining ? " pipelined" : " plain") +
           (one.overlap ? " overlapping" : "") + (one.chunking ? " chunked" : "") + ", " +
           std::to_string(one.in_flight) + " in flight, " + std::to_string(one.recipients) +
           " recipients, " + std::to_string(one.messages) + " messages";
}

// Calls `fault` with each dialogue stopped before each of its replies.
template <class Fault>
void at_each_reply(Fault fault) {
    for (const setting& how : dialogues()) {
        for (std::size_t number = 0;; ++number) {
            INFO(name_of(how) << ", reply " << number);
            play dialogue(how);
            server peer(how);
            const auto one = play_until(dialogue, peer, number);
            if (!one) break;
            fault(dialogue, peer, *one, how);
        }
    }
}

// How many messages have ended well by now.
std::uint64_t accepted(const play& dialogue) {
    return dialogue.books().messages;
}

std::uint64_t units(const setting& how) {
    return how.lmtp ? how.recipients : 1;
}

// What a broken connection leaves: in doubt is what was said as a whole and not answered.
outcomes after_breaking(const server& peer, const setting& how, std::uint64_t taken) {
    const std::uint64_t in_doubt = peer.whole * units(how) - taken;
    const std::uint64_t failed = (peer.begun - peer.whole) * units(how);
    return {taken, 0, 0, failed, in_doubt};
}

}  // namespace

TEST_CASE("exchange faults: without one every message is accepted") {
    for (const setting& how : dialogues()) {
        INFO(name_of(how));
        play dialogue(how);
        server peer(how);
        play_to_the_end(dialogue, peer);
        CHECK(dialogue.outcomes() == outcomes{how.messages * units(how), 0, 0, 0, 0});
        CHECK(dialogue.books().errors.total() == 0);
    }
}

TEST_CASE("exchange faults: the connection closes before a reply or inside it") {
    for (const char* heard : {"", "2", "250", "250-first\r\n", "250 no line end"}) {
        at_each_reply([&](play& dialogue, server& peer, due_reply, const setting& how) {
            const std::uint64_t taken = accepted(dialogue);
            REQUIRE(dialogue.hear(heard) == hearing::go_on);
            dialogue.lose();
            CHECK(dialogue.outcomes() == after_breaking(peer, how, taken));
            CHECK(dialogue.books().errors.total() > 0);
            CHECK_FALSE(dialogue.line().anything_open());
        });
    }
}

TEST_CASE("exchange faults: what is no reply, or none that fits, breaks the connection") {
    const std::string bell("\a\xff\xfe\0\0\r\n", 7);
    for (const std::string& heard :
         {bell, std::string("hello\r\n"), std::string("25 short\r\n"), std::string("199 no\r\n"),
          std::string("WRONG CLASS"), std::string(70'000, 'x')}) {
        at_each_reply([&](play& dialogue, server& peer, due_reply one, const setting& how) {
            const std::string wrong = one.to == verb::data ? "250 yes\r\n" : "354 go\r\n";
            const std::uint64_t taken = accepted(dialogue);
            REQUIRE(dialogue.hear(heard == "WRONG CLASS" ? wrong : heard) == hearing::broken);
            CHECK(dialogue.books().errors.total() == 1);
            dialogue.lose();
            CHECK(dialogue.outcomes() == after_breaking(peer, how, taken));
            CHECK_FALSE(dialogue.line().anything_open());
        });
    }
}

TEST_CASE("exchange faults: 421 defers what it answers, and leaves the rest to the break") {
    at_each_reply([](play& dialogue, server& peer, due_reply one, const setting& how) {
        const std::uint64_t taken = accepted(dialogue);
        outcomes wanted = after_breaking(peer, how, taken);
        // RFC 2033 4.2: those for the other recipients follow.
        const bool others = how.lmtp && one.to == verb::end && peer.due.size() > 1 &&
                            peer.due[1].to == verb::end && peer.due[1].message == one.message;
        REQUIRE(dialogue.hear("421 4.3.2 closing\r\n") ==
                (others ? hearing::go_on : hearing::closing));
        CHECK(dialogue.books().errors.total() == 1);
        dialogue.lose();
        if (one.to == verb::end) {
            const std::uint64_t left = units(how) - taken % units(how);
            const std::uint64_t ended = how.lmtp ? 1 : left;  // RFC 2033 4.2: one recipient's
            wanted[2] += ended;
            wanted[4] -= ended;
        } else if (one.message < peer.whole) {  // a chunk has been said behind it
            wanted[2] += units(how);
            wanted[4] -= units(how);
        } else if (one.message < peer.begun) {
            wanted[2] += units(how);
            wanted[3] -= units(how);
        }
        if (one.to != verb::rset) CHECK(dialogue.outcomes() == wanted);
        CHECK_FALSE(dialogue.line().anything_open());
    });
}

TEST_CASE("exchange faults: a refusal ends its message at once, and only that one") {
    for (const char* heard : {"451 4.3.0 later\r\n", "550-5.1.1 never\r\n550 5.1.1 no\r\n"}) {
        const bool permanent = heard[0] == '5';
        at_each_reply([&](play& dialogue, server& peer, due_reply one, const setting& how) {
            if (one.to == verb::rset) return;  // nobody goes on behind that
            const bool of_one = one.to == verb::end || one.to == verb::rcpt;
            const std::uint64_t refused = how.lmtp && of_one ? 1 : units(how);
            const bool others = one.to == verb::rcpt && how.recipients > 1;
            REQUIRE(dialogue.hear(heard) == hearing::go_on);
            peer.due.pop_front();
            ++peer.replies;
            CHECK(dialogue.books().errors.total() == 1);
            if (one.to != verb::end && !(others && !how.lmtp)) {
                const stats::tally& books = dialogue.books();
                CHECK((permanent ? books.rejected : books.deferred) == (others ? 1 : refused));
            }
            dialogue.say();
            dialogue.lose();
            dialogue.outcomes();
        });
    }
}

TEST_CASE("exchange faults: replies in pieces mean the same") {
    for (const setting& how : dialogues()) {
        INFO(name_of(how));
        play dialogue(how);
        server peer(how);
        peer.hear(dialogue.say());
        while (!peer.due.empty()) {
            const bool data = peer.due.front().to == verb::data;
            const std::string lines =
                (data ? "354-one\r\n" : "250-one\r\n") + good(peer.due.front().to);
            for (const char octet : lines) {
                REQUIRE(dialogue.hear({&octet, 1}) == hearing::go_on);
            }
            peer.due.pop_front();
            peer.hear(dialogue.say());
        }
        CHECK(dialogue.outcomes() == outcomes{how.messages * units(how), 0, 0, 0, 0});
    }
}

TEST_CASE("exchange faults: a reply that nothing asked for breaks the connection") {
    at_each_reply([](play& dialogue, server& peer, due_reply, const setting& how) {
        std::string all;
        for (const due_reply& one : peer.due)
            all += good(one.to);
        const std::uint64_t before = accepted(dialogue);
        CHECK(dialogue.hear(all + "250 and one more\r\n") == hearing::broken);
        CHECK(dialogue.books().errors.total() == 1);
        dialogue.lose();
        CHECK(accepted(dialogue) >= before);
        CHECK(dialogue.outcomes()[0] <= how.messages * units(how));
        CHECK_FALSE(dialogue.line().anything_open());
    });
}
