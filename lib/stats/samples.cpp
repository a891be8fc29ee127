// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/samples.hpp"

#include "base/digits.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace postal::stats {

namespace {

constexpr std::size_t most_told = 8;  // kinds of missed samples

void raise(std::optional<double>& highest, std::optional<double> value) {
    highest = std::max(highest, value);
}

}  // namespace

const sample_series* sampled_source::waiting() const noexcept {
    const auto found = std::find_if(series.begin(), series.end(),
                                    [](const sample_series& one) { return one.waiting; });
    return found == series.end() ? nullptr : &*found;
}

sample_history::sample_history(std::string source, std::string name, double every_s) {
    made_.source = std::move(source);
    made_.name = std::move(name);
    made_.every_s = every_s;
}

// Null where there is no room for it.
sample_series* sample_history::find_or_add(const sampled_value& figure) {
    const auto found = std::find_if(made_.series.begin(), made_.series.end(),
                                    [&](const auto& one) { return one.name == figure.name; });
    if (found != made_.series.end()) return &*found;
    if (made_.series.size() == most_figures) return nullptr;
    sample_series& one = made_.series.emplace_back();
    one.name = figure.name;
    one.unit = figure.unit;
    one.waiting = figure.waiting;
    one.values.resize(made_.t_s.size());
    if (made_.together > 1) one.most.emplace(made_.t_s.size());
    return &one;
}

void sample_history::begin_moment(double t_s) {
    if (in_last_ > 0 && in_last_ < made_.together) {
        made_.t_s.back() = t_s;
        ++in_last_;
        return;
    }
    if (made_.t_s.size() == most_kept) {
        halve();
        in_last_ = made_.together;
    }
    made_.t_s.push_back(t_s);
    in_last_ = 1;
    for (sample_series& one : made_.series) {
        one.values.emplace_back();
        if (one.most) one.most->emplace_back();
    }
}

// Their number is even.
void sample_history::halve() {
    const std::size_t half = made_.t_s.size() / 2;
    for (std::size_t i = 0; i < half; ++i)
        made_.t_s[i] = made_.t_s[2 * i + 1];
    made_.t_s.resize(half);
    for (sample_series& one : made_.series) {
        if (!one.most) one.most = one.values;
        for (std::size_t i = 0; i < half; ++i) {
            const auto& last = one.values[2 * i + 1];
            one.values[i] = last ? last : one.values[2 * i];
            (*one.most)[i] = std::max((*one.most)[2 * i], (*one.most)[2 * i + 1]);
        }
        one.values.resize(half);
        one.most->resize(half);
    }
    made_.together *= 2;
}

base::expected<void> sample_history::add(double t_s, double took_s,
                                         std::span<const sampled_value> figures) {
    std::size_t fresh = 0;
    for (const sampled_value& one : figures)
        fresh += std::none_of(made_.series.begin(), made_.series.end(),
                              [&](const auto& known) { return known.name == one.name; })
                     ? 1
                     : 0;
    if (made_.series.size() + fresh > most_figures)
        return base::fail("it has more than {} figures", most_figures);
    begin_moment(t_s);
    ++made_.taken;
    made_.took_s += took_s;
    made_.longest_s = std::max(made_.longest_s, took_s);
    for (const sampled_value& figure : figures) {
        sample_series* const to = find_or_add(figure);
        if (to == nullptr) continue;
        to->values.back() = figure.value;
        if (to->most) raise(to->most->back(), figure.value);
        if (to->highest && *to->highest >= figure.value) continue;
        to->highest = figure.value;
        to->highest_at_s = t_s;
    }
    return {};
}

bool sample_history::miss(double took_s, const std::string& why) {
    ++made_.missed;
    made_.took_s += took_s;
    made_.longest_s = std::max(made_.longest_s, took_s);
    if (made_.missed_why.empty()) made_.missed_why = why;
    if (told_.size() == most_told || std::find(told_.begin(), told_.end(), why) != told_.end())
        return false;
    told_.push_back(why);
    return true;
}

sampled_source sample_history::take(double start_s) && {
    const auto shift = [&](double& t_s) { t_s = std::max(0.0, t_s - start_s); };
    for (double& t_s : made_.t_s)
        shift(t_s);
    for (sample_series& one : made_.series)
        if (one.highest_at_s) shift(*one.highest_at_s);
    return std::move(made_);
}

std::optional<queue_growth> growth_of(const sampled_source& of, double from_s, double until_s) {
    constexpr std::size_t least_samples = 3;
    constexpr double least_growth = 10;
    constexpr double least_share = 0.1;
    const sample_series* const queue = of.waiting();
    const double third_s = (until_s - from_s) / 3;
    if (queue == nullptr || !(third_s > 0)) return std::nullopt;
    std::array<double, 3> sums{};
    std::array<std::size_t, 3> counts{};
    for (std::size_t i = 0; i < std::min(of.t_s.size(), queue->values.size()); ++i) {
        const double t_s = of.t_s[i];
        if (t_s < from_s || t_s > until_s || !queue->values[i]) continue;
        const auto third =
            std::min<std::size_t>(2, static_cast<std::size_t>((t_s - from_s) / third_s));
        sums[third] += *queue->values[i];
        ++counts[third];
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (counts[i] < least_samples) return std::nullopt;
        sums[i] /= static_cast<double>(counts[i]);
    }
    const double grown = sums[2] - sums[0];
    // One that has filled and then stands still does not.
    const bool steadily = sums[0] < sums[1] && sums[2] - sums[1] > (sums[1] - sums[0]) / 4;
    if (!steadily || grown < least_growth || grown < least_share * sums[0]) return std::nullopt;
    return queue_growth{sums[0], sums[2], grown / (2 * third_s) * 60};
}

std::string sample_text(double value) {
    constexpr double countable = 9e15;
    if (value == std::floor(value) && value < countable)
        return base::format_count(static_cast<std::uint64_t>(value));
    return base::format_measured(value);
}

}  // namespace postal::stats
