// SPDX-License-Identifier: GPL-3.0-or-later
// When readers were told of a message, and who of them missed it.
#include "ledger/told.hpp"

#include <limits>

#include "book.hpp"

using namespace ledger_test;

namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t accepted = 100;  // in seconds, as all times of the tables

// Of session 4 of run 2, at server 8 unless another is given.
wait_entry wait(waiting how, std::int64_t opened_s, std::int64_t began_s, std::int64_t ended_s,
                std::int64_t server = 8) {
    return {.number = 77,
            .observer = 2,
            .session = 4,
            .server = server,
            .opened_us = opened_s * second,
            .began_us = began_s * second,
            .ended_us = ended_s * second,
            .how = how};
}

wait_entry in_idle(std::int64_t opened_s, std::int64_t began_s, std::int64_t ended_s) {
    return wait(waiting::in_idle, opened_s, began_s, ended_s);
}

struct copy {
    std::int64_t read_s = 0;
    std::int64_t announced_s = 0;
    notice told = notice::idle;
    std::int64_t watcher = 5;
    std::int64_t arrived_s = 0;
    std::int64_t server = 8;
};

std::vector<seen_entry> seen(const std::vector<copy>& all) {
    std::vector<seen_entry> result;
    for (const copy& one : all) {
        seen_entry entry;
        entry.observer = 2;
        entry.mailbox = 7;
        entry.server = one.server;
        entry.time_us = one.read_s * second;
        entry.announced_us = one.announced_s * second;
        entry.told = one.told;
        entry.watcher = one.watcher;
        entry.arrived_us = one.arrived_s * second;
        entry.through = way::imap;
        result.push_back(entry);
    }
    return result;
}

std::vector<removed_entry> removed(const std::vector<std::int64_t>& times_s) {
    std::vector<removed_entry> result;
    for (const std::int64_t each : times_s)
        result.push_back({.mailbox = 7,
                          .server = 8,
                          .uid = each,
                          .through = way::imap,
                          .time_us = each * second});
    return result;
}

told_judge judged(const std::vector<wait_entry>& all, const std::vector<seen_entry>& here,
                  const std::vector<removed_entry>& gone = {}) {
    waits known;
    for (const wait_entry& each : all)
        known.add(7, each);
    known.finish();
    told_judge result(std::move(known));
    result.add({.accepted_us = accepted * second, .mailbox = 7, .here = here, .removed = gone});
    return result;
}

}  // namespace

