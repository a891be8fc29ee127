// SPDX-License-Identifier: GPL-3.0-or-later
// The accounts of a user list: which of them are a rank's, and in which order they are lent.
#include "rabid/accounts.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <set>
#include <vector>

using namespace postal;

namespace {

std::vector<rabid::account> some_accounts(int count) {
    std::vector<rabid::account> all;
    for (int i = 0; i < count; ++i)
        all.push_back({std::to_string(i), std::to_string(i) + "@example.com", "secret"});
    return all;
}

}  // namespace

TEST_CASE("accounts: each is one rank's, so that no two open one mailbox") {
    const std::vector<rabid::account> all = some_accounts(11);
    for (const std::uint64_t ranks : {1ULL, 2ULL, 3ULL, 11ULL}) {
        std::set<std::string> seen;
        for (std::uint64_t rank = 0; rank < ranks; ++rank) {
            const load::run_share share{rank, ranks};
            const auto own = rabid::part_of(all, share);
            CHECK(own.size() == share.part_of(all.size()));
            CHECK(own.front().login == std::to_string(rank));
            for (const rabid::account& one : own)
                CHECK(seen.insert(one.address).second);
        }
        CHECK(seen.size() == all.size());
    }
}

TEST_CASE("accounts: each is visited before any is visited again, however many visits overlap") {
    for (const std::size_t at_once : {1U, 2U, 5U}) {
        rabid::accounts all(some_accounts(6), rabid::sharing::exclusive);
        base::random_source random(at_once);
        std::vector<int> visits(all.size());
        std::deque<std::size_t> out;
        for (int visit = 0; visit < 600; ++visit) {
            const auto number = all.take(random);
            REQUIRE(number);
            ++visits[*number];
            out.push_back(*number);
            if (out.size() == at_once) {
                all.give_back(out.front(), rabid::visit_result::done);
                out.pop_front();
            }
            const auto [least, most] = std::minmax_element(visits.begin(), visits.end());
            CAPTURE(at_once, visit);
            REQUIRE(*most - *least <= 1);
        }
    }
}

TEST_CASE("accounts: one whose visit takes long holds up nobody, and comes next when it is back") {
    rabid::accounts all(some_accounts(3), rabid::sharing::exclusive);
    base::random_source random(7);
    const auto slow = all.take(random);
    REQUIRE(slow);
    for (int visit = 0; visit < 20; ++visit) {
        const auto other = all.take(random);
        REQUIRE(other);
        REQUIRE(*other != *slow);
        all.give_back(*other, rabid::visit_result::done);
    }
    all.give_back(*slow, rabid::visit_result::done);
    std::set<std::size_t> next{*all.take(random)};
    if (!next.contains(*slow)) next.insert(*all.take(random));
    CHECK(next.contains(*slow));
}

TEST_CASE("accounts: of so many rounds each has all its turns, also one that is out for longer") {
    constexpr std::uint64_t rounds = 3;
    for (const rabid::visit_result how : {rabid::visit_result::done, rabid::visit_result::failed}) {
        for (const rabid::sharing kind : {rabid::sharing::exclusive, rabid::sharing::shared}) {
            rabid::accounts all(some_accounts(4), kind, rounds);
            base::random_source random(3);
            std::vector<std::uint64_t> turns(all.size());
            std::vector<std::size_t> slow;
            for (std::uint64_t ticket = 0; ticket < rounds * all.size(); ++ticket) {
                auto number = all.take(random);
                if (!number && !slow.empty()) {
                    all.give_back(slow.front(), how);
                    slow.clear();
                    number = all.take(random);
                }
                CAPTURE(ticket, static_cast<int>(how), static_cast<int>(kind));
                REQUIRE(number);
                ++turns[*number];
                if (ticket == 0) {
                    slow.push_back(*number);
                } else {
                    all.give_back(*number, how);
                }
            }
            CHECK(turns == std::vector<std::uint64_t>(all.size(), rounds));
            CHECK(!all.take(random));
        }
    }
}

TEST_CASE("accounts: of one round each is lent once, in whatever order they come back") {
    rabid::accounts all(some_accounts(5), rabid::sharing::exclusive, 1);
    base::random_source random(9);
    std::set<std::size_t> seen;
    for (std::size_t visit = 0; visit < all.size(); ++visit) {
        const auto number = all.take(random);
        REQUIRE(number);
        CHECK(seen.insert(*number).second);
        all.give_back(*number,
                      visit % 2 == 0 ? rabid::visit_result::failed : rabid::visit_result::done);
    }
    CHECK(!all.take(random));
}

TEST_CASE("accounts: by weights the first ones are visited most, and none by two at once") {
    rabid::accounts all(some_accounts(50), rabid::sharing::exclusive,
                        mail::account_draw(50, {1.1}));
    base::random_source random(5);
    std::vector<int> visits(all.size());
    std::deque<std::size_t> out;
    for (int visit = 0; visit < 5000; ++visit) {
        const auto number = all.take(random);
        REQUIRE(number);
        REQUIRE(std::find(out.begin(), out.end(), *number) == out.end());
        ++visits[*number];
        out.push_back(*number);
        if (out.size() < 3) continue;
        all.give_back(out.front(),
                      visit % 2 == 0 ? rabid::visit_result::done : rabid::visit_result::failed);
        out.pop_front();
    }
    CHECK(visits[0] > 2 * visits[4]);
    CHECK(visits[4] > 2 * visits[49]);
    CHECK(visits[49] > 0);
}

TEST_CASE("accounts: by weights all can be out, unless they are shared") {
    base::random_source random(6);
    rabid::accounts exclusive(some_accounts(4), rabid::sharing::exclusive,
                              mail::account_draw(4, {5}));
    std::set<std::size_t> out;
    for (int i = 0; i < 4; ++i)
        out.insert(exclusive.take(random).value());
    CHECK(out.size() == 4);
    CHECK_FALSE(exclusive.take(random));
    exclusive.give_back(3, rabid::visit_result::failed);
    CHECK(exclusive.take(random) == 3);

    rabid::accounts shared(some_accounts(4), rabid::sharing::shared, mail::account_draw(4, {5}));
    for (int i = 0; i < 100; ++i)
        CHECK(shared.take(random).value() < 4);
    shared.give_back(0, rabid::visit_result::done);
}

TEST_CASE("accounts: one whose turn is not over is lent again, and another's turn is not lost") {
    rabid::accounts all(some_accounts(2), rabid::sharing::exclusive, 1);
    base::random_source random(1);
    const auto first = all.take(random);
    const auto second = all.take(random);
    REQUIRE(first.has_value());
    REQUIRE(second.has_value());
    CHECK_FALSE(all.take(random).has_value());
    for (int i = 0; i < 3; ++i) {
        all.give_back(*first, rabid::visit_result::unfinished);
        const auto again = all.take(random);
        REQUIRE(again.has_value());
        CHECK(*again == *first);
    }
    all.give_back(*second, rabid::visit_result::done);
    CHECK_FALSE(all.take(random).has_value());
    all.give_back(*first, rabid::visit_result::done);
    CHECK_FALSE(all.take(random).has_value());
}
