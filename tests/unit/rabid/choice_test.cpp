// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/choice.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "rabid/accounts.hpp"

using namespace postal::rabid;

TEST_CASE("choice: all, a share, and at most so many, ascending and without repetition") {
    postal::base::random_source random(3);
    options chosen;
    const auto all = pick_messages(chosen, 5, random);
    CHECK(all == std::vector<std::uint32_t>{1, 2, 3, 4, 5});
    CHECK(pick_messages(chosen, 0, random).empty());

    chosen.download_percent = 25;
    const auto some = pick_messages(chosen, 10'000, random);
    CHECK(some.size() > 2'200);
    CHECK(some.size() < 2'800);

    chosen.download_percent = 100;
    chosen.most_messages = 3;
    std::set<std::uint32_t> ever;
    for (int i = 0; i < 200; ++i) {
        const auto few = pick_messages(chosen, 6, random);
        CHECK(few.size() == 3);
        CHECK(std::is_sorted(few.begin(), few.end()));
        CHECK(std::set<std::uint32_t>(few.begin(), few.end()).size() == 3);
        ever.insert(few.begin(), few.end());
    }
    CHECK(ever.size() == 6);  // any of them may be picked
    chosen.most_messages = 0;
    CHECK(pick_messages(chosen, 6, random).empty());
    chosen.download_percent = 0;
    chosen.most_messages = -1;
    CHECK(pick_messages(chosen, 6, random).empty());
}

TEST_CASE("choice: a share of what was read is deleted") {
    postal::base::random_source random(3);
    options chosen;
    CHECK(pick_deletion(chosen, examination_result::verified, random));
    chosen.delete_percent = 0;
    for (int i = 0; i < 100; ++i)
        CHECK_FALSE(pick_deletion(chosen, examination_result::verified, random));
    chosen.delete_percent = 50;
    int deleted = 0;
    for (int i = 0; i < 2000; ++i)
        deleted += pick_deletion(chosen, examination_result::verified, random) ? 1 : 0;
    CHECK(deleted > 850);
    CHECK(deleted < 1150);
}

TEST_CASE("accounts: nobody else's while they are lent, unless they are shared") {
    postal::base::random_source random(3);
    const std::vector<account> two{{"a", "a@x", "s"}, {"b", "b@x", "s"}};
    accounts own(two, sharing::exclusive);
    const auto first = own.take(random);
    const auto second = own.take(random);
    REQUIRE(first.has_value());
    REQUIRE(second.has_value());
    CHECK(*first != *second);
    CHECK_FALSE(own.take(random).has_value());
    own.give_back(*second, visit_result::done);
    own.give_back(*first, visit_result::failed);
    CHECK(own.take(random) == first);  // the other was visited already
    CHECK(own.take(random) == second);

    accounts all(two, sharing::shared);
    for (int i = 0; i < 10; ++i)
        CHECK(all.take(random).has_value());
}

TEST_CASE("accounts: of a user list, each once, with or without the domain") {
    const auto users =
        postal::mail::parse_users("A@Example.com s\na@example.com t\nb@example.com u\n", "list");
    REQUIRE(users.has_value());
    const auto whole = accounts_of(*users, false);
    REQUIRE(whole.size() == 2);
    CHECK(whole[0].login == "A@Example.com");
    CHECK(whole[0].address == "a@example.com");
    CHECK(accounts_of(*users, true)[1].login == "b");
}

TEST_CASE("choice: what is not provably ours is only deleted with --delete-foreign") {
    postal::base::random_source random(5);
    options chosen;
    chosen.delete_percent = 100;
    for (const examination_result what :
         {examination_result::verified, examination_result::original,
          examination_result::corrupt}) {
        CHECK(pick_deletion(chosen, what, random));
    }
    for (const examination_result what :
         {examination_result::foreign, examination_result::doubtful}) {
        CHECK_FALSE(pick_deletion(chosen, what, random));
        chosen.delete_foreign = true;
        CHECK(pick_deletion(chosen, what, random));
        chosen.delete_foreign = false;
    }
}
