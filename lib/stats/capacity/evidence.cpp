// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/capacity/evidence.hpp"

#include "base/digits.hpp"
#include "base/units.hpp"
#include "stats/distributions.hpp"
#include "stats/rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace postal::capacity {
namespace {

constexpr double outside = 0.05;
constexpr double tolerated = 0.001;  // of what was due: growth

counted sum_of(std::span<const counted> batches) {
    counted sum;
    for (const counted& one : batches) {
        sum.due += one.due;
        sum.lost += one.lost;
    }
    return sum;
}

// The ratio of two sums, each batch as far from it as it makes it.
stats::level level_of(std::span<const counted> batches, const counted& sum) {
    const double share = sum.lost / sum.due;
    const double mean_due = sum.due / static_cast<double>(batches.size());
    std::vector<double> values;
    values.reserve(batches.size());
    for (const counted& one : batches)
        values.push_back(share + (one.lost - share * one.due) / mean_due);
    return stats::level_of(values);
}

share_bounds by_batches(std::span<const counted> batches, const counted& sum) {
    const double share = sum.lost / sum.due;
    const stats::level around = level_of(batches, sum);
    if (batches.size() < 2 || around.effective < 1.5) return {share, 0, 1};
    if (!(around.deviation > 0)) return {share, share, share};
    const double half = stats::t_limit(around.effective - 1, outside) * around.deviation /
                        std::sqrt(around.effective);
    // No share is below 0, so that a share which is far above 0 is further above it than by the
    // scatter alone.
    return {share, std::max(share - half, share * std::exp(-half / share)), share + half};
}

// Losses in neighbouring batches are one clump; so many of equal size would scatter as much. 0
// where most batches lost something, and their means say enough.
double clumps_of(std::span<const counted> batches) {
    const auto losing = std::count_if(batches.begin(), batches.end(),
                                      [](const counted& one) { return one.lost > 0; });
    if (2 * static_cast<std::size_t>(losing) > batches.size()) return 0;
    double sum = 0, squares = 0, now = 0;
    const auto close = [&] {
        sum += now;
        squares += now * now;
        now = 0;
    };
    for (const counted& one : batches) {
        if (one.lost > 0)
            now += one.lost;
        else
            close();
    }
    close();
    return squares > 0 ? sum * sum / squares : 0;
}

share_bounds by_clumps(std::span<const counted> batches, double share) {
    const double clumps = clumps_of(batches);
    if (!(clumps > 0)) return {share, share, share};
    const double low = stats::chi_squared_below(2 * clumps, outside) / 2;
    const double high = stats::chi_squared_limit(2 * clumps + 2, outside) / 2;
    return {share, share * low / clumps, share * high / clumps};
}

share_bounds by_messages(double due, double lost) {
    const double share = lost / due;
    if (lost <= 0) return {share, 0, 1 - std::pow(outside, 1 / due)};
    const double low = stats::lowest_share(due, lost, outside);
    return {share, low, lost < due ? stats::highest_share(due, lost, outside) : 1};
}

// Of all trials: their batches, and how the backlog grew.
struct material {
    std::vector<counted> batches;
    std::vector<counted> near;   // lost, or on time with less than half of it to spare
    std::vector<double> growth;  // in messages, batch by batch
    goal_losses losses;
    double due = 0;
    double lost = 0;

    void add(const trial_output& trial, const goal& of, std::size_t index) {
        const goal_losses& here = trial.goals[index];
        const trial_flow& flow = trial.flow(of.flow);
        losses.on_time += here.on_time;
        losses.late += here.late;
        losses.errors += here.errors;
        losses.not_started += here.not_started;
        losses.not_finished += here.not_finished;
        due += static_cast<double>(here.due());
        lost += static_cast<double>(here.lost());
        std::uint64_t before = flow.backlog_start;
        for (const trial_batch& one : flow.batches) {
            batches.push_back({static_cast<double>(one.due), static_cast<double>(one.lost[index])});
            near.push_back(batches.back());
            near.back().lost += static_cast<double>(one.near[index]);
            growth.push_back(static_cast<double>(one.backlog) - static_cast<double>(before));
            before = one.backlog;
        }
    }

