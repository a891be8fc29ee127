// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/trial_counts.hpp"

#include <algorithm>
#include <utility>

namespace postal::stats {

void trial_counts::begin(const trial_times& times, const std::vector<trial_promise>& promises,
                         std::chrono::steady_clock::time_point start) {
    times_ = times;
    promises_ = promises;
    promises_.resize(std::min(promises_.size(), most_promises));
    start_ = start;
    stretches_.assign(times.batches + 2, {});
}

void trial_counts::count(std::chrono::nanoseconds due, std::chrono::nanoseconds when,
                         trial_end how) noexcept {
    if (due < times_.begin || due >= times_.end()) return;  // an earlier trial's
    ++stretches_[times_.stretch_of(when)].ended;
    trial_stretch& of = stretches_[times_.stretch_of(due)];
    ++of.finished;
    const auto took = when - due;
    for (std::size_t i = 0; i < promises_.size(); ++i) {
        const trial_promise& promise = promises_[i];
        promise_losses& lost = of.lost[i];
        if (how == trial_end::not_started) {
            ++lost.not_started;
        } else if (promise.loses(how)) {
            ++lost.errors;
        } else if (promise.within && how == trial_end::accepted) {
            if (took > *promise.within)
                ++lost.late;
            else if (took > *promise.within / 2)
                ++lost.near;
        }
    }
}

void trial_counts::merge(const trial_counts& other) {
    if (other.number() == 0 || other.number() < number()) return;
    if (other.number() > number()) {
        *this = other;
        return;
    }
    for (std::size_t i = 0; i < stretches_.size() && i < other.stretches_.size(); ++i) {
        trial_stretch& to = stretches_[i];
        const trial_stretch& from = other.stretches_[i];
        to.ended += from.ended;
        to.finished += from.finished;
        for (std::size_t j = 0; j < most_promises; ++j) {
            to.lost[j].late += from.lost[j].late;
            to.lost[j].errors += from.lost[j].errors;
            to.lost[j].not_started += from.lost[j].not_started;
            to.lost[j].near += from.lost[j].near;
        }
    }
}

void trial_counts::set(std::uint64_t number, std::vector<trial_stretch> counted) {
    *this = {};
    times_.number = number;
    stretches_ = std::move(counted);
}

void trial_counts::clear() noexcept {
    std::fill(stretches_.begin(), stretches_.end(), trial_stretch{});
}

}  // namespace postal::stats
