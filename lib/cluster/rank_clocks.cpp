// SPDX-License-Identifier: GPL-3.0-or-later
#include "cluster/rank_clocks.hpp"

#include <algorithm>

#include "base/units.hpp"
#include "os/host.hpp"

namespace postal::cluster {

using std::chrono::steady_clock;
using std::chrono::system_clock;

rank_clocks::moment rank_clocks::now() {
    // In this order: should something come between, the answer seems to take longer, not less.
    const auto at = steady_clock::now();
    return {at, std::chrono::duration_cast<nanoseconds>(system_clock::now().time_since_epoch())};
}

void rank_clocks::add(const moment& asked, const pong& answer) {
    const auto heard = steady_clock::now();
    steady_.add({asked.at.time_since_epoch(), answer.steady, heard.time_since_epoch()});
    wall_.add({asked.wall, answer.wall, asked.wall + (heard - asked.at)});
    most_drift_ = answer.most_drift.value_or(base::clock_state::most_frequency);
}

// What both clocks may do until the next burst, and did since the last, is what their kernels say
// now; of one that says nothing it is taken that nobody slews it.
void rank_clocks::end_burst() {
    const auto ours = os::clock_state();
    const double most =
        most_apart(ours ? ours->most_drift() : base::clock_state::most_frequency, most_drift_);
    drift_limit_ = std::max(drift_limit_, most);
    steady_.end_burst(most);
    wall_.end_burst(most);
}

nanoseconds rank_clocks::tell_start(nanoseconds at) {
    told_at_ = at;
    told_offset_ = steady_.offset(at);
    told_bound_ = steady_.bound(at);
    return at + told_offset_;
}

// As was known then. What its clock says later makes it larger where that shows a step meanwhile,
// and never smaller: nobody knows how the clock went between.
nanoseconds rank_clocks::start_bound() const {
    const nanoseconds wrong = std::chrono::abs(told_offset_ - steady_.offset(told_at_));
    return std::max(told_bound_, wrong + steady_.bound(told_at_));
}

void rank_clocks::describe(stats::rank_share& into) const {
    if (!steady_.known()) return;
    into.clock_offset_s = base::seconds_of(told_offset_);
    into.wall_offset_s = base::seconds_of(wall_.offset(now().wall));
    into.clock_bound_s = base::seconds_of(start_bound());
    into.clock_drift = steady_.drift();
    into.clock_drift_limit = drift_limit_;
    into.clock_steps = steady_.steps();
    into.wall_steps = wall_.steps();
    if (into.clock_steps + into.wall_steps > 0)
        into.clock_step_s = base::seconds_of(larger(steady_.largest_step(), wall_.largest_step()));
}

}  // namespace postal::cluster
