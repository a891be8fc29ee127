// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/retries.hpp"

#include "bhm/phases.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace postal;
using namespace std::chrono_literals;
using behaviour::grey_verdict;
using behaviour::stage;

namespace {

proto::path path(std::string_view mailbox) {
    if (mailbox == "<>") {
        proto::path null;
        null.null = true;
        return null;
    }
    const auto parsed = proto::parse_mailbox(mailbox, proto::bare_local_part::allowed);
    REQUIRE(parsed.ok());
    return parsed.value;
}

std::uint64_t times(const stats::tally& counts, bhm::phase which) {
    return counts.latency[static_cast<std::size_t>(which)].count();
}

std::chrono::nanoseconds longest(const stats::tally& counts, bhm::phase which) {
    return counts.latency[static_cast<std::size_t>(which)].max();
}

// The counts that are not 0, in one line; that they add up.
std::string told(const stats::tally& counts) {
    CHECK(counts.deferred_recipients == counts.taken_after_retry + counts.rejected_after_retry +
                                            counts.still_deferred + counts.not_retried);
    CHECK(times(counts, bhm::phase::retry) == counts.retries);
    CHECK(times(counts, bhm::phase::retried) == counts.taken_after_retry);
    std::string text;
    for (const auto& [name, value] :
         {std::pair("deferred", counts.deferred_recipients), std::pair("retries", counts.retries),
          std::pair("taken", counts.taken_after_retry),
          std::pair("rejected", counts.rejected_after_retry),
          std::pair("still", counts.still_deferred), std::pair("not retried", counts.not_retried),
          std::pair("forgotten", counts.retries_forgotten), std::pair("first", counts.grey_first),
          std::pair("early", counts.grey_early), std::pair("late", counts.grey_late),
          std::pair("passed", counts.grey_passed), std::pair("in time", counts.grey_in_time)}) {
        if (value == 0) continue;
        text += (text.empty() ? "" : ", ") + std::to_string(value) + " " + name;
    }
    return text;
}

// A session, its worker's tally, and what all sessions share.
struct played {
    explicit played(bool lmtp = false, std::size_t most = 100)
        : waiting(most), session(waiting, {std::nullopt, lmtp}, counts) {}

    // MAIL, and RCPT for each recipient with that answer.
    void envelope(std::chrono::nanoseconds now,
                  const std::vector<std::pair<std::string_view, unsigned>>& answers) {
        session.begin(path("a@example.org"));
        for (const auto& [who, code] : answers)
            session.recipient(path(who),
                              {.code = code, .may_be_deferred = true, .came = now, .said = now});
    }
    // The message, and one answer for all.
    void message(std::chrono::nanoseconds now, unsigned code) {
        session.answered(0, code);
        session.let_go(now);
        session.drop();
    }

    bhm::waiting_recipients waiting;
    stats::tally counts{bhm::phase_names().size()};
    bhm::attempts session;
};

behaviour::behaviour rules(stage at, std::uint16_t code) {
    behaviour::rule one;
    behaviour::action what;
    what.reply = behaviour::reply_text{code, "", "Text"};
    one.at[static_cast<std::size_t>(at)] = what;
    return {"behaviour.toml", {one}};
}

}  // namespace

TEST_CASE("retries: which rules defer recipients") {
    struct row {
        stage at;
        std::uint16_t code;
        bool any, taken, beside;
        std::string_view reason;
    };
    const row rows[] = {
        {stage::rcpt, 450, true, false, false, "at RCPT"},
        {stage::rcpt, 421, true, false, true, "with all that were taken before"},
        {stage::rcpt, 550, false, false, false, "for good"},
        {stage::mail, 451, false, false, false, "nobody is named yet"},
        {stage::data, 451, true, true, false, "all that were taken"},
        {stage::chunk, 452, true, true, false, "likewise"},
        {stage::end, 451, true, true, false, "likewise"},
        {stage::end, 550, false, false, false, "for good"},
        {stage::rset, 421, false, false, false, "no message is under way"},
    };
    for (const row& one : rows) {
        CAPTURE(one.reason);
        const bhm::deferrals found = bhm::deferrals_of(rules(one.at, one.code));
        CHECK(found.any == one.any);
        CHECK(found.taken == one.taken);
        CHECK(found.beside == one.beside);
    }
    CHECK_FALSE(bhm::deferrals_of({}).any);
}

