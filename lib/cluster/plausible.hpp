// Whether the times in a word that came from another rank can be what they say: sums and differences of
// them must not overflow. Nothing here fails.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "cluster/words.hpp"

namespace postal::cluster {

// Differences of such times do not overflow.
inline bool within(nanoseconds time, nanoseconds::rep most = std::int64_t{1} << 62U) {
    return time.count() >= -most && time.count() <= most;
}

inline bool plausible(const pong& what) {
    const double drift = what.most_drift.value_or(0);
    return within(what.steady) && within(what.wall) && drift >= 0 && drift <= 1;
}

inline bool plausible(const stop& what) {
    return within(what.when);
}

inline bool plausible(const counted& what) {
    const stats::time_slice& slice = what.slice;
    constexpr double longest_s = 1e9;  // thirty years
    // What workers did together in a time slice: a hundred of them, a day long. Sums have room for many.
    constexpr nanoseconds::rep most = 10'000'000'000'000'000;
    constexpr double most_connected_s = 1e15;
    const auto brief = [](const base::thread_time& one) {
        return within(one.busy, most) && within(one.wall, most) && within(one.still, most) &&
               within(one.run_delay.value_or(nanoseconds{}), most);
    };
    const auto short_enough = [&](const stats::worker_time& one) {
        return brief(one) && one.connected_s >= 0 && one.connected_s <= most_connected_s;
    };
    return slice.start_s >= 0 && slice.start_s <= slice.end_s && slice.end_s <= longest_s &&
           within(slice.counts.all_busy, most) &&
           within(slice.counts.first_accepted.value_or(nanoseconds{}), most) &&
           short_enough(slice.counts) && brief(slice.main) && brief(slice.ledger) &&
           std::all_of(slice.workers.begin(), slice.workers.end(), short_enough);
}

template <class Word>
inline bool plausible(const Word&) {
    return true;
}

}  // namespace postal::cluster
