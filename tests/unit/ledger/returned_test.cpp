// SPDX-License-Identifier: GPL-3.0-or-later
// What came back to its sender is not lost: notifications of failure in a ledger.
#include "ledger/returned.hpp"

#include "book.hpp"
#include "ledger/examination.hpp"
#include "mail/delivery_status.hpp"

using namespace ledger_test;
namespace mail = postal::mail;

namespace {

std::vector<bool> given_up_in(const std::string& path) {
    std::vector<bool> result;
    auto opened = reader::open(path);
    REQUIRE(opened.has_value());
    questions wanted;
    wanted.on_judged = [&](const judgement& one, std::size_t) {
        if (one.what != finding::bounced) return;
        REQUIRE(one.back != nullptr);
        result.push_back(is_given_up(*one.back));
    };
    REQUIRE(opened->reconcile(wanted).has_value());
    return result;
}

}  // namespace

TEST_CASE("ledger report: a message that came back is bounced, and not lost") {
    struct notified {
        std::uint64_t sequence;
        const char* to;
        action what;
        const char* status;
    };
    const struct {
        const char* why;
        std::vector<notified> notes;
        outcome of = outcome::accepted;
        bool found = false;
        std::uint64_t bounced = 0, lost = 0;
        std::vector<bool> given_up{};
    } rows[]{
        {"nothing came back", {}, outcome::accepted, false, 0, 1},
        {"refused for good",
         {{0, "a", action::failed, "5.7.1"}},
         outcome::accepted,
         false,
         1,
         0,
         {false}},
        {"nobody took it in time",
         {{0, "a", action::failed, "4.4.1"}},
         outcome::accepted,
         false,
         1,
         0,
         {true}},
        {"the same, as others say it",
         {{0, "a", action::failed, "5.4.7"}},
         outcome::accepted,
         false,
         1,
         0,
         {true}},
        {"without a status",
         {{0, "a", action::failed, ""}},
         outcome::accepted,
         false,
         1,
         0,
         {false}},
        {"it is late, and not given up",
         {{0, "a", action::delayed, "4.4.1"}},
         outcome::accepted,
         false,
         0,
         1},
        {"late, then given up",
         {{0, "a", action::delayed, "4.4.1"}, {0, "a", action::failed, "4.4.1"}},
         outcome::accepted,
         false,
         1,
         0,
         {true}},
        {"another recipient's",
         {{0, "b", action::failed, "5.7.1"}},
         outcome::accepted,
         false,
         0,
         1},
        {"of another message", {{1, "a", action::failed, "5.7.1"}}, outcome::accepted, false, 0, 1},
        {"it arrived all the same",
         {{0, "a", action::failed, "5.7.1"}},
         outcome::accepted,
         true,
         0,
         0},
        {"it was never accepted",
         {{0, "a", action::failed, "5.7.1"}},
         outcome::rejected,
         false,
         0,
         0},
    };
    for (const auto& row : rows) {
        INFO(row.why);
        const folder here;
        book all(here / "b");
        all.sent(0, "a", row.of);
        for (const notified& note : row.notes)
            all.returned(note.sequence, note.to, note.what, note.status);
        if (row.found) all.seen(0, "a");
        all.seen(9, "z").what = condition::foreign;  // somebody looked
        const told got = all.report(discrepancy::bounced);
        CHECK(got.totals.bounced == row.bounced);
        CHECK(got.totals.lost == row.lost);
        CHECK(got.totals.found == (row.found ? 1U : 0U));
        CHECK(got.totals.broken_promise() == (row.lost > 0));
        CHECK(got.rows.size() == row.bounced);
        CHECK(given_up_in(here / "b") == row.given_up);
    }
}

TEST_CASE("ledger report: the list of what bounced says where, when and why it came back") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a").sent(1, "b");
    all.returned(0, "A", action::failed, "5.7.1", 70'000);
    all.returned(0, "a", action::failed, "5.7.2", 60'000);
    all.seen(1, "b");
    const told got = all.report(discrepancy::bounced);
    REQUIRE(got.rows.size() == 1);
    const discrepancy_row& row = got.rows.front();
    CHECK(row.recipient == "a");
    CHECK(row.sequence == "0");
    CHECK(row.mailbox == "from");
    CHECK(row.condition == "failed");
    CHECK(row.detail == "5.7.2 550 no");  // the first
    CHECK(row.seen == "1970-01-01T00:00:00.060000Z");
    CHECK(ask_sql(here / "b",
                  "SELECT action || status || recipient FROM returned_messages "
                  "ORDER BY number") == "failed5.7.1a failed5.7.2a");
}

TEST_CASE("ledger report: what came back stands in another file, or in none of an old schema") {
    const folder here;
    book(here / "0").sent(0, "a").sent(1, "b").report();
    {
        run_entry sink = run_of(2, "bhm");
        sink.is = role::sink;
        auto book = open(here / "1", sink);
        row_buffer rows(*book);
        mail::delivery_report report;
        report.of.run = 1;
        report.recipients = {{"A", mail::delivery_action::failed, "5.1.1", "550 no"},
                             {"x", mail::delivery_action::delayed, "", ""}};
        returned_row seen;
        seen.time_us = 5000;
        seen.mailbox = rows.address("from");
        for (returned_row& row : rows_of(report, seen, rows))
            rows.add(std::move(row));
    }
    for (const auto& paths : {std::vector{here / "0", here / "1"}, {here / "1", here / "0"}}) {
        auto both = reader::open(paths);
        REQUIRE(both.has_value());
        const auto said = both->reconcile({});
        REQUIRE(said.has_value());
        CHECK(said->totals.bounced == 1);
        CHECK(said->totals.lost == 1);
    }
}

TEST_CASE("examination: a notification is fed to its end, other foreign mail to its header's") {
    const std::string original = "From: <a@x>\r\nX-Postal-Id: " + mail::to_text([] {
                                     mail::identity id;
                                     id.run = 7;
                                     return id;
                                 }()) +
                                 "\r\n\r\n";
    const std::vector<std::string> recipients{"b@example.com"};
    const std::string text = mail::make_delivery_status({.host = "mx.example",
                                                         .reverse_path = "a@example.org",
                                                         .recipients = recipients,
                                                         .status = "5.2.1",
                                                         .diagnostic = "550 5.2.1 no",
                                                         .original = original});
    evidence_memory room;
    examination one(room);
    for (const std::size_t step : {text.size(), std::size_t{1}, std::size_t{700}}) {
        one.reset();
        for (std::size_t at = 0; at < text.size() && !one.skipping(); at += step)
            one.feed(std::string_view(text).substr(at, step));
        CHECK(one.finish().what == mail::integrity::foreign);
        const auto report = one.returned();
        REQUIRE(report.has_value());
        CHECK(report->of.run == 7);
        CHECK(report->recipients.size() == 1);
    }
    one.reset();
    one.feed("Subject: x\r\n\r\nbody\r\n");
    CHECK(one.skipping());
    CHECK_FALSE(one.returned().has_value());
    one.reset();
    one.feed(std::string_view(text).substr(0, 900));
    CHECK_FALSE(one.skipping());
    room.left = 10;  // others' messages fill the memory
    one.feed(std::string_view(text).substr(900));
    CHECK_FALSE(one.returned().has_value());
}
