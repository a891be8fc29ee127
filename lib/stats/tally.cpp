// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/tally.hpp"

#include <cassert>

namespace postal::stats {

void worker_time::add_time(const worker_time& other) noexcept {
    base::thread_time::add_time(other);
    connected_s += other.connected_s;
}

void tally::accepted(std::uint64_t number, std::chrono::steady_clock::time_point when) noexcept {
    if (number > 0 && !first_accepted) first_accepted = when.time_since_epoch();
    messages += number;
}

counts tally::counted() const noexcept {
    counts result = *this;
    result.error_events = errors.total();
    return result;
}

void tally::merge(const tally& other) {
    assert(latency.size() == other.latency.size());
    add(other);
    for (std::size_t i = 0; i < latency.size(); ++i)
        latency[i].merge(other.latency[i]);
    unserved.merge(other.unserved);
    slip.merge(other.slip);
    loop_late.merge(other.loop_late);
    errors.merge(other.errors);
    authentications.merge(other.authentications);
    agents.merge(other.agents);
    tls.merge(other.tls);
    commands.merge(other.commands);
    actions.merge(other.actions);
    limits.merge(other.limits);
    not_offered.merge(other.not_offered);
    trial.merge(other.trial);
    all_busy += other.all_busy;
    if (!first_accepted || other.first_accepted.value_or(*first_accepted) < *first_accepted)
        first_accepted = other.first_accepted;
    add_time(other);
}

bool tally::empty() const noexcept {
    return none() && errors.empty() && authentications.empty() && agents.empty();
}

void tally::clear() noexcept {
    static_cast<counts&>(*this) = {};
    for (auto& phase : latency)
        phase.clear();
    unserved.clear();
    slip.clear();
    loop_late.clear();
    errors.clear();
    authentications.clear();
    agents.clear();
    tls.clear();
    commands.clear();
    actions.clear();
    limits.clear();
    not_offered.clear();
    trial.clear();
    all_busy = {};
    first_accepted.reset();
    static_cast<worker_time&>(*this) = {};
}

}  // namespace postal::stats
