// SPDX-License-Identifier: GPL-3.0-or-later
#include "behaviour/gates.hpp"

#include "base/units.hpp"

#include <algorithm>

namespace postal::behaviour {
namespace {

// A token that lacks so little is whole: what is missing was lost by rounding.
constexpr double rounding = 1e-9;

}  // namespace

bool token_buckets::take(std::string_view key, nanoseconds now) {
    const auto most = static_cast<double>(how_.most);
    const std::lock_guard lock(mutex_);
    const auto [mine, added] = buckets_.touch(key);
    if (added) mine = {most, now};
    now = std::max(now, mine.seen);
    mine.tokens = std::min(most, mine.tokens + base::seconds_of(now - mine.seen) * how_.per_second);
    mine.seen = now;
    if (mine.tokens < 1 - rounding) return false;
    mine.tokens -= 1;
    return true;
}

std::size_t token_buckets::size() {
    const std::lock_guard lock(mutex_);
    return buckets_.size();
}

grey_verdict greylists::judge(std::string_view triplet, nanoseconds now) {
    const std::lock_guard lock(mutex_);
    const auto [mine, added] = triplets_.touch(triplet);
    if (added) mine = {now, now, false};
    now = std::max(now, mine.seen);
    const bool forgotten = mine.passed && now - mine.seen >= how_.lifetime;
    if (added || forgotten) {
        mine = {now, now, false};
        return grey_verdict::first;
    }
    mine.seen = now;
    if (mine.passed) return grey_verdict::passes;
    const nanoseconds age = now - mine.first;
    if (age < how_.wait) return grey_verdict::early;
    if (age > how_.window) {
        mine.first = now;
        return grey_verdict::late;
    }
    mine.passed = true;
    return grey_verdict::passes;
}

std::size_t greylists::size() {
    const std::lock_guard lock(mutex_);
    return triplets_.size();
}

}  // namespace postal::behaviour
