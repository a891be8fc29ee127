// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/judge.hpp"

#include "../ledger/support.hpp"

#include <limits>
#include <optional>

using namespace ledger_test;
using postal::audit::judge;
using postal::audit::judged;

namespace {

// One ledger: of a sender (run 1) or of somebody who looks (run 2).
class one_book {
  public:
    one_book(const std::string& path, role is)
        : writer_([&] {
              run_entry run = run_of(is == role::sender ? 1 : 2);
              run.is = is;
              run.notes_visits = is == role::reader;
              return ledger_test::open(path, run);
          }()),
          rows_(std::make_unique<row_buffer>(*writer_)) {}

    one_book& sent(std::uint64_t sequence, const std::string& to,
                   outcome what = outcome::accepted) {
        sent_row row;
        row.sequence = sequence;
        row.recipient = row.sender = rows_->address(to);
        row.what = what;
        row.time_us = 1000 + sequence;
        rows_->add(row);
        return *this;
    }
    one_book& seen(std::uint64_t sequence, const std::string& in,
                   condition what = condition::verified) {
        seen_row row;
        row.run = 1;
        row.sequence = sequence;
        row.mailbox = rows_->address(in);
        row.sent_us = 100;
        row.time_us = ++clock_;
        row.through = way::imap;
        row.what = what;
        rows_->add(row);
        return *this;
    }
    // Of a reader that notes where it looks.
    one_book& visit(const std::string& mailbox, extent what, const std::string& why = "") {
        visit_row row;
        row.mailbox = rows_->address(mailbox);
        row.server = rows_->address("one");
        row.through = way::imap;
        row.what = what;
        row.reason = why;
        row.began_us = row.ended_us = ++clock_;
        rows_->add(row);
        return *this;
    }
    void close() {
        rows_.reset();
        REQUIRE(writer_->close().has_value());
    }

  private:
    std::unique_ptr<writer> writer_;
    std::unique_ptr<row_buffer> rows_;
    std::uint64_t clock_ = 10'000;
};

judged judge_fine(const folder& here, std::int64_t until) {
    const auto result = judge(here / "sent", here / "seen", until);
    INFO((result ? std::string() : result.error().message));
    REQUIRE(result.has_value());
    return *result;
}

std::string why_not(const folder& here) {
    const auto result = judge(here / "sent", here / "seen", 9999);
    REQUIRE_FALSE(result.has_value());
    return result.error().message;
}

}  // namespace

TEST_CASE("judge: what was acknowledged before the cut is required, and nothing else") {
    const folder here;
    one_book sent(here / "sent", role::sender);
    sent.sent(0, "a@x").sent(1, "a@x").sent(2, "a@x").sent(3, "a@x").sent(4, "a@x");
    sent.sent(5, "a@x", outcome::in_doubt).sent(6, "a@x", outcome::rejected).sent(7, "a@x");
    sent.sent(8, "a@x").sent(9, "a@x", outcome::in_doubt);
    sent.close();
    one_book seen(here / "seen", role::reader);
    seen.visit("a@x", extent::complete).seen(0, "A@X").seen(1, "a@x", condition::truncated);
    seen.seen(2, "a@x", condition::octet_changed).seen(3, "a@x").seen(3, "a@x");
    seen.seen(4, "b@x").seen(5, "a@x").seen(8, "a@x");
    seen.close();
    const judged at_7 = judge_fine(here, 1007);  // 7 was acknowledged at 1007
    CHECK(at_7.acknowledged == 6);
    CHECK(at_7.found == 4);
    CHECK(at_7.lost == 1);
    CHECK(at_7.misplaced == 1);
    CHECK(at_7.duplicated == 1);
    CHECK(at_7.truncated == 1);
    CHECK(at_7.changed == 1);
    CHECK(at_7.oldest_lost_us == 1007);
    REQUIRE(at_7.first_lost.size() == 1);
    CHECK(at_7.first_lost.front().sequence == "7");
    CHECK(at_7.first_lost.front().recipient == "a@x");
    CHECK(at_7.first_lost.front().acknowledged == "1970-01-01T00:00:00.001007Z");
    const judged at_6 = judge_fine(here, 1006);
    CHECK(at_6.acknowledged == 5);
    CHECK(at_6.lost == 0);
    CHECK_FALSE(at_6.oldest_lost_us.has_value());
    CHECK(at_6.first_lost.empty());
    CHECK(judge_fine(here, std::numeric_limits<std::int64_t>::min()).acknowledged == 0);
    CHECK(judge_fine(here, std::numeric_limits<std::int64_t>::max()).acknowledged == 7);
}