TEST_CASE("told: a session in IDLE has missed what was there and not told of") {
    const struct {
        const char* why;
        wait_entry idle;
        std::vector<copy> seen;
        std::vector<std::int64_t> removed;
        bool missed;
    } rows[]{
        {"another was told", in_idle(0, 10, 200), {{101, 100}}, {}, true},
        {"another found it", in_idle(0, 10, 200), {{101}}, {}, true},
        {"found later, there since",
         in_idle(0, 10, 200),
         {{.read_s = 300, .arrived_s = 100}},
         {},
         true},
        {"found later, since when nobody knows", in_idle(0, 10, 200), {{300}}, {}, false},
        {"nobody has found it", in_idle(0, 10, 200), {}, {}, false},
        {"it was told", in_idle(0, 10, 200), {{101, 100, notice::idle, 4}}, {}, false},
        {"it was told late",
         in_idle(0, 10, 200),
         {{101, 100}, {199, 198, notice::idle, 4}},
         {},
         false},
        {"it was told when IDLE had ended",
         in_idle(0, 10, 200),
         {{201, 201, notice::answer, 4, 100}},
         {},
         true},
        {"the same, and it came too late",
         in_idle(0, 10, 200),
         {{201, 201, notice::answer, 4, 195}},
         {},
         false},
        {"it read what it was not told of",
         in_idle(0, 10, 200),
         {{101, 0, notice::idle, 4}},
         {},
         true},
        {"four seconds are too few", in_idle(0, 10, 104), {{101, 100}}, {}, false},
        {"five are enough", in_idle(0, 10, 105), {{101, 100}}, {}, true},
        {"a second of INTERNALDATE has an end",
         in_idle(0, 10, 106),
         {{.read_s = 300, .arrived_s = 100}},
         {},
         true},
        {"and that counts", in_idle(0, 10, 105), {{.read_s = 300, .arrived_s = 100}}, {}, false},
        {"IDLE had not begun", in_idle(0, 101, 200), {{101, 100}}, {}, false},
        {"it lay there perhaps", in_idle(100, 100, 200), {{101, 100}}, {}, false},
        {"it came a second later", in_idle(99, 100, 200), {{101, 100}}, {}, true},
        {"the clock of the server is behind",
         in_idle(0, 10, 105),
         {{.read_s = 300, .arrived_s = 50}},
         {},
         true},
        {"a relay had it first",
         in_idle(0, 10, 105),
         {{.read_s = 300, .arrived_s = 150}},
         {},
         false},
        {"somebody has removed it", in_idle(0, 10, 200), {{101, 100}}, {150}, false},
        {"somebody has removed it later", in_idle(0, 10, 200), {{101, 100}}, {201}, true},
        {"another server has it",
         in_idle(0, 10, 200),
         {{101, 100, notice::idle, 5, 100, 9}},
         {},
         false},
        {"that is no stretch in IDLE", wait(waiting::idling, 0, 0, 200), {{101, 100}}, {}, false},
        {"a stretch by NOTIFY", wait(waiting::by_notify, 0, 10, 200), {{101, 100}}, {}, true},
        {"it was told in that",
         wait(waiting::by_notify, 0, 10, 200),
         {{101, 100}, {151, 150, notice::notify, 4}},
         {},
         false},
        {"that is none", wait(waiting::notified, 0, 0, 200), {{101, 100}}, {}, false},
    };
    for (const auto& row : rows) {
        INFO(row.why);
        const auto here = seen(row.seen);
        const told_judge got = judged({row.idle}, here, removed(row.removed));
        REQUIRE(got.missed().size() == (row.missed ? 1 : 0));
        if (row.missed) CHECK(got.missed()[0] == 77);
    }
    auto sink = seen({{101}});
    sink[0].through = way::smtp;
    CHECK(judged({in_idle(0, 10, 200)}, sink).missed().empty());
    const auto one = seen({{101, 100}});
    CHECK(judged({in_idle(0, 10, 200), in_idle(1, 10, 200)}, one).missed().size() == 2);
}

TEST_CASE("told: a message counts where somebody waited for it") {
    const struct {
        const char* why;
        std::vector<wait_entry> waits;
        std::vector<copy> seen;
        std::vector<std::int64_t> removed;
        bool counts;
        std::int64_t after_s;  // -1: never
        std::string parts;     // "i" idling, "p" polling, "v" visiting, with the time
    } rows[]{
        {"nobody waited", {}, {{101, 100}}, {}, false, 0, ""},
        {"told in IDLE", {wait(waiting::idling, 0, 0, 200)}, {{103, 102}}, {}, true, 2, "i2"},
        {"the earliest counts",
         {wait(waiting::idling, 0, 0, 200)},
         {{104, 103}, {103, 102, notice::answer}, {105, 104, notice::early}},
         {},
         true,
         2,
         "i2"},
        {"before the reply", {wait(waiting::idling, 0, 0, 200)}, {{99, 98}}, {}, true, -2, "i-2"},
        {"never", {wait(waiting::idling, 0, 0, 200)}, {{300}}, {}, true, -1, "i-"},
        {"lost", {wait(waiting::idling, 0, 0, 200)}, {}, {}, true, -1, "i-"},
        {"too near the end", {wait(waiting::idling, 0, 0, 104)}, {{103, 102}}, {}, false, 2, ""},
        {"too near the beginning",
         {wait(waiting::idling, 100, 100, 200)},
         {{103, 102}},
         {},
         false,
         2,
         ""},
        {"a stretch in IDLE alone", {in_idle(0, 0, 200)}, {{103, 102}}, {}, false, 2, ""},
        {"three ways, one never",
         {wait(waiting::idling, 0, 0, 200), wait(waiting::polling, 0, 0, 200),
          wait(waiting::visiting, 0, 0, 200)},
         {{103, 102, notice::poll}, {104, 103, notice::visit}},
         {},
         true,
         2,
         "i-p2v3"},
        {"who is told late finds nothing",
         {wait(waiting::idling, 0, 0, 200), wait(waiting::polling, 0, 0, 200)},
         {{103, 102, notice::poll}},
         {104},
         true,
         2,
         "p2"},
        {"found and removed by who was not told",
         {wait(waiting::idling, 0, 0, 200)},
         {{103}},
         {104},
         false,
         -1,
         ""},
        {"two servers",
         {wait(waiting::idling, 0, 0, 200), wait(waiting::idling, 0, 0, 200, 9)},
         {{103, 102}},
         {},
         true,
         2,
         "i2i-"},
    };
    for (const auto& row : rows) {
        INFO(row.why);
        const auto here = seen(row.seen);
        const told_judge got = judged(row.waits, here, removed(row.removed));
        CHECK(got.counts() == row.counts);
        if (row.counts)
            CHECK(got.after_us().value_or(-second) ==
                  (row.after_s == -1 ? -second : row.after_s * second));
        std::string parts;
        for (const told_part& each : got.parts()) {
            parts += "ipv"[static_cast<int>(each.how)];
            parts += each.after_us ? std::to_string(*each.after_us / second) : "-";
        }
        CHECK(parts == row.parts);
    }
}

