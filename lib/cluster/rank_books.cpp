// SPDX-License-Identifier: GPL-3.0-or-later
#include "cluster/rank_books.hpp"

#include <algorithm>
#include <utility>

#include "stats/counters.hpp"

namespace postal::cluster {

rank_books::entry::entry(const stats::time_slice& from)
    : start_s(from.start_s),
      draining(from.draining),
      in_warmup(from.in_warmup),
      sums(from.counts.counted()) {}

void rank_books::add(const entry& one) {
    all_.add(one.sums);
    if (!one.in_warmup) measured_.add(one.sums);
    waiting_.push_back({one.start_s, one.draining, one.sums.messages});
}

void rank_books::hand_on(const stats::time_slice& merged) {
    const auto belongs = [&](const piece& part) {
        return part.draining == merged.draining && part.start_s < merged.end_s;
    };
    for (const piece& part : waiting_)
        if (belongs(part)) messages_now_ += part.messages;
    std::erase_if(waiting_, belongs);
    if (merged.closes_interval) messages_.push_back(std::exchange(messages_now_, 0));
}

// What is left was counted in the last interval.
void rank_books::close() {
    for (const piece& part : std::exchange(waiting_, {}))
        if (!messages_.empty()) messages_.back() += part.messages;
}

void rank_books::describe(stats::rank_share& into) const {
    into.messages = messages_;
    into.totals = measured_;
    into.totals_with_warmup = all_;
}

std::uint64_t rank_books::unaccounted(std::uint64_t started) const {
    std::uint64_t ended = 0;
    for (const stats::counter& one : stats::all_counters())
        if (one.kind == stats::counter_kind::outcome) ended += all_.*one.value;
    const std::uint64_t begun = std::max(started, all_.started);
    return begun - std::min(ended, begun);
}

}  // namespace postal::cluster