TEST_CASE("retries: from a deferral at RCPT until it is taken") {
    played a;
    a.envelope(10s, {{"b@example.com", 450U}});
    CHECK(told(a.counts) == "1 deferred, 1 not retried");
    a.envelope(15s, {{"b@example.com", 450U}});
    CHECK(told(a.counts) == "1 deferred, 1 retries, 1 still");
    a.envelope(40s, {{"B@Example.com", 250U}});
    CHECK(told(a.counts) == "1 deferred, 2 retries, 1 still");
    a.message(42s, 250);
    CHECK(told(a.counts) == "1 deferred, 2 retries, 1 taken");
    CHECK(longest(a.counts, bhm::phase::retry) == 25s);
    CHECK(longest(a.counts, bhm::phase::retried) == 32s);
    a.envelope(50s, {{"b@example.com", 250U}});
    a.message(50s, 250);
    CHECK(told(a.counts) == "1 deferred, 2 retries, 1 taken");
    CHECK(a.waiting.none());
}

TEST_CASE("retries: a recipient is one of its sender and its client's network") {
    played a;
    a.envelope(0s, {{"b@example.com", 450U}});
    a.envelope(1s, {{"c@example.com", 250U}});
    a.session.begin(path("other@example.org"));
    a.session.recipient(path("b@example.com"), {.code = 250, .came = 2s, .said = 2s});
    CHECK(told(a.counts) == "1 deferred, 1 not retried");
    a.session.begin(path("<>"));
    a.session.recipient(path("b@example.com"), {.code = 450, .came = 3s, .said = 3s});
    CHECK(told(a.counts) == "2 deferred, 2 not retried");
}

TEST_CASE("retries: how a retry may end") {
    struct row {
        unsigned at_rcpt, at_end;
        std::string_view wanted, reason;
    };
    const row rows[] = {
        {250, 250, "1 deferred, 1 retries, 1 taken", "taken"},
        {251, 250, "1 deferred, 1 retries, 1 taken", "taken, and forwarded"},
        {450, 0, "1 deferred, 1 retries, 1 still", "deferred again"},
        {550, 0, "1 deferred, 1 retries, 1 rejected", "for good"},
        {0, 0, "1 deferred, 1 retries, 1 still", "cut off"},
        {250, 0, "1 deferred, 1 retries, 1 still", "given up, or lost"},
        {250, 451, "1 deferred, 1 retries, 1 still", "the message was deferred"},
        {250, 554, "1 deferred, 1 retries, 1 rejected", "the message was refused"},
    };
    for (const row& one : rows) {
        CAPTURE(one.reason);
        played a;
        a.envelope(0s, {{"b@example.com", 450U}});
        a.envelope(1s, {{"b@example.com", one.at_rcpt}});
        a.message(2s, one.at_end);
        CHECK(told(a.counts) == one.wanted);
    }
}

TEST_CASE("retries: a message that is deferred defers all its recipients") {
    played a;
    a.envelope(0s, {{"b@example.com", 250U}, {"c@example.com", 250U}, {"d@example.com", 550U}});
    SECTION("at its end") {
        a.message(1s, 451);
    }
    SECTION("before it comes") {
        a.session.refused(451, 1s);
        a.session.drop();
    }
    SECTION("by 421 to another recipient") {
        a.session.recipient(path("e@example.com"), {.code = 421, .came = 1s, .said = 1s});
        CHECK(told(a.counts) == "3 deferred, 3 not retried");
        a.envelope(2s, {{"e@example.com", 550U}});
        CHECK(told(a.counts) == "3 deferred, 1 retries, 1 rejected, 2 not retried");
        return;
    }
    CHECK(told(a.counts) == "2 deferred, 2 not retried");
    a.envelope(6s, {{"b@example.com", 250U}, {"c@example.com", 250U}});
    a.message(7s, 250);
    CHECK(told(a.counts) == "2 deferred, 2 retries, 2 taken");
    CHECK(longest(a.counts, bhm::phase::retry) == 5s);
    CHECK(longest(a.counts, bhm::phase::retried) == 6s);
}

TEST_CASE("retries: DATA that is refused may be said again") {
    played a;
    a.envelope(0s, {{"b@example.com", 250U}});
    a.session.refused(451, 0s);
    a.message(1s, 250);
    CHECK(told(a.counts) == "1 deferred, 1 taken");
    CHECK(a.waiting.none());
}