    [[nodiscard]] loss_reason most() const {
        const std::uint64_t worst =
            std::max({losses.late, losses.errors, losses.not_started, losses.not_finished});
        if (worst == 0) return loss_reason::none;
        if (losses.not_started == worst) return loss_reason::not_started;
        if (losses.not_finished == worst) return loss_reason::not_finished;
        return losses.errors == worst ? loss_reason::errors : loss_reason::late;
    }
};

// How the backlog grew over all trials.
struct backlog_growth {
    double share = 0;     // of what was due; 0 where that is tolerated
    bool steady = false;  // it is no chance
};

// Not by one pause, or two: in three quarters of the time at least.
bool grows_all_along(const std::vector<double>& growth) {
    constexpr std::size_t parts = 4;
    std::size_t growing = 0;
    for (std::size_t part = 0; part < parts; ++part) {
        double sum = 0;
        for (std::size_t i = growth.size() * part / parts; i < growth.size() * (part + 1) / parts;
             ++i)
            sum += growth[i];
        growing += sum > 0 ? 1 : 0;
    }
    return growing + 1 >= parts;
}

backlog_growth growth_of(const material& of) {
    const stats::level each = stats::level_of(of.growth);
    const double share = each.mean * static_cast<double>(of.growth.size()) / of.due;
    // No count is finer than one message: where few were due, one more is no growth.
    if (!(share > tolerated) || share * of.due <= 1) return {};
    const double error =
        std::max(each.deviation, 1 / std::sqrt(12.0)) / std::sqrt(std::max(1.0, each.effective));
    const bool sure =
        each.effective >= 1.5 && each.mean > stats::t_limit(each.effective - 1, outside) * error;
    return {share, sure && grows_all_along(of.growth)};
}

// What pauses leave behind is worked off between them, at a speed that is seen. Of how often they
// come so few of them say little: by Poisson's law they may come so often that the time between is
// not enough, though all that was left has gone in these trials. Sums are weighted by size, so that
// one message more or less says nothing.
bool may_grow(const material& of) {
    double up = 0, now = 0, squares = 0, down = 0, down_squares = 0;
    for (const double grown : of.growth) {
        if (grown > 0) {
            up += grown;
            now += grown;
            continue;
        }
        squares += now * now;
        now = 0;
        down -= grown;
        down_squares += grown * grown;
    }
    squares += now * now;
    if (up <= std::max(2.0, tolerated * of.due)) return false;
    const double times = up * up / squares;
    const double most = up / times * stats::chi_squared_limit(2 * times + 2, outside) / 2;
    const double speed = down > 0 ? down_squares / down : 0;  // in a batch
    return most > speed * static_cast<double>(of.growth.size());
}

// By waits that fall off exponentially: twice the time is as rare as half of it twice in a row.
// Messages that are late by themselves are another matter: they are as many as they are.
bool may_be_luck(const goal& of, const material& all) {
    const double high = bounds_of_lost(all.near).high;
    if (of.loss_ratio <= 0 || high * high <= of.loss_ratio) return false;
    const counted sum = sum_of(all.near);
    const double share = std::min(1.0, sum.lost / sum.due);
    const double alone = share * (1 - share) / sum.due;  // the variance of their share, if so
    const stats::level around = level_of(all.near, sum);
    const double together = around.deviation * around.deviation / around.effective;
    const double worth = alone > 0 ? sum.due / std::max(1.0, together / alone) : sum.due;
    return worth < fewest_messages(of.loss_ratio);
}

bool too_few(const goal& of, const judgement& made) {
    return made.messages < fewest_messages(of.loss_ratio);
}

}  // namespace

