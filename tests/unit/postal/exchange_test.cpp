// The exchange as dialogues without a network: what it says, and what its books hold afterwards.
#include "postal/exchange.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../ledger/support.hpp"
#include "postal/workshop.hpp"

using namespace postal;

namespace {

struct setting {
    bool lmtp = false;
    bool pipelining = false;
    bool chunking = false;
    unsigned in_flight = 1;
    unsigned recipients = 1;
    std::uint64_t messages = 1;  // on the connection
};

// One connection, played by hand.
class stage_play {
  public:
    explicit stage_play(const setting& wanted)
        : plan_(options_of(wanted)),
          worker_({0, 1, phase_count, false}, [](auto&&...) {}),
          users_(*this),
          shop_(plan_, worker_, audit_.book.get()),
          exchange_(shop_, 0) {
        proto::capabilities offered;
        offered.pipelining = wanted.pipelining;
        offered.chunking = wanted.chunking;
        exchange_.begin(offered, wanted.messages);
        exchange_.take({load::pass::go, now_});
    }

    // What it says now, message bodies as "<message>".
    std::string say() {
        exchange_.compose(now_, written_);
        std::string said;
        for (const iovec& part : exchange_.output().left()) {
            said.append(static_cast<const char*>(part.iov_base), part.iov_len);
        }
        written_ += said.size();
        exchange_.output_written();
        return without_bodies(said);
    }

    verdict hear(std::string_view replies) {
        verdict last = verdict::go_on;
        while (!replies.empty() && last == verdict::go_on) {
            if (parser_.feed(replies) == proto::reply_event::reply) {
                last = exchange_.on_reply(parser_, now_);
            }
        }
        return last;
    }

    void lose() { exchange_.lost({"reset", "peer", written_, now_}); }
    void lose_before_data_is_out() { exchange_.lost({"reset", "peer", written_ - 1, now_}); }
    const stats::tally& books() { return worker_.tally(); }
    exchange& line() { return exchange_; }

    // accepted, rejected, deferred, failed, in doubt; and that they are all that was started.
    std::vector<std::uint64_t> outcomes() {
        const stats::tally& b = books();
        CHECK(b.started == b.messages + b.rejected + b.deferred + b.failed + b.in_doubt);
        return {b.messages, b.rejected, b.deferred, b.failed, b.in_doubt};
    }

  private:
    static options options_of(const setting& wanted) {
        options chosen;
        chosen.lmtp = wanted.lmtp;
        chosen.recipients = {wanted.recipients, wanted.recipients};
        chosen.chunking = wanted.chunking ? offer::automatic : offer::off;
        chosen.in_flight = wanted.in_flight;
        return chosen;
    }

    static std::string without_bodies(const std::string& said) {
        std::string result;
        std::size_t at = 0;
        for (;;) {
            const std::size_t body = said.find("From: ", at);
            if (body == std::string::npos) return result + said.substr(at);
            const std::size_t dot = said.find("\r\n.\r\n", body);
            const std::size_t next =
                std::min(said.find("MAIL FROM", body), said.find("RSET\r\n", body));
            std::size_t end = dot == std::string::npos ? next : dot + 2;
            result += said.substr(at, body - at) + "<message>";
            if (end == std::string::npos) return result;
            at = end;
        }
    }

    // Fills the plan before the workshop is made of it.
    struct users {
        explicit users(stage_play& of) {
            for (const char* name : {"a@example.com", "b@example.com", "c@example.com"}) {
                of.plan_.recipients.push_back({name, "", "", 1});
            }
            of.plan_.senders = {{"s@example.com", "", "", 1}};
            mail::message_options wanted;
            of.plan_.generated = *mail::message_plan::create(wanted);
        }
    };

    // At the end of each play, whatever it was: the ledger's rows that count are as many as the
    // books say.
    struct audit {
        explicit audit(const stats::tally& of) : books(of) {}
        ~audit() {
            CHECK(book->close().has_value());
            const auto rows = [this](const std::string& where) {
                return std::stoull(ledger_test::ask_sql(
                    path, "SELECT count(*) FROM sent_messages WHERE " + where));
            };
            CHECK(rows("counted AND outcome = 'accepted'") == books.messages);
            CHECK(rows("counted AND outcome = 'rejected'") == books.rejected);
            CHECK(rows("counted AND outcome = 'deferred'") == books.deferred);
            CHECK(rows("counted AND outcome = 'failed'") == books.failed);
            CHECK(rows("counted AND outcome = 'in_doubt'") == books.in_doubt);
            CHECK(rows("outcome = 'accepted'") == books.recipients);
        }

        ledger_test::folder folder;
        std::string path = folder / "ledger";
        std::unique_ptr<ledger::writer> book = ledger_test::open(path, ledger_test::run_of(1));
        const stats::tally& books;
    };

