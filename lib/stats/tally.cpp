#include "stats/tally.hpp"

#include <cassert>

namespace postal::stats {

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
    errors.merge(other.errors);
    authentications.merge(other.authentications);
    agents.merge(other.agents);
    tls.merge(other.tls);
    all_busy += other.all_busy;
    busy += other.busy;
    wall += other.wall;
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
    errors.clear();
    authentications.clear();
    agents.clear();
    tls.clear();
    all_busy = {};
    busy = {};
    wall = {};
}

}  // namespace postal::stats
