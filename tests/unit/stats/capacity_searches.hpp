// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of searches on simulated servers ask for, and what each search keeps to.
#pragma once

#include "base/words.hpp"
#include "stats/capacity/record.hpp"
#include "stats/capacity/search.hpp"

#include "simulated_servers.hpp"

#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

namespace simulated {

inline postal::capacity::search_input input(std::uint64_t seed = 1) {
    postal::capacity::search_input made;
    made.goals = {p99()};
    made.loads.start = 10 + 0.1 * static_cast<double>(seed);
    made.seed = seed;
    return made;
}

// What every search keeps to, whatever the server is.
inline void check_bounded(const postal::capacity::search& of) {
    CHECK(of.trials().size() <= of.input().most_trials);
    for (const postal::capacity::search_trial& one : of.trials()) {
        CHECK(one.asked.load >= of.input().loads.min);
        CHECK(one.asked.load <= of.input().loads.max);
        CHECK(one.start_s + one.asked.settle_s + one.asked.duration_s <= of.input().most_s);
    }
    CHECK_FALSE(of.next().has_value());
    CHECK(of.because().empty());
}

inline std::string found(const postal::capacity::search& of) {
    return postal::capacity::sentence_of(of.result(), of.goals());
}

}  // namespace simulated
