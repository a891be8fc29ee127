// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/second_counts.hpp"

#include "stats/ranking.hpp"
#include "stats/run_report.hpp"

#include <algorithm>

namespace postal::stats {

namespace {

void extend(second_count& one, const second_count& by) {
    one.end_s = by.end_s;
    one.messages += by.messages;
    one.errors += by.errors;
    one.warmup = one.warmup || by.warmup;
    one.worker_cpu_s += by.worker_cpu_s;
    one.connected_s += by.connected_s;
    if (one.asked && by.asked) *one.asked += *by.asked;
}

// Of the percentiles of two stretches nothing better is known of both. What is unknown is below
// all.
void widen_second(second_count& one, const second_count& by) {
    one.p50 = std::max(one.p50, by.p50);
    one.p90 = std::max(one.p90, by.p90);
    one.p99 = std::max(one.p99, by.p99);
}

}  // namespace

bool second_counts::whole(const second_count& one) const noexcept {
    return one.end_s - one.start_s >= width_s_ - whole_enough_s;
}

void second_counts::add(const time_slice& added, std::size_t message_phase,
                        std::optional<double> asked) {
    if (added.draining || !(added.end_s > added.start_s)) return;
    const tally& counted = added.counts;
    const worker_sums workers = sums_of(added.workers);
    const second_count piece{.start_s = added.start_s,
                             .end_s = added.end_s,
                             .messages = counted.messages,
                             .errors = counted.errors.total(),
                             .warmup = added.in_warmup,
                             .worker_cpu_s = workers.worker_cpu_s,
                             .connected_s = workers.connected_s,
                             .asked = asked};
    if (open_ && closed_.back().warmup == piece.warmup) {
        extend(closed_.back(), piece);
    } else {
        if (closed_.size() >= most_seconds) halve();
        closed_.push_back(piece);
        messages_.clear();
    }
    if (message_phase < counted.latency.size()) messages_.merge(counted.latency[message_phase]);
    closed_.back().p50 = known_quantile(messages_, 0.5);
    closed_.back().p90 = known_quantile(messages_, 0.9);
    closed_.back().p99 = known_quantile(messages_, 0.99);
    open_ = !whole(closed_.back());
}

// Stretches of twice the length.
void second_counts::halve() {
    std::vector<second_count> pairs;
    for (std::size_t i = 0; i < closed_.size(); i += 2) {
        pairs.push_back(closed_[i]);
        if (i + 1 == closed_.size()) break;
        extend(pairs.back(), closed_[i + 1]);
        widen_second(pairs.back(), closed_[i + 1]);
    }
    closed_ = std::move(pairs);
    width_s_ *= 2;
}

rate_summary second_counts::rate() const {
    std::vector<double> rates;
    for (const second_count& one : closed_) {
        if (one.warmup || !whole(one)) continue;
        rates.push_back(static_cast<double>(one.messages) / (one.end_s - one.start_s));
    }
    return summarise_rates(rates, 1 / width_s_);
}

std::optional<loaded_time> second_counts::loaded() const {
    const auto has_mail = [](const second_count& one) { return !one.warmup && one.messages > 0; };
    const auto first = std::find_if(closed_.begin(), closed_.end(), has_mail);
    const auto behind = std::find_if(closed_.rbegin(), closed_.rend(), has_mail).base();
    if (behind - first < 3) return std::nullopt;
    loaded_time found{.start_s = first->end_s, .end_s = (behind - 1)->start_s};
    for (auto one = first + 1; one != behind - 1; ++one)
        found.messages += one->messages;
    if (!(found.end_s > found.start_s)) return std::nullopt;
    found.per_second = static_cast<double>(found.messages) / (found.end_s - found.start_s);
    return found;
}

}  // namespace postal::stats
