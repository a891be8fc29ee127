// The accounts of a user list, and which of them are a rank's.
#include "rabid/accounts.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace postal;

TEST_CASE("accounts: each is one rank's, so that no two open one mailbox") {
    std::vector<rabid::account> all;
    for (int i = 0; i < 11; ++i)
        all.push_back({std::to_string(i), std::to_string(i) + "@example.com", "secret"});
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
