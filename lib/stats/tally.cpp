// Merging and clearing of tallies.
//
// The counters stand in one table of member pointers, so that a new counter cannot be merged and
// forgotten when clearing. Merging costs one pass over each histogram that is not empty. Both
// tallies must have the same number of phases, which is our own affair and asserted. Nothing fails.
#include "stats/tally.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace postal::stats {
namespace {

constexpr std::array counters{
    &tally::started,          &tally::messages,        &tally::recipients,     &tally::bytes,
    &tally::connections,      &tally::tls_connections, &tally::rejected,       &tally::deferred,
    &tally::failed,           &tally::in_doubt,        &tally::verified,       &tally::foreign,
    &tally::corrupt,          &tally::duplicate,       &tally::not_started,    &tally::original,
    &tally::imap_connections, &tally::deleted,         &tally::delete_in_doubt};

}  // namespace

void tally::merge(const tally& other) {
    assert(latency.size() == other.latency.size());
    for (const auto counter : counters)
        this->*counter += other.*counter;
    for (std::size_t i = 0; i < latency.size(); ++i)
        latency[i].merge(other.latency[i]);
    slip.merge(other.slip);
    errors.merge(other.errors);
    authentications.merge(other.authentications);
    agents.merge(other.agents);
    tls.merge(other.tls);
    busy += other.busy;
    wall += other.wall;
}

bool tally::empty() const noexcept {
    const bool nothing = std::all_of(counters.begin(), counters.end(),
                                     [this](const auto counter) { return this->*counter == 0; });
    return nothing && errors.empty() && authentications.empty() && agents.empty();
}

void tally::clear() noexcept {
    for (const auto counter : counters)
        this->*counter = 0;
    for (auto& phase : latency)
        phase.clear();
    slip.clear();
    errors.clear();
    authentications.clear();
    agents.clear();
    tls.clear();
    busy = {};
    wall = {};
}

}  // namespace postal::stats