TEST_CASE("retries: over LMTP each recipient has its own end") {
    played a(true);
    a.envelope(0s, {{"x@example.com", 550U},
                    {"b@example.com", 250U},
                    {"c@example.com", 250U},
                    {"d@example.com", 250U}});
    a.session.answered(0, 250);
    a.session.answered(1, 451);
    a.session.let_go(1s);  // the third was cut off
    a.session.drop();
    CHECK(told(a.counts) == "1 deferred, 1 not retried");
    a.envelope(3s, {{"c@example.com", 250U}});
    a.session.answered(0, 250);
    a.session.let_go(3s);
    CHECK(told(a.counts) == "1 deferred, 1 retries, 1 taken");
    CHECK(longest(a.counts, bhm::phase::retry) == 2s);
}

TEST_CASE("retries: a reply that waits is on its way later") {
    played a;
    a.session.begin(path("a@example.org"));
    a.session.recipient(path("b@example.com"), {.code = 450, .came = 0s, .said = 30s});
    a.envelope(31s, {{"b@example.com", 450U}});
    CHECK(longest(a.counts, bhm::phase::retry) == 1s);
    a.envelope(20s, {{"b@example.com", 450U}});
    CHECK(longest(a.counts, bhm::phase::retry) == 1s);
    CHECK(a.counts.retries == 2);
}

TEST_CASE("retries: what greylists say is counted, and who kept to it") {
    played a;
    const auto meet = [&](grey_verdict verdict, unsigned code, std::chrono::nanoseconds now) {
        a.session.begin(path("a@example.org"));
        a.session.recipient(path("b@example.com"),
                            {.code = code, .grey = verdict, .came = now, .said = now});
        return told(a.counts);
    };
    CHECK(meet(grey_verdict::first, 450, 0s) == "1 deferred, 1 not retried, 1 first");
    CHECK(meet(grey_verdict::early, 450, 1s) == "1 deferred, 1 retries, 1 still, 1 first, 1 early");
    CHECK(meet(grey_verdict::late, 450, 2s) ==
          "1 deferred, 2 retries, 1 still, 1 first, 1 early, 1 late");
    // A rule behind the greylist defers it.
    CHECK(meet(grey_verdict::passes, 451, 3s) ==
          "1 deferred, 3 retries, 1 still, 1 first, 1 early, 1 late, 1 passed, 1 in time");
    CHECK(meet(grey_verdict::passes, 250, 4s) ==
          "1 deferred, 4 retries, 1 still, 1 first, 1 early, 1 late, 2 passed, 1 in time");
    a.message(4s, 250);
    CHECK(meet(grey_verdict::passes, 250, 5s) ==
          "1 deferred, 4 retries, 1 taken, 1 first, 1 early, 1 late, 3 passed, 1 in time");
}

TEST_CASE("retries: of more than there is room for those that were idle longest are forgotten") {
    played a(false, 2);
    a.envelope(0s, {{"b@example.com", 450U}, {"c@example.com", 450U}});
    a.envelope(1s, {{"b@example.com", 450U}, {"d@example.com", 450U}});
    CHECK(told(a.counts) == "3 deferred, 1 retries, 1 still, 2 not retried, 1 forgotten");
    a.envelope(2s, {{"c@example.com", 250U}});
    a.message(2s, 250);
    CHECK(told(a.counts) == "3 deferred, 1 retries, 1 still, 2 not retried, 1 forgotten");
    a.envelope(3s, {{"b@example.com", 250U}, {"d@example.com", 250U}});
    a.message(3s, 250);
    CHECK(told(a.counts) == "3 deferred, 3 retries, 2 taken, 1 not retried, 1 forgotten");
}

TEST_CASE("retries: two sessions at once settle a recipient once") {
    played a;
    bhm::attempts other(a.waiting, {std::nullopt, false}, a.counts);
    a.envelope(0s, {{"b@example.com", 450U}});
    a.envelope(1s, {{"b@example.com", 250U}});
    other.begin(path("a@example.org"));
    other.recipient(path("b@example.com"), {.code = 250, .came = 1s, .said = 1s});
    a.message(2s, 250);
    other.answered(0, 250);
    other.let_go(2s);
    CHECK(told(a.counts) == "1 deferred, 2 retries, 1 taken");
}
