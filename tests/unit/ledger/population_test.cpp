// SPDX-License-Identifier: GPL-3.0-or-later
// Messages of mailboxes that rabid --populate has filled, and mended: what counts as doubled, lost
// and found.
#include "support.hpp"

using namespace ledger_test;

namespace {

constexpr std::int64_t in_mailbox = 7;
constexpr std::int64_t last_read_us = 1000;  // when the latest complete visit began

struct noted_row {
    outcome what = outcome::accepted;
    std::int64_t time_us = 0;
};
struct noted_copy {
    std::int64_t uid = 0;
    std::int64_t time_us = 0;
};

summary judge(const std::vector<noted_row>& sent, const std::vector<noted_copy>& seen,
              bool population = true, const std::vector<noted_copy>& removed = {}) {
    observation how;
    how.readers.add({.mailbox = in_mailbox,
                     .server = 1,
                     .through = way::imap,
                     .what = extent::complete,
                     .began_us = last_read_us,
                     .ended_us = last_read_us + 1});
    how.readers.finish();
    reconciler all({}, std::move(how));
    message_entry one;
    one.run = 1;
    one.population = population;
    for (const noted_row& row : sent)
        one.sent.push_back({.number = static_cast<std::int64_t>(one.sent.size()) + 1,
                            .recipient = in_mailbox,
                            .what = row.what,
                            .time_us = row.time_us});
    for (const noted_copy& row : seen)
        one.seen.push_back({.number = static_cast<std::int64_t>(one.seen.size()) + 1,
                            .observer = 2,
                            .mailbox = in_mailbox,
                            .server = 1,
                            .uid_validity = 9,
                            .uid = row.uid,
                            .place = row.uid,
                            .time_us = row.time_us,
                            .through = way::imap});
    for (const noted_copy& row : removed)
        one.removed.push_back({.mailbox = in_mailbox,
                               .server = 1,
                               .uid_validity = 9,
                               .uid = row.uid,
                               .through = way::imap,
                               .time_us = row.time_us,
                               .until_us = row.time_us + 50});
    all.add(one);
    return all.result();
}

}  // namespace

TEST_CASE("ledger report: a message of a population that was appended again is one") {
    struct row {
        const char* why;
        std::vector<noted_row> sent;
        std::vector<noted_copy> seen;
        std::uint64_t accepted = 1;
        std::uint64_t found = 1;
        std::uint64_t duplicated = 0;
        std::uint64_t lost = 0;
        std::uint64_t unacknowledged = 0;
    };
    const outcome yes = outcome::accepted;
    const outcome doubt = outcome::in_doubt;
    const row rows[]{
        {"appended and read", {{yes, 10}}, {{1, 1001}}},
        {"read twice", {{yes, 10}}, {{1, 500}, {1, 1001}}},
        {"gone, and appended again", {{yes, 10}, {yes, 600}}, {{1, 500}, {8, 1001}}},
        {"in doubt, and found later", {{doubt, 10}, {yes, 600}}, {{1, 1001}}},
        {"in doubt, and appended again", {{doubt, 10}, {yes, 600}}, {{2, 1001}}},
        {"refused, and appended later", {{outcome::rejected, 10}, {yes, 600}}, {{2, 1001}}},
        {"twice at the same time", {{yes, 10}, {yes, 600}}, {{1, 1001}, {8, 1002}}, 1, 1, 1},
        {"the same with one row", {{yes, 10}}, {{1, 1001}, {8, 1002}}, 1, 1, 1},
        {"appended twice, and nowhere", {{yes, 10}, {yes, 600}}, {}, 1, 0, 0, 1},
        {"in doubt alone, and found", {{doubt, 10}}, {{1, 1001}}, 0, 0, 0, 0, 1},
    };
    for (const row& one : rows) {
        INFO(one.why);
        const summary found = judge(one.sent, one.seen);
        CHECK(found.acknowledged() == one.accepted);
        CHECK(found.found == one.found);
        CHECK(found.duplicated == one.duplicated);
        CHECK(found.lost == one.lost);
        CHECK(found.all_unacknowledged() == one.unacknowledged);
        CHECK(found.out_of_order == 0);
    }
}

TEST_CASE("ledger report: mail that is no population's is doubled also when one copy is gone") {
    const summary found = judge({{outcome::accepted, 10}}, {{1, 500}, {8, 1001}}, false);
    CHECK(found.duplicated == 1);
}

TEST_CASE(
    "ledger report: of a population, the removal of an earlier copy is not that of the last") {
    const std::vector<noted_row> sent{{outcome::accepted, 10}, {outcome::accepted, 600}};
    const std::vector<noted_copy> seen{{1, 100}, {8, 700}};
    CHECK(judge(sent, seen, true).vanished == 1);
    CHECK(judge(sent, seen, true, {{1, 200}}).vanished == 1);
    CHECK(judge(sent, seen, true, {{8, 710}}).vanished == 0);
    CHECK(judge(sent, seen, true, {{1, 200}, {8, 710}}).found == 1);
}
