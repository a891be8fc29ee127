// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/capacity/goal.hpp"

#include "base/alternatives.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace postal::capacity {
namespace {

constexpr double beyond_one_side = 0.05;  // of one-sided bounds
constexpr double coarse_messages =
    10;  // show which side of a promise a load is on, far from its edge
constexpr double longest_coarse_s = 10;

std::string duration_text(double seconds) {
    return base::format_duration(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(seconds)));
}

// Of a counter that may be a share, which messages it counts.
base::expected<std::uint8_t> ends_of(const stats::counter& one) {
    struct row {
        std::string_view name;
        std::uint8_t ends;
    };
    const auto bit = [](stats::trial_end how) {
        return static_cast<std::uint8_t>(1U << static_cast<unsigned>(how));
    };
    using enum stats::trial_end;
    const std::array rows{
        row{"errors", stats::all_but_accepted}, row{"rejected", bit(rejected)},
        row{"deferred", bit(deferred)},         row{"failed", bit(failed)},
        row{"in_doubt", bit(in_doubt)},         row{"not_started", bit(not_started)}};
    std::vector<std::string> known;
    for (const row& each : rows) {
        if (each.name == one.name) return each.ends;
        known.emplace_back(each.name);
    }
    return base::fail("'{}' is not counted message by message; a goal may be about {}", one.name,
                      base::alternatives(known));
}

base::expected<double> parse_seconds(std::string_view text, double most_s) {
    const auto time = base::parse_duration(text);
    if (!time || base::seconds_of(*time) < shortest_trial_s || base::seconds_of(*time) > most_s)
        return base::fail("\"{}\" is no duration for it; give {} to {}", base::printable(text, 40),
                          duration_text(shortest_trial_s), duration_text(most_s));
    return base::seconds_of(*time);
}

base::expected<double> parse_trial_s(std::string_view text) {
    return parse_seconds(text, longest_trial_s);
}

base::expected<double> parse_sum_s(std::string_view text) {
    return parse_seconds(text, longest_sum_s);
}

base::expected<double> parse_exceed_ratio(std::string_view text) {
    const auto ratio = base::parse_number(text);
    if (!ratio || *ratio > most_exceed_ratio)
        return base::fail("\"{}\" is no such ratio; give 0 to {}", base::printable(text, 40),
                          most_exceed_ratio);
    return *ratio;
}

struct attribute {
    std::string_view name;
    double goal::*value;
    base::expected<double> (*parse)(std::string_view text);
};
constexpr std::array<attribute, 5> attributes{{{"initial", &goal::initial_trial_s, parse_trial_s},
                                               {"final", &goal::final_trial_s, parse_trial_s},
                                               {"sum", &goal::duration_sum_s, parse_sum_s},
                                               {"exceed", &goal::exceed_ratio, parse_exceed_ratio},
                                               {"width", &goal::width, parse_width}}};

// Those of a set may be what does not fit.
base::expected<void> fit_together(const goal& of) {
    const std::string final = duration_text(of.final_trial_s);
    if (of.initial_trial_s > of.final_trial_s)
        return base::fail(
            "initial: trials of {} are longer than the final ones, of {}; give initial={} or less",
            duration_text(of.initial_trial_s), final, final);
    if (of.final_trial_s > of.duration_sum_s)
        return base::fail("sum: {} are too few for one final trial of {}; give sum={} or more",
                          duration_text(of.duration_sum_s), final, final);
    return {};
}

// "final=60s,sum=3m"; says whether the width was there.
base::expected<bool> read_attributes(std::string_view text, goal& into) {
    std::array<bool, attributes.size()> given{};
    for (const std::string_view each : base::split(text, ',')) {
        const std::size_t equals = each.find('=');
        const std::string_view name = base::trim(each.substr(0, equals));
        const auto* const found =
            std::find_if(attributes.begin(), attributes.end(),
                         [&](const attribute& one) { return one.name == name; });
        if (found == attributes.end() || equals == each.npos)
            return base::fail(
                "\"{}\" is no attribute of a goal; give initial=2s, final=20s, sum=60s, exceed=0.5 "
                "or width=2%, with a comma between",
                base::printable(base::trim(each), 40));
        if (std::exchange(given[static_cast<std::size_t>(found - attributes.begin())], true))
            return base::fail("{}: is there twice; give it once", name);
        const auto value = found->parse(base::trim(each.substr(equals + 1)));
        if (!value) return base::at(std::string(name), value.error());
        into.*found->value = *value;
    }
    return given.back();
}

}  // namespace

goal defaults_of(goal_set set) {
    switch (set) {
        case goal_set::quick:
            return {.initial_trial_s = 1, .final_trial_s = 5, .duration_sum_s = 15, .width = 0.05};
        case goal_set::rfc2544:
            return {.loss_ratio = 0, .final_trial_s = 60, .duration_sum_s = 60, .exceed_ratio = 0};
        case goal_set::standard:
            break;
    }
    return {};
}

