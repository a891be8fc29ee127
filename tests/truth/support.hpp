// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of truth share: series that are as alike as runs are, and the verdict of a count
// on a claim.
#pragma once

#include "base/random.hpp"
#include "stats/distributions.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace truth {

// So many times in so many trials. A claim is refuted where chance brings a count like this one in
// less than one of 10,000 such tests; seeds are fixed, so that a test says the same each time.
struct tally {
    std::size_t held = 0;
    std::size_t trials = 0;

    void add(bool holds) {
        ++trials;
        held += holds ? 1 : 0;
    }
    [[nodiscard]] double share() const {
        return static_cast<double>(held) / static_cast<double>(trials);
    }
    [[nodiscard]] bool may_be_at_least(double claim) const {
        return held == trials || at_most() >= claim;
    }
    [[nodiscard]] bool may_be_at_most(double claim) const {
        return held == 0 || at_least() <= claim;
    }

  private:
    static constexpr double chance = 1e-4;
    [[nodiscard]] double at_most() const {
        return postal::stats::highest_share(static_cast<double>(trials), static_cast<double>(held),
                                            chance);
    }
    [[nodiscard]] double at_least() const {
        return postal::stats::lowest_share(static_cast<double>(trials), static_cast<double>(held),
                                           chance);
    }
};

// Around 0 with a deviation of 1; the correlation is that of neighbours (AR(1)).
inline std::vector<double> alike(postal::base::random_source& random, std::size_t count,
                                 double correlation) {
    std::vector<double> values(count);
    double now = random.normal();
    for (double& value : values) {
        value = now;
        now = correlation * now + std::sqrt(1 - correlation * correlation) * random.normal();
    }
    return values;
}

}  // namespace truth
