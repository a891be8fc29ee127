// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/capacity/classification.hpp"

#include <algorithm>

namespace postal::capacity {

load_class classify(const duration_sums& sums, double duration_sum_s, double exceed_ratio) {
    const double exceed_coefficient = exceed_ratio / (1 - exceed_ratio);
    const double balancing_s = sums.short_low_s * exceed_coefficient;
    const double positive_excess_s = std::max(0.0, sums.short_high_s - balancing_s);
    const double effect_high_s = sums.full_length_high_s + positive_excess_s;
    const double effect_full_length_s = sums.full_length_low_s + effect_high_s;
    const double effect_whole_s = std::max(effect_full_length_s, duration_sum_s);
    const double quantile_s = effect_whole_s * exceed_ratio;
    const double pessimistic_high_s = effect_whole_s - sums.full_length_low_s;
    // Durations are clock readings: a microsecond decides nothing.
    constexpr double equal_s = 1e-6;
    if (pessimistic_high_s <= quantile_s + equal_s) return load_class::lower;
    return effect_high_s <= quantile_s + equal_s ? load_class::undecided : load_class::upper;
}

double conditional_throughput(double load, std::vector<full_length_trial> trials,
                              double duration_sum_s, double exceed_ratio) {
    std::sort(trials.begin(), trials.end(),
              [](const auto& a, const auto& b) { return a.loss_ratio < b.loss_ratio; });
    double full_length_s = 0;
    for (const auto& one : trials)
        full_length_s += one.effective_s;
    double remaining_s = std::max(duration_sum_s, full_length_s) * (1 - exceed_ratio);
    double loss_ratio = 1;
    bool first = true;
    for (const auto& one : trials) {
        if (!first && remaining_s <= 0) return load * (1 - loss_ratio);
        first = false;
        loss_ratio = one.loss_ratio;
        remaining_s -= one.effective_s;
    }
    if (remaining_s > 1e-6) loss_ratio = 1;
    return load * (1 - loss_ratio);
}

}  // namespace postal::capacity
