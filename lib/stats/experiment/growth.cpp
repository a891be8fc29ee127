// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/experiment/growth.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/experiment/paired.hpp"

namespace postal::stats {
namespace {

struct straight_line {
    double slope = 0;
    double height = 0;    // where ln(n) is 0
    double rounding = 0;  // the slope's variance from the steps in which the values are known
};

struct at_size {
    double x = 0;
    double y = 0;
    double rounding = 0;  // the variance of y
};

bool usable(const std::optional<double>& value) {
    return value && *value > 0 && std::isfinite(*value);
}

bool is_never(const std::optional<double>& value) {
    return value && std::isinf(*value);
}

std::optional<straight_line> line_through(const metric_table::block& block,
                                          std::span<const std::optional<double>> sizes) {
    std::vector<at_size> points;
    for (std::size_t i = 0; i < std::min(block.values.size(), sizes.size()); ++i)
        if (usable(block.values[i]) && usable(sizes[i]))
            points.push_back({std::log(*sizes[i]), std::log(*block.values[i]),
                              block.steps.empty() ? 0 : step_variance(block.steps[i])});
    if (points.size() < 2) return std::nullopt;
    double x = 0;
    double y = 0;
    for (const at_size& one : points) {
        x += one.x / static_cast<double>(points.size());
        y += one.y / static_cast<double>(points.size());
    }
    double along = 0;
    double across = 0;
    double rounding = 0;
    for (const at_size& one : points) {
        along += (one.x - x) * (one.x - x);
        across += (one.x - x) * (one.y - y);
        rounding += (one.x - x) * (one.x - x) * one.rounding;
    }
    if (along < log_rounding) return std::nullopt;  // one size alone
    const double slope = across / along;
    return straight_line{slope, y - slope * x, rounding / (along * along)};
}

}  // namespace

std::optional<growth> growth_of(const metric_table& table,
                                std::span<const std::optional<double>> sizes, double alpha) {
    std::vector<double> slopes;
    double height = 0;
    double rounding = 0;
    for (const metric_table::block& block : table.blocks) {
        if (block.voided) continue;
        if (std::any_of(block.values.begin(), block.values.end(), is_never)) return std::nullopt;
        const auto line = line_through(block, sizes);
        if (!line) continue;
        slopes.push_back(line->slope);
        height += line->height;
        rounding += line->rounding;
    }
    if (slopes.empty()) return std::nullopt;
    const paired_sample sample = sample_of(
        slopes, all_differences, std::sqrt(rounding / static_cast<double>(slopes.size())));
    growth found;
    found.blocks = slopes.size();
    found.exponent = sample.mean;
    found.coefficient =
        std::exp(std::min(largest_log, height / static_cast<double>(slopes.size())));
    if (slopes.size() >= 2) {
        const double half = t_half_width(sample, alpha);
        found.interval = {{sample.mean - half, sample.mean + half}};
    }
    return found;
}

}  // namespace postal::stats
