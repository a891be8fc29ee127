// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/population.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include "mail/message_checker.hpp"
#include "mail/message_factory.hpp"

using namespace postal;
using namespace postal::mail;

namespace {

population_plan usual_plan() {
    population_plan of;
    of.folders = {"INBOX", "Archive", "Archive/Old", "Lists"};
    of.until = std::chrono::sys_days(std::chrono::year{2026} / 1 / 1);
    of.span = std::chrono::days(730);
    of.flags = {{"\\Seen", 0.8}, {"\\Answered", 0.5}, {"$Forwarded", 0.1}};
    return of;
}

bool same(const mailbox_plan& a, const mailbox_plan& b) {
    return std::equal(a.messages.begin(), a.messages.end(), b.messages.begin(), b.messages.end(),
                      [](const planned_message& x, const planned_message& y) {
                          return x.date_s == y.date_s && x.parent == y.parent && x.root == y.root &&
                                 x.folder == y.folder && x.flags == y.flags;
                      });
}

}  // namespace

TEST_CASE("population: a mailbox follows from the seed and the address alone") {
    const population_plan of = usual_plan();
    const mailbox_plan box = plan_mailbox(of, "a@example.com", 500);
    CHECK(same(box, plan_mailbox(of, "a@example.com", 500)));
    CHECK_FALSE(same(box, plan_mailbox(of, "b@example.com", 500)));
    population_plan other = of;
    other.seed = 2;
    CHECK_FALSE(same(box, plan_mailbox(other, "a@example.com", 500)));
    // It stands in messages that are there: it must never change.
    CHECK(account_number("a@example.com") == 15'255'707'948'389U);
    CHECK(account_number("a@example.com") < (std::uint64_t{1} << 48U));
}

TEST_CASE("population: dates lie within the years and rise, and no answer is before its question") {
    const population_plan of = usual_plan();
    const mailbox_plan box = plan_mailbox(of, "a@example.com", 5000);
    REQUIRE(box.messages.size() == 5000);
    const std::int64_t last = of.until.time_since_epoch().count();
    std::int64_t before = 0;
    for (std::uint32_t n = 0; n < box.messages.size(); ++n) {
        const planned_message& one = box.messages[n];
        CHECK(one.date_s >= std::max(before, last - of.span.count()));
        CHECK(one.date_s <= last);
        before = one.date_s;
        if (one.parent == no_parent) {
            CHECK(one.root == n);
            continue;
        }
        REQUIRE(one.parent < n);
        CHECK(box.messages[one.parent].root == one.root);
        CHECK(box.messages[one.parent].folder == one.folder);
        CHECK(box.messages[one.root].parent == no_parent);
    }
}

TEST_CASE("population: threads are as large as in the Enron corpus, and folders as Zipf has them") {
    const mailbox_plan box = plan_mailbox(usual_plan(), "a@example.com", 100'000);
    std::map<std::uint32_t, int> sizes;
    std::array<double, 4> folders{};
    for (const planned_message& one : box.messages) {
        ++sizes[one.root];
        ++folders[one.folder];
    }
    const auto threads =
        std::count_if(sizes.begin(), sizes.end(), [](const auto& one) { return one.second > 1; });
    const auto pairs =
        std::count_if(sizes.begin(), sizes.end(), [](const auto& one) { return one.second == 2; });
    std::int64_t within = 0;
    for (const auto& [root, size] : sizes)
        within += size > 1 ? size : 0;
    // 123,501 of 200,399 messages; a mean of 4.10; 16,736 of 30,091 are pairs.
    CHECK(static_cast<double>(within) / 100'000 == Approx(0.616).margin(0.02));
    CHECK(static_cast<double>(within) / static_cast<double>(threads) == Approx(4.10).margin(0.2));
    CHECK(static_cast<double>(pairs) / static_cast<double>(threads) == Approx(0.556).margin(0.02));
    const double sum = 1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4;
    for (std::size_t i = 0; i < folders.size(); ++i)
        CHECK(folders[i] / 100'000 == Approx(1 / sum / static_cast<double>(i + 1)).margin(0.02));
}

TEST_CASE("population: flags have their shares, and only what has a reply is answered") {
    const population_plan of = usual_plan();
    const mailbox_plan box = plan_mailbox(of, "a@example.com", 50'000);
    std::vector<bool> replied(box.messages.size());
    for (const planned_message& one : box.messages)
        if (one.parent != no_parent) replied[one.parent] = true;
    double seen = 0;
    double forwarded = 0;
    double answered = 0;
    for (std::size_t n = 0; n < box.messages.size(); ++n) {
        const unsigned flags = box.messages[n].flags;
        seen += flags & 1U;
        answered += flags >> 1U & 1U;
        forwarded += flags >> 2U & 1U;
        if ((flags >> 1U & 1U) != 0) CHECK(replied[n]);
    }
    const auto replies = static_cast<double>(std::count(replied.begin(), replied.end(), true));
    CHECK(seen / 50'000 == Approx(0.8).margin(0.01));
    CHECK(forwarded / 50'000 == Approx(0.1).margin(0.01));
    CHECK(answered / replies == Approx(0.5).margin(0.02));
    CHECK(flags_text(of, 0).empty());
    CHECK(flags_text(of, 1) == "(\\Seen)");
    CHECK(flags_text(of, 5) == "(\\Seen $Forwarded)");
}

TEST_CASE("population: references name the first of the thread and the nearest, the oldest first") {
    mailbox_plan box;
    for (std::uint32_t n = 0; n < 30; ++n) {
        planned_message one;
        one.parent = n == 0 ? no_parent : n - 1;
        box.messages.push_back(one);
    }
    CHECK(references_of(box, 0).empty());
    CHECK(references_of(box, 1) == std::vector<std::uint32_t>{0});
    CHECK(references_of(box, 3) == std::vector<std::uint32_t>{0, 1, 2});
    CHECK(references_of(box, 29) ==
          std::vector<std::uint32_t>{0, 20, 21, 22, 23, 24, 25, 26, 27, 28});
}

TEST_CASE("population: a Subject and fields of a request stand in the message, which is verified") {
    message_options wanted;
    wanted.seed = 7;
    wanted.run = 8;
    wanted.bodies = body_mix(body_kind::multipart);
    const auto plan = message_plan::create(wanted);
    REQUIRE(plan.has_value());
    message_factory factory(*plan);
    message made;
    const std::string_view to = "a@example.com";
    factory.make({.session = 1,
                  .sequence = 2,
                  .from = to,
                  .recipients = {&to, 1},
                  .subject = "Re: of last year",
                  .fields = "In-Reply-To: <x@example.com>\r\n"},
                 made);
    std::string text;
    for (const std::string_view part : made.raw_parts())
        text += part;
    CHECK(text.size() == made.total_octets());
    CHECK(text.size() == made.id().size);
    CHECK(text.find("\r\nSubject: Re: of last year\r\n") != text.npos);
    CHECK(text.find("\r\nIn-Reply-To: <x@example.com>\r\n") != text.npos);
    message_checker checker;
    checker.feed(text);
    CHECK(checker.finish().what == integrity::verified);
    checker.reset();
    text.replace(text.find("last year"), 4, "this");
    checker.feed(text);
    CHECK(checker.finish().what == integrity::corrupt);
}
