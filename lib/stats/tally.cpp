// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/tally.hpp"

#include <cassert>

namespace postal::stats {
namespace {

using std::chrono::nanoseconds;

void merge_part(auto& into, const auto& other) {
    into.merge(other);
}
void merge_part(nanoseconds& into, nanoseconds other) {
    into += other;
}
void merge_part(std::optional<nanoseconds>& into, const std::optional<nanoseconds>& other) {
    if (!into || other.value_or(*into) < *into) into = other;
}

void clear_part(auto& part) noexcept {
    if constexpr (requires { part.clear(); })
        part.clear();
    else
        part = {};
}

}  // namespace

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
    std::apply([&](auto... part) { (merge_part(this->*part, other.*part), ...); }, tally_parts);
    add_time(other);
}

bool tally::empty() const noexcept {
    return none() && errors.empty() && authentications.empty() && agents.empty();
}

void tally::clear() noexcept {
    static_cast<counts&>(*this) = {};
    for (auto& phase : latency)
        phase.clear();
    std::apply([&](auto... part) { (clear_part(this->*part), ...); }, tally_parts);
    static_cast<worker_time&>(*this) = {};
}

}  // namespace postal::stats