TEST_CASE("told: of many stretches in IDLE those are found in which a message was there") {
    waits known;
    for (std::int64_t mailbox : {6, 7, 8})
        for (std::int64_t each = 0; each < 1000; ++each)
            known.add(mailbox, wait(waiting::in_idle, 0, 10 * ((each * 7) % 1000),
                                    10 * ((each * 7) % 1000) + (each == 0 ? 9'000 : 8)));
    known.finish();
    const auto count = [&](std::int64_t mailbox, std::int64_t since_s, std::int64_t until_s) {
        unsigned found = 0;
        known.for_stretches(mailbox, since_s * second, until_s * second,
                            [&](const wait_entry& one) {
                                CHECK(one.began_us <= since_s * second);
                                CHECK(one.ended_us >= until_s * second);
                                ++found;
                            });
        return found;
    };
    CHECK(count(7, 5'001, 5'006) == 2);
    CHECK(count(7, 5'001, 5'009) == 1);
    CHECK(count(7, 9'001, 9'006) == 1);
    CHECK(count(7, 3, 8) == 1);
    CHECK(count(7, -1, 8) == 0);
    CHECK(count(9, 5'001, 5'006) == 0);
}

TEST_CASE("told: a file with any number of servers, and of stays, is judged in time") {
    std::vector<wait_entry> all;
    for (std::int64_t server = 0; server < 20'000; ++server)
        all.push_back(wait(waiting::polling, 0, 0, 1000, server));
    for (std::int64_t each = 0; each < 20'000; ++each)
        all.push_back(wait(waiting::visiting, each, each, each == 7 ? 1000 : each, -1));
    for (std::int64_t each = 0; each < 20'000; ++each)
        all.push_back(wait(waiting::in_idle, 0, 0, each == 7 ? 1000 : 1));
    waits known;
    for (const wait_entry& each : all)
        known.add(7, each);
    known.finish();
    told_judge judge(std::move(known));
    for (int message = 0; message < 200; ++message)
        judge.add({.accepted_us = accepted * second, .mailbox = 7});
    CHECK(judge.counts());
    REQUIRE(judge.parts().size() == waits::most_groups);
    CHECK(judge.parts().front().server == -1);
    CHECK(judge.parts().back().server == waits::most_groups - 2);
}

TEST_CASE("told: any times that a ledger may have") {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t time : {least, most}) {
        waits known;
        for (const waiting how : {waiting::idling, waiting::in_idle})
            known.add(7, {.opened_us = least, .began_us = least, .ended_us = most, .how = how});
        known.finish();
        auto here = seen({{1, 1}});
        here[0].time_us = here[0].announced_us = here[0].arrived_us = time;
        told_judge got(std::move(known));
        got.add({.accepted_us = -time, .mailbox = 7, .here = here, .removed = {}});
        got.add({.accepted_us = time, .mailbox = 7, .here = here, .removed = {}});
        CHECK(got.missed().size() <= 1);
    }
}

TEST_CASE("told: from the file, and what a report lists") {
    const folder here;
    {
        run_entry reader = run_of(2, "rabid");
        reader.is = role::reader;
        reader.notes_visits = true;
        auto sender = open(here / "b", run_of(1));
        row_buffer sent(*sender);
        for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
            sent_row row;
            row.sequence = sequence;
            row.time_us = 100 * second;
            row.recipient = sent.address("a");
            row.sender = sent.address("from");
            sent.add(row);
        }
        sent.flush();
        REQUIRE(sender->close().has_value());
        auto watcher = open(here / "b", reader);
        row_buffer rows(*watcher);
        const address_id a = rows.address("a"), server = rows.address("store");
        for (std::uint64_t sequence = 0; sequence < 2; ++sequence) {
            seen_row row;
            row.run = 1;
            row.sequence = row.uid = sequence;
            row.time_us = 102 * second;
            row.sent_us = 99 * second;
            row.mailbox = a;
            row.server = server;
            row.through = way::imap;
            if (sequence == 0) {
                row.announced_us = 101 * second;
                row.told = notice::idle;
                row.watcher = 4;
            }
            rows.add(std::move(row));
        }
        for (const waiting how : {waiting::idling, waiting::in_idle})
            rows.add(wait_row{.session = 4,
                              .opened_us = 10 * second,
                              .began_us = 11 * second,
                              .ended_us = 200 * second,
                              .mailbox = a,
                              .server = server,
                              .how = how});
        for (const std::uint64_t at : {30, 20, 40})
            rows.add(wait_row{.opened_us = at * second,
                              .began_us = at * second,
                              .ended_us = at * second,
                              .mailbox = a,
                              .server = server,
                              .through = way::pop3,
                              .how = waiting::visiting});
        rows.add(visit_row{.began_us = 101 * second,
                           .ended_us = 201 * second,
                           .mailbox = a,
                           .server = server,
                           .through = way::imap,
                           .what = extent::complete});
        rows.flush();
        REQUIRE(watcher->close().has_value());
    }
    CHECK(ask_sql(here / "b",
                  "SELECT count(*) || opened_us || '-' || ended_us FROM waits WHERE "
                  "waiting = 2") == "120000000-40000000");
    CHECK(ask_sql(here / "b",
                  "SELECT announced || notice || watcher FROM seen_messages WHERE "
                  "sequence = 0") == "1970-01-01T00:01:41.000000Zidle4");
    CHECK(ask_sql(here / "b",
                  "SELECT observer || session || mailbox || waiting || way || server || "
                  "ended FROM mailbox_waits WHERE waiting = 'in_idle'") ==
          "00000000000000024ain_idleimapstore1970-01-01T00:03:20.000000Z");
    { book(here / "empty").report(); }
    for (const auto& files : {std::vector{here / "b"}, std::vector{here / "empty", here / "b"}}) {
        auto opened = reader::open(files);
        REQUIRE(opened.has_value());
        questions wanted;
        std::vector<std::optional<std::int64_t>> after;
        std::string where;
        wanted.on_told = [&](const told_of& one) {
            after.push_back(one.after_us);
            where += std::to_string(one.parts.size());
        };
        wanted.list = discrepancy::missed;
        std::vector<discrepancy_row> listed;
        wanted.on_row = [&](const discrepancy_row& row) { listed.push_back(row); };
        auto got = opened->reconcile(wanted);
        INFO((got ? std::string() : got.error().message));
        REQUIRE(got.has_value());
        CHECK(got->totals.found == 2);
        CHECK(got->totals.lost == 1);
        CHECK(where == "111");
        CHECK(std::count(after.begin(), after.end(), std::nullopt) == 2);
        CHECK(std::count(after.begin(), after.end(), std::optional(second)) == 1);
        CHECK(got->totals.missed == 1);
        REQUIRE(listed.size() == 1);
        CHECK(listed[0].sequence == "1");
        CHECK(listed[0].mailbox == "a");
        CHECK(listed[0].condition == "not_announced");
        CHECK(listed[0].detail.find("session 4 of 0000000000000002 was in IDLE at store from "
                                    "1970-01-01T00:00:11.000000Z on") != std::string::npos);
        questions page;
        page.examples = 5;
        got = opened->reconcile(page);
        REQUIRE(got.has_value());
        const auto named =
            std::find_if(got->where.servers.begin(), got->where.servers.end(),
                         [](const counted_place& each) { return each.name == "store"; });
        REQUIRE(named != got->where.servers.end());
        CHECK(named->found[static_cast<std::size_t>(discrepancy::missed)] == 1);
        CHECK(*opened->addresses({999}) == std::vector<std::string>{""});
    }
}