share_bounds bounds_of_lost(std::span<const counted> batches) {
    counted sum = sum_of(batches);
    if (!(sum.due > 0)) return {};
    sum.lost = std::min(sum.lost, sum.due);
    const double share = sum.lost / sum.due;
    const share_bounds messages = by_messages(sum.due, sum.lost);
    if (sum.lost <= 0) return messages;
    const share_bounds means = by_batches(batches, sum);
    const share_bounds clumps = by_clumps(batches, share);
    return {share, std::max(0.0, std::min({messages.low, means.low, clumps.low})),
            std::min(1.0, std::max({messages.high, means.high, clumps.high}))};
}

judgement judge(const goal& of, std::size_t index, std::span<const trial_output* const> trials) {
    material all;
    for (const trial_output* one : trials)
        all.add(*one, of, index);
    judgement made;
    made.messages = all.due;
    made.reason = loss_reason::too_few;
    if (!(all.due > 0)) return made;

    const share_bounds bounds = bounds_of_lost(all.batches);
    made.loss_ratio = all.lost / all.due;
    made.low = bounds.low;
    made.high = bounds.high;
    const backlog_growth growth = growth_of(all);
    made.growth = growth.share;
    made.may_grow = may_grow(all);
    const bool lost_more = by_messages(all.due, std::min(all.lost, all.due)).low > of.loss_ratio;
    made.measured = growth.steady || lost_more ? loss_class::high : loss_class::low;
    const bool exact = of.loss_ratio <= 0;
    const bool within = exact ? all.lost <= 0 : made.high <= of.loss_ratio;
    if (made.low > of.loss_ratio || (exact && !within)) {
        made.shown = loss_class::high;
        made.reason = all.most();
    } else if (growth.steady) {
        made.shown = loss_class::high;
        made.reason = loss_reason::backlog;
    } else if (within && growth.share <= 0 && !made.may_grow && !may_be_luck(of, all)) {
        made.shown = loss_class::low;
        made.reason = loss_reason::none;
    } else {
        made.reason = too_few(of, made) ? loss_reason::too_few : loss_reason::not_sure;
    }
    return made;
}

bool kept_all(std::span<const goal> goals, const trial_output& seen) {
    const trial_output* const it = &seen;
    for (std::size_t i = 0; i < goals.size(); ++i) {
        const auto lost = static_cast<double>(seen.goals[i].lost());
        if (lost > goals[i].loss_ratio * static_cast<double>(seen.goals[i].due())) return false;
        if (judge(goals[i], i, {&it, 1}).shown == loss_class::high) return false;
    }
    return true;
}

std::string reason_text(const judgement& of, std::string_view unit) {
    const std::string share = base::format_measured(of.loss_ratio * 100);
    switch (of.reason) {
        case loss_reason::none:
            return "it held";
        case loss_reason::too_few:
            return fmt::format(
                "{} {} are too few",
                base::format_count(static_cast<std::uint64_t>(std::llround(of.messages))), unit);
        case loss_reason::not_sure:
            if (of.growth > 0 && of.high <= 0.5)
                return fmt::format(
                    "{} % lost, and the backlog {} % of what was due larger, "
                    "perhaps by chance",
                    share, base::format_measured(of.growth * 100));
            if (of.may_grow && of.growth <= 0)
                return share +
                       " % lost, and pauses of which the backlog recovers may come too often for "
                       "it";
            return fmt::format("{} % lost, {} to {} %", share, base::format_measured(of.low * 100),
                               base::format_measured(of.high * 100));
        case loss_reason::late:
            return share + " % lost, most of them late";
        case loss_reason::errors:
            return share + " % lost, most of them by errors";
        case loss_reason::not_started:
            return share + " % lost, most of them not offered: no session could begin them";
        case loss_reason::not_finished:
            return share + " % lost, most of them not finished in time";
        case loss_reason::backlog:
            return fmt::format("the backlog grew by {} % of what was due",
                               base::format_measured(of.growth * 100));
    }
    return {};
}

}  // namespace postal::capacity
