// SPDX-License-Identifier: GPL-3.0-or-later
// Whether what was found holds: 80, 100 and 120 % of the Relevant Lower Bound three times each, as
// SPECmail did, and with them a load just beyond the Relevant Upper Bound, and trials that the
// result contradicts. 120 % is more than may be tried where the search was told so, or met a
// ceiling; then it is left out, which says why. Three rounds, each in random order, so that what
// changes meanwhile meets all alike. Nothing here fails.
#pragma once

#include "stats/capacity/goal_search.hpp"
#include "stats/capacity/measurements.hpp"
#include "stats/capacity/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace postal::capacity {

class confirmation {
  public:
    // The goal has a lower bound.
    confirmation(const measurements& trials, std::size_t goal, const load_limits& limits,
                 trial_validity ceiling_by, std::uint64_t seed);

    // Load and duration of the trial that is due; nothing: all is done.
    [[nodiscard]] const confirmation_result* next() const;
    void add(const judgement& said);
    // That load cannot be tried.
    void leave_out(untried why);
    // So many trials are to come.
    [[nodiscard]] double to_go_s() const;
    [[nodiscard]] const std::vector<confirmation_result>& results() const noexcept {
        return loads_;
    }
    void leave_out_rest(untried why);

  private:
    void want(confirmed_load what, double load, double duration_s);
    void want_contradictions(const measurements& trials, std::size_t goal, const load_bounds& of);

    std::vector<confirmation_result> loads_;
    std::vector<std::size_t> order_;  // of what is to come, the next one last
};

}  // namespace postal::capacity