    plan plan_;
    load::worker worker_;
    users users_;
    audit audit_{worker_.tally()};
    workshop shop_;
    exchange exchange_;
    proto::reply_parser parser_;
    load::steady_time now_ = std::chrono::steady_clock::now();
    std::uint64_t written_ = 0;
};

std::string lines_of(const std::string& said) {
    std::string verbs;
    for (std::size_t at = 0; at < said.size();) {
        const std::size_t end = said.find("\r\n", at);
        const std::string line = said.substr(at, end - at);
        verbs += line.substr(0, line.find_first_of(" :")) + " ";
        if (end == std::string::npos) break;
        at = end + 2;
    }
    return verbs;
}

using outcomes = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("exchange: without PIPELINING each command waits for its reply") {
    stage_play play({.messages = 2});
    CHECK(lines_of(play.say()) == "MAIL ");
    CHECK(play.say().empty());
    play.hear("250 ok\r\n");
    CHECK(lines_of(play.say()) == "RCPT ");
    play.hear("250 ok\r\n");
    CHECK(lines_of(play.say()) == "DATA ");
    play.hear("354 go\r\n");
    CHECK(play.say() == "<message>.\r\n");
    play.hear("250 ok\r\n");
    CHECK(play.outcomes() == outcomes{1, 0, 0, 0, 0});
    CHECK(lines_of(play.say()) == "MAIL ");
    CHECK_FALSE(play.line().idle());
}

TEST_CASE("exchange: with PIPELINING the end of a message and the next envelope go together") {
    stage_play play({.pipelining = true, .messages = 2});
    CHECK(lines_of(play.say()) == "MAIL RCPT DATA ");
    play.hear("250 ok\r\n250 ok\r\n354 go\r\n");
    const std::string both = play.say();
    CHECK(both.starts_with("<message>.\r\nMAIL FROM"));
    CHECK(both.ends_with("DATA\r\n"));
    play.hear("250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
    CHECK(play.say() == "<message>.\r\n");
    play.hear("250 ok\r\n");
    CHECK(play.outcomes() == outcomes{2, 0, 0, 0, 0});
    CHECK(play.line().finished());
    CHECK(play.line().idle());
}

TEST_CASE("exchange: with CHUNKING envelope and message are one write, several in flight") {
    stage_play play({.pipelining = true, .chunking = true, .in_flight = 3, .messages = 5});
    const std::string said = play.say();
    std::size_t mails = 0;
    for (std::size_t at = said.find("MAIL"); at != std::string::npos;
         at = said.find("MAIL", at + 1)) {
        ++mails;
    }
    CHECK(mails == 3);
    CHECK(said.find("DATA") == std::string::npos);
    const std::string a_message = "250 mail\r\n250 rcpt\r\n250 end\r\n";
    const std::string next = "250 rset\r\n" + a_message;
    play.hear(a_message + "250 rset\r\n");
    CHECK(play.books().messages == 1);
    CHECK(play.say().starts_with("RSET\r\nMAIL"));
    play.hear(a_message + next);
    CHECK(play.books().messages == 3);
    play.say();
    play.hear(next + next);
    CHECK(play.outcomes() == outcomes{5, 0, 0, 0, 0});
    CHECK(play.line().idle());
}

// A server whose transaction stays open when its only recipient is refused (RFC 3030 2).
TEST_CASE("exchange: a refused message in flight does not take the next one with it") {
    struct row {
        bool lmtp;
        std::string first;
        std::string second;
        outcomes wanted;
        const char* why;
    };
    const row rows[]{
        {false, "250 m\r\n550 r\r\n550 r\r\n503 b\r\n", "250 m\r\n250 r\r\n250 r\r\n250 b\r\n",
         outcomes{1, 1, 0, 0, 0}, "SMTP: nobody is known"},
        {false, "250 m\r\n250 r\r\n250 r\r\n452 b\r\n", "250 m\r\n250 r\r\n550 r\r\n250 b\r\n",
         outcomes{1, 0, 1, 0, 0}, "SMTP: the chunk fails"},
        {false, "550 m\r\n503 r\r\n503 r\r\n503 b\r\n", "250 m\r\n250 r\r\n250 r\r\n250 b\r\n",
         outcomes{1, 1, 0, 0, 0}, "SMTP: MAIL is refused"},
        {true, "250 m\r\n550 r\r\n450 r\r\n503 b\r\n",
         "250 m\r\n250 r\r\n250 r\r\n250 b\r\n250 b\r\n", outcomes{2, 1, 1, 0, 0},
         "LMTP: one reply for a chunk without recipients"},
        {true, "250 m\r\n250 r\r\n550 r\r\n451 b\r\n",
         "250 m\r\n250 r\r\n250 r\r\n250 b\r\n550 b\r\n", outcomes{1, 2, 1, 0, 0},
         "LMTP: each recipient its own"},
    };
    for (const row& one : rows) {
        INFO(one.why);
        stage_play play({.lmtp = one.lmtp,
                         .pipelining = true,
                         .chunking = true,
                         .in_flight = 2,
                         .recipients = 2,
                         .messages = 2});
        const std::string said = play.say();
        CHECK(said.find("<message>RSET\r\nMAIL FROM") != std::string::npos);
        CHECK(play.hear(one.first + "250 rset\r\n" + one.second) == verdict::go_on);
        CHECK(play.outcomes() == one.wanted);
        CHECK(play.line().idle());
    }
}

TEST_CASE("exchange: a connection that never rests does not remember every reply") {
    stage_play play({.pipelining = true, .messages = 5000});
    play.say();
    play.hear("250 ok\r\n250 ok\r\n354 go\r\n");
    for (int i = 0; i < 2000; ++i) {
        play.say();
        play.hear("250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
    }
    CHECK(play.books().messages == 2000);
    CHECK(play.line().remembered() < 600);
}

TEST_CASE("exchange: LMTP counts each recipient by its own reply") {
    stage_play play({.lmtp = true, .pipelining = true, .recipients = 3});
    CHECK(lines_of(play.say()) == "MAIL RCPT RCPT RCPT DATA ");
    play.hear("250 ok\r\n250 ok\r\n550 5.1.1 no\r\n250 ok\r\n354 go\r\n");
    play.say();
    play.hear("250 delivered\r\n451 4.3.0 later\r\n");
    CHECK(play.outcomes() == outcomes{1, 1, 1, 0, 0});
    CHECK(play.books().recipients == 1);
    CHECK(play.books().errors.total() == 2);
    CHECK(play.line().idle());
}

TEST_CASE("exchange: SMTP counts the transaction, its refused recipients as errors") {
    stage_play play({.recipients = 2});
    play.say();
    play.hear("250 ok\r\n");
    play.say();
    play.hear("550 5.1.1 no\r\n");
    play.say();
    play.hear("250 ok\r\n");
    play.say();
    play.hear("354 go\r\n");
    play.say();
    play.hear("250 ok\r\n");
    CHECK(play.outcomes() == outcomes{1, 0, 0, 0, 0});
    CHECK(play.books().recipients == 1);
    CHECK(play.books().errors.total() == 1);
}

TEST_CASE("exchange: refusals end in one outcome each, and the session goes on after RSET") {
    struct row {
        setting how;
        std::vector<std::string> replies;
        outcomes wanted;
        std::string next;  // what it says first afterwards
        const char* why;
    };
    const setting plain{.messages = 2};
    const setting piped{.pipelining = true, .messages = 2};
    const setting chunked{.pipelining = true, .chunking = true, .messages = 2};
    const setting lmtp{.lmtp = true, .pipelining = true, .recipients = 2, .messages = 2};
    const std::vector<row> rows{
        {plain, {"550 no\r\n"}, {0, 1, 0, 0, 0}, "MAIL ", "MAIL refused: nothing to reset"},
        {plain, {"451 no\r\n"}, {0, 0, 1, 0, 0}, "MAIL ", "MAIL deferred"},
        {plain, {"250 ok\r\n", "550 no\r\n"}, {0, 1, 0, 0, 0}, "RSET ", "RCPT refused"},
        {plain, {"250 ok\r\n", "450 no\r\n"}, {0, 0, 1, 0, 0}, "RSET ", "RCPT deferred"},
        {plain, {"250 ok\r\n", "250 ok\r\n", "554 no\r\n"}, {0, 1, 0, 0, 0}, "RSET ", "DATA"},
        {plain,
         {"250 ok\r\n", "250 ok\r\n", "354 go\r\n", "552 no\r\n"},
         {0, 1, 0, 0, 0},
         "MAIL ",
         "after the data"},
        {piped,
         {"550 no\r\n503 seq\r\n503 seq\r\n"},
         {0, 1, 0, 0, 0},
         "MAIL RCPT DATA ",
         "the rest of the envelope fails too, and counts once"},
        {piped,
         {"250 ok\r\n550 no\r\n554 none\r\n"},
         {0, 1, 0, 0, 0},
         "RSET MAIL RCPT DATA ",
         "no recipient"},
        {chunked,
         {"250 ok\r\n550 no\r\n503 none\r\n"},
         {0, 1, 0, 0, 0},
         "RSET MAIL ",
         "BDAT refused"},
        {chunked, {"550 no\r\n503 no\r\n503 none\r\n"}, {0, 1, 0, 0, 0}, "MAIL ", "MAIL refused"},
        {chunked, {"250 ok\r\n250 ok\r\n552 no\r\n"}, {0, 1, 0, 0, 0}, "RSET MAIL ", "too big"},
        {lmtp,
         {"550 no\r\n503 s\r\n503 s\r\n503 s\r\n"},
         {0, 2, 0, 0, 0},
         "MAIL RCPT RCPT DATA ",
         "both recipients of a refused MAIL"},
        {lmtp,
         {"250 ok\r\n550 no\r\n450 no\r\n503 none\r\n"},
         {0, 1, 1, 0, 0},
         "RSET MAIL RCPT RCPT DATA ",
         "each its own"},
        {lmtp,
         {"250 ok\r\n250 ok\r\n250 ok\r\n451 no\r\n"},
         {0, 0, 2, 0, 0},
         "RSET MAIL RCPT RCPT DATA ",
         "DATA deferred: both"},
    };
    for (const row& one : rows) {
        INFO(one.why);
        stage_play play(one.how);
        std::string said = play.say();
        for (const std::string& reply : one.replies) {
            CHECK(play.hear(reply) == verdict::go_on);
            if (&reply != &one.replies.back()) play.say();
        }
        CHECK(play.outcomes() == one.wanted);
        said = play.say();
        CHECK(lines_of(said).starts_with(one.next));
    }
}

TEST_CASE("exchange: a go-ahead without recipients gets the end of data alone") {  // RFC 2920 3.1
    stage_play play({.pipelining = true});
    play.say();
    play.hear("250 ok\r\n450 no\r\n354 go\r\n");
    CHECK(play.say() == ".\r\n");
    play.hear("554 none\r\n");
    CHECK(play.outcomes() == outcomes{0, 0, 1, 0, 0});
    CHECK(play.books().errors.total() == 1);
    CHECK(play.line().idle());
}

TEST_CASE("exchange: a lost connection leaves doubt only behind complete data") {
    SECTION("in the envelope") {
        stage_play play({.pipelining = true});
        play.say();
        play.lose();
        CHECK(play.outcomes() == outcomes{0, 0, 0, 1, 0});
    }
    SECTION("within the data") {
        stage_play play({.pipelining = true});
        play.say();
        play.hear("250 ok\r\n250 ok\r\n354 go\r\n");
        play.say();
        play.lose_before_data_is_out();
        CHECK(play.outcomes() == outcomes{0, 0, 0, 1, 0});
        CHECK(play.books().errors.entries().at(0).stage == "data");
    }
    SECTION("behind the data, with the next envelope on its way") {
        stage_play play({.pipelining = true, .messages = 2});
        play.say();
        play.hear("250 ok\r\n250 ok\r\n354 go\r\n");
        play.say();
        play.lose();
        CHECK(play.outcomes() == outcomes{0, 0, 0, 1, 1});
        CHECK(play.books().errors.entries().at(0).stage == "end");
        CHECK(play.books().errors.total() == 2);
    }
    SECTION("between the replies for LMTP recipients") {
        stage_play play({.lmtp = true, .pipelining = true, .recipients = 3});
        play.say();
        play.hear("250 ok\r\n250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
        play.say();
        play.hear("250 one\r\n");
        play.lose();
        CHECK(play.outcomes() == outcomes{1, 0, 0, 0, 2});
    }
}

TEST_CASE("exchange: what a server must not say breaks the connection and is counted") {
    struct row {
        std::vector<std::string> replies;
        verdict wanted;
        std::string stage;
        const char* why;
    };
    const std::vector<row> rows{
        {{"354 go\r\n"}, verdict::broken, "mail", "wrong class for MAIL"},
        {{"250 ok\r\n", "354 go\r\n"}, verdict::broken, "rcpt", "wrong class for RCPT"},
        {{"250 ok\r\n", "250 ok\r\n", "250 ok\r\n"}, verdict::broken, "data", "2xx for DATA"},
        {{"250 ok\r\n250 early\r\n"}, verdict::broken, "mail", "a reply too many"},
        {{"421 bye\r\n"}, verdict::closing, "mail", "421 in place of a reply"},
        {{"250 ok\r\n", "421 bye\r\n"}, verdict::closing, "rcpt", "421 for a recipient"},
        {{"250 ok\r\n", "250 ok\r\n", "421 bye\r\n"}, verdict::closing, "data", "421 to DATA"},
        {{"250 ok\r\n421 bye\r\n"}, verdict::closing, "mail", "421 out of the blue"},
    };
    for (const row& one : rows) {
        INFO(one.why);
        stage_play play({});
        verdict last = verdict::go_on;
        for (const std::string& reply : one.replies) {
            play.say();
            last = play.hear(reply);
        }
        CHECK(last == one.wanted);
        REQUIRE(play.books().errors.total() == 1);
        CHECK(play.books().errors.entries().at(0).stage == one.stage);
        play.lose();
        play.outcomes();
    }
}