base::expected<double> parse_width(std::string_view text) {
    const auto share = base::parse_share(text);
    if (!share || *share < least_width || *share > most_width)
        return base::fail("\"{}\" is no width; give {} % to {} %, such as 0.5%",
                          base::printable(text, 40), least_width * 100, most_width * 100);
    return *share;
}

base::expected<counted_goal> parse_goal(std::string_view text, goal_set set, const goal_phases& of,
                                        stats::counter_rows counters) {
    // A threshold's own words behind a semicolon are for it to read.
    std::size_t end = text.find(';');
    if (end != text.npos && base::trim(text.substr(end + 1)).starts_with("abort")) end = text.npos;
    const std::string_view promise = text.substr(0, end);
    const auto parsed = stats::threshold::parse(promise, of.all, counters);
    if (!parsed) return parsed.error();
    const auto allowed = parsed->allows();
    if (!allowed || parsed->aborts())
        return base::fail(
            "{}: a goal says which share of the messages may be late or lost, such as "
            "p99({})<1s or errors<0.1%",
            parsed->expression(), of.all[of.due]);
    const bool is_below_zero = promise.find("<=") == promise.npos && allowed->share <= 0;
    if (allowed->phase ? allowed->within.count() <= 0 : is_below_zero)
        return base::fail("{}: can never hold, for {}", parsed->expression(),
                          allowed->phase ? "everything takes some time"
                                         : "nothing is less than 0; <=0% allows none");
    if (allowed->share >= 1)
        return base::fail("{}: all messages may be lost, so that every rate would do",
                          parsed->expression());
    if (set == goal_set::rfc2544 && allowed->share > 0)
        return base::fail(
            "{}: the goals of rfc2544 allow no loss; give p100(PHASE)<TIME or errors<=0%, or "
            "another set of goals",
            parsed->expression());
    counted_goal made{defaults_of(set), *allowed};
    made.of.promise = parsed->expression();
    made.of.metric = made.of.promise.substr(0, made.of.promise.find_first_of("<>=! "));
    made.of.loss_ratio = allowed->share;
    if (end == text.npos) return made;
    const std::string_view own = base::trim(text.substr(end + 1));
    const auto width = read_attributes(own, made.of);
    if (!width) return base::at(parsed->expression(), width.error());
    const auto fits = fit_together(made.of);
    if (!fits) return base::at(parsed->expression(), fits.error());
    made.own_width = *width;
    made.own = own;
    return made;
}

base::expected<double> parse_load_share(std::string_view text) {
    const auto percent = base::parse_number(text.substr(0, text.empty() ? 0 : text.size() - 1));
    if (!text.ends_with('%') || !percent || *percent < least_share * 100 ||
        *percent > most_share * 100)
        return base::fail("\"{}\" is no share of a load; give {}% to {}%, such as 20%",
                          base::printable(text, 40), least_share * 100, most_share * 100);
    return *percent / 100;
}

base::expected<stats::trial_promise> counted_as(const stats::allowance& lost,
                                                const goal_phases& of) {
    if (!lost.phase) {
        const auto ends = ends_of(*lost.of);
        if (!ends) return ends.error();
        return stats::trial_promise{{}, *ends};
    }
    if (*lost.phase != of.due)
        return base::fail("a goal is about all that was due, and so about the phase {}, not {}",
                          of.all[of.due], of.all[*lost.phase]);
    return stats::trial_promise{lost.within, stats::all_but_accepted};
}

double fewest_messages(double loss_ratio) {
    return loss_ratio > 0 ? std::ceil(std::log(beyond_one_side) / std::log1p(-loss_ratio)) : 1;
}

double target::trial_s_at(double load) const {
    return std::max(trial_s, std::min(messages / load, longest_s));
}

double target::duration_sum_s_at(double load) const {
    return std::max(duration_sum_s, trial_s_at(load) * std::min(2.0, duration_sum_s / trial_s));
}

std::array<target, targets_per_goal> targets_of(const goal& of) {
    std::array<target, targets_per_goal> made;
    const double last = targets_per_goal - 1;
    for (std::size_t i = 0; i < targets_per_goal; ++i) {
        const auto step = static_cast<double>(i);
        const double trial_s =
            of.initial_trial_s * std::pow(of.final_trial_s / of.initial_trial_s, step / last);
        made[i] = {trial_s,
                   trial_s,
                   of.exceed_ratio,
                   of.width * std::exp2(last - step),
                   coarse_messages / of.share,
                   longest_coarse_s};
    }
    made.back().trial_s = of.final_trial_s;
    made.back().duration_sum_s = of.duration_sum_s;
    made.back().messages = std::max(coarse_messages, fewest_messages(of.loss_ratio)) / of.share;
    made.back().longest_s = std::numeric_limits<double>::infinity();
    made.back().final = true;
    return made;
}

}  // namespace postal::capacity
