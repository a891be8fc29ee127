// SPDX-License-Identifier: GPL-3.0-or-later
// "The warm-up is too short": how often a series that was level from its start is called so, and
// whether one that was not is seen.
#include "stats/experiment/validity.hpp"

#include "support.hpp"

using namespace postal;
using truth::tally;

namespace {

// A tenth is left out as warm-up; `missing` is missing in the first quarter.
tally called_too_short(std::size_t count, double correlation, double scatter, double missing) {
    base::random_source random(base::mix(count, 8, 3));
    tally called;
    for (int run = 0; run < 1000; ++run) {
        auto rates = truth::alike(random, count, correlation);
        for (std::size_t i = 0; i < count; ++i)
            rates[i] = 100 * (1 + scatter * rates[i]) * (i < count / 4 ? 1 - missing : 1);
        called.add(stats::check_warmup(rates, count / 10, 0.01).value().too_short);
    }
    return called;
}

}  // namespace

TEST_CASE("warm-up: a level series is called too short in at most 3 %") {
    const double correlation = GENERATE(0.0, 0.5, 0.8);
    const double scatter = GENERATE(0.02, 0.05, 0.15);
    const std::size_t count = GENERATE(60, 120, 300);
    const tally called = called_too_short(count, correlation, scatter, 0);
    CAPTURE(correlation, scatter, count, called.share());
    CHECK(called.may_be_at_most(0.03));
}

TEST_CASE("warm-up: a tenth that is missing behind it is seen where it exceeds the scatter") {
    CHECK(called_too_short(60, 0, 0.02, 0.1).may_be_at_least(0.98));
    CHECK(called_too_short(120, 0.5, 0.02, 0.1).may_be_at_least(0.98));
    CHECK(called_too_short(300, 0.5, 0.05, 0.1).may_be_at_least(0.95));
}