TEST_CASE("judge: five of those lost are told, the oldest time of all") {
    const folder here;
    one_book sent(here / "sent", role::sender);
    for (std::uint64_t n = 20; n-- > 0;)
        sent.sent(n, "a@x");
    sent.close();
    one_book(here / "seen", role::reader).visit("a@x", extent::complete).close();
    const judged result = judge_fine(here, 1009);
    CHECK(result.acknowledged == 10);
    CHECK(result.lost == 10);
    CHECK(result.oldest_lost_us == 1000);
    REQUIRE(result.first_lost.size() == judged::most_told);
    CHECK(result.first_lost.front().sequence == "9");
}

// Dovecot refuses a mailbox whose index a cut has broken: "unopened", and its mail counts as lost.
TEST_CASE("judge: what lies in a mailbox that nobody could read is lost") {
    const struct {
        const char* why;
        extent how;
        const char* said;
        std::uint64_t lost;
    } rows[]{{"it was read, and one is missing", extent::complete, "", 1},
             {"refused to the last", extent::nothing, "NO [SERVERBUG] the run ended badly", 2},
             {"read in part", extent::partly, "1 of 2 messages were read: timeout", 2}};
    for (const auto& row : rows) {
        INFO(row.why);
        const folder here;
        one_book sent(here / "sent", role::sender);
        sent.sent(0, "a@x").sent(1, "b@x").sent(2, "b@x");
        sent.close();
        one_book seen(here / "seen", role::reader);
        seen.visit("a@x", extent::complete).seen(0, "a@x");
        seen.visit("b@x", row.how, row.said);
        if (row.lost == 1) seen.seen(2, "b@x");
        seen.close();
        const judged result = judge_fine(here, 9999);
        CHECK(result.acknowledged == 3);
        CHECK(result.found == 3 - row.lost);
        CHECK(result.lost == row.lost);
        CHECK(result.oldest_lost_us == 1001);
        REQUIRE(result.first_lost.size() == row.lost);
        CHECK(result.first_lost.front().sequence == "1");
        CHECK(result.first_lost.front().recipient == "b@x");
    }
}

// It says nothing of the server.
TEST_CASE("judge: mail in a mailbox that the reader left alone allows no judgement") {
    const struct {
        const char* why;
        std::optional<extent> how;
    } rows[]{{"nobody came", std::nullopt},
             {"1 of 3 messages were read: -c, -d or the profile wants no more", extent::partly},
             {"0 of 2 messages were read: the run ended", extent::partly},
             {"the run ended before it was opened", extent::nothing},
             {"only what came in was read, with --watch", extent::incoming}};
    for (const auto& row : rows) {
        INFO(row.why);
        const folder here;
        one_book sent(here / "sent", role::sender);
        sent.sent(0, "a@x").sent(1, "b@x").sent(2, "b@x");
        sent.close();
        one_book seen(here / "seen", role::reader);
        seen.visit("a@x", extent::complete).seen(0, "a@x");
        if (row.how) seen.visit("b@x", *row.how, row.why);
        seen.close();
        CHECK(
            why_not(here).starts_with("nobody looked for 2 of 3 acknowledged messages: `read` "
                                      "did not visit the mailbox of b@x, "));
        CHECK(judge_fine(here, 1000).found == 1);  // when nothing of b's had been acknowledged
    }
}

TEST_CASE("judge: a reading that did not end is a failure where something is missing") {
    const folder here;
    one_book sent(here / "sent", role::sender);
    sent.sent(0, "a@x").sent(1, "a@x");
    sent.close();
    one_book seen(here / "seen", role::reader);
    seen.seen(0, "a@x");
    seen.close();
    run_sql(here / "seen", "UPDATE runs SET ended_us = NULL WHERE role = 'reader'");
    CHECK(why_not(here).find("of 1 messages nobody knows") != std::string::npos);
    CHECK(judge_fine(here, 1000).found == 1);
}

TEST_CASE("judge: ledgers that allow no judgement are refused") {
    const folder here;
    CHECK(why_not(here).find("/sent: No such file") != std::string::npos);
    one_book(here / "sent", role::reader).close();
    CHECK(why_not(here).find("no run in it has sent mail") != std::string::npos);
    one_book sent(here / "sent", role::sender);
    sent.sent(0, "a@x");
    sent.close();
    CHECK(why_not(here).find("/seen: No such file") != std::string::npos);
    { std::ofstream(here / "seen") << "no database, and longer than a header of one has to be"; }
    CHECK(why_not(here).find("/seen: ") != std::string::npos);
    std::filesystem::remove(here / "seen");
    one_book(here / "seen", role::sender).close();
    CHECK(why_not(here).find("no run in it has looked") != std::string::npos);
    one_book again(here / "sent", role::reader);
    again.seen(0, "a@x");
    again.close();
    CHECK(why_not(here).find("messages that were seen") != std::string::npos);
    run_sql(here / "sent", "UPDATE runs SET ended_us = NULL WHERE role = 'sender'");
    CHECK(why_not(here).find("has not noted its end") != std::string::npos);
}
