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
