// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/capacity/result.hpp"

#include "base/digits.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::capacity {
namespace {

std::string measured(double value) {
    return base::format_measured(value);
}

// Both bounds and what is between, as exact as they are apart.
std::string range_text(double rate, double lower, double upper, std::string_view unit) {
    const double uncertain = (upper - lower) / 2;
    return fmt::format("{} {}/s ({} to {})", base::format_measured(rate, uncertain), unit,
                       base::format_measured(lower, uncertain),
                       base::format_measured(upper, uncertain));
}

std::string of_whom(const goal& one, const partners& beside) {
    return one.flow > 0 && one.flow <= beside.size() ? " of " + beside[one.flow - 1].program : "";
}

// The metric is enough where no other goal is about it.
std::string limited_by(const std::vector<goal>& goals, std::size_t index, const partners& beside) {
    const goal& one = goals.at(index);
    const auto same = std::count_if(goals.begin(), goals.end(), [&](const goal& other) {
        return other.metric == one.metric && other.flow == one.flow;
    });
    return (same > 1 ? one.promise : one.metric) + of_whom(one, beside);
}

std::string why_no_higher(const search_result& of) {
    if (std::any_of(of.confirmation.begin(), of.confirmation.end(), [](const auto& one) {
            return one.what == confirmed_load::share_120 && one.contradicts();
        }))
        return "120 % of what was found passed, too";
    if (of.ceiling)
        return fmt::format("from {} on {}", measured(*of.ceiling),
                           of.ceiling_by == trial_validity::machine_full
                               ? "the machine was full"
                               : "the generator was the limit");
    return "no more was to be tried";
}

std::string untried_text(untried why, const search_result& of) {
    const std::string from =
        of.ceiling ? fmt::format(" from {}/s on", measured(*of.ceiling)) : std::string{};
    switch (why) {
        case untried::above_most:
            return "that is more than was to be tried";
        case untried::generator_limited:
            return "the generator was the limit" + from;
        case untried::machine_full:
            return "the machine was full" + from;
        case untried::ended:
            return "the search had ended";
        default:
            return "there was no time";
    }
}

std::string contradiction_text(const confirmation_result& of, std::string_view unit) {
    const bool must_hold =
        of.what != confirmed_load::beyond && of.what != confirmed_load::failed_before;
    return fmt::format("{} {}/s, which had {}, {} in {} of {} trials", measured(of.load), unit,
                       must_hold ? "held" : "failed", must_hold ? "failed" : "held",
                       must_hold ? of.failed : of.held, of.trials());
}

std::string unstable_text(const search_result& of, std::string_view unit) {
    std::string text = "unstable";
    const char* between = ": ";
    for (const confirmation_result& one : of.confirmation) {
        if (!one.contradicts() || one.what == confirmed_load::share_120) continue;
        text.append(between).append(contradiction_text(one, unit));
        between = "; ";
    }
    return text;
}

std::string stopped_text(search_end end) {
    switch (end) {
        case search_end::generator_limited:
            return "the generator was the limit";
        case search_end::machine_full:
            return "the machine was full";
        case search_end::queue_stays:
            return "the server did not get rid of its queue";
        case search_end::nothing_ended:
            return "nothing of two trials ended in time";
        case search_end::out_of_trials:
            return "no more trials were allowed";
        case search_end::interrupted:
            return "the search was interrupted";
        case search_end::partner_lost:
            return "a program beside it was lost";
        default:
            return "the time was over";
    }
}

// Of bounds that are none of the goal's.
std::string short_text(const goal_result& of) {
    return of.by_short_trials ? ", by short trials alone" : "";
}

std::string load_text(double load, std::string_view unit, const partners& beside) {
    return fmt::format("{} {}/s{}", measured(load), unit, beside_text(load, beside));
}

std::string unfinished_text(const search_result& of, std::string_view unit,
                            const partners& beside) {
    const goal_result& limit = of.limit();
    const std::string why = short_text(limit) + ": " + stopped_text(of.end);
    if (limit.lower && limit.upper)
        return fmt::format("{} to {}, not closer{}", measured(*limit.lower),
                           load_text(*limit.upper, unit, beside), why);
    if (limit.lower) return "at least " + load_text(*limit.lower, unit, beside) + why;
    if (limit.upper) return "less than " + load_text(*limit.upper, unit, beside) + why;
    return "nothing was found" + why;
}

// That 120 % passed is why there is no more than a bound, and no doubt about that.
bool is_doubted(const search_result& of) {
    if (of.confirmed || of.confirmation.empty()) return false;
    return std::none_of(of.confirmation.begin(), of.confirmation.end(), [](const auto& one) {
        return one.what == confirmed_load::share_120 && one.contradicts();
    });
}

std::string at_least_text(const search_result& of, const std::string& by, std::string_view unit,
                          const partners& beside) {
    // Loads above were tried, and neither held nor failed by evidence.
    const bool open = of.end == search_end::not_closer && !of.ceiling;
    return fmt::format("at least {} at {}: {}{}", load_text(*of.limit().lower, unit, beside), by,
                       open ? "above it nothing was decided" : why_no_higher(of),
                       is_doubted(of) ? ", not confirmed" : "");
}

std::string doomed_text(const goal_result& of, const goal& about, std::string_view unit,
                        const partners& beside) {
    return fmt::format("doomed at the lowest rate: {} did not keep {} ({} % lost)",
                       load_text(of.upper.value_or(0), unit, beside), promise_of(about, beside),
                       measured(of.loss_ratio * 100));
}

}  // namespace

bool confirmation_result::contradicts() const noexcept {
    const std::uint64_t most = trials() / 2;
    if (left_out && trials() < 2) return false;
    switch (what) {
        case confirmed_load::share_80:
            return shown_failed > most || (failed == trials() && failed > 0);
        case confirmed_load::share_100:
            return shown_failed > most || far > 0;
        case confirmed_load::share_120:
            return held > most;
        case confirmed_load::beyond:
            return shown_held > most;
        case confirmed_load::held_before:
            return failed > most;
        case confirmed_load::failed_before:
            return held > most;
    }
    return false;
}

bool confirmation_result::doubtful() const noexcept {
    const bool must_hold = what == confirmed_load::share_80 || what == confirmed_load::share_100;
    return must_hold && failed > trials() / 2;
}

std::string confirmation_text(const search_result& of, std::string_view unit) {
    std::string text;
    bool any = false;
    for (const confirmation_result& one : of.confirmation) {
        const bool share = one.what == confirmed_load::share_80 ||
                           one.what == confirmed_load::share_100 ||
                           one.what == confirmed_load::share_120;
        if (!share) continue;
        any = any || one.trials() > 0;
        text += fmt::format("{}{}, {} {}/s, ", text.empty() ? "tried once more: " : "; ",
                            base::name_of(one.what), measured(one.load), unit);
        const bool must_hold = one.what != confirmed_load::share_120;
        if (one.trials() > 0)
            text += fmt::format("{} in {} of {} trials", must_hold ? "held" : "failed",
                                must_hold ? one.held : one.failed, one.trials());
        else
            text += "not tried: " + untried_text(one.why, of);
    }
    return any ? text : std::string{};
}

std::string_view unit_of(const goal& of, std::string_view unit, const partners& beside) {
    return of.flow > 0 && of.flow <= beside.size() ? std::string_view(beside[of.flow - 1].unit)
                                                   : unit;
}

std::string promise_of(const goal& of, const partners& beside) {
    return of.promise + of_whom(of, beside);
}

std::string beside_text(double load, const partners& beside) {
    std::string text;
    for (const partner& one : beside)
        text += fmt::format("{}{} {}/s", text.empty() ? " beside " : " and ",
                            measured(load * one.share), one.unit);
    return text;
}

std::string sentence_of(const goal_result& of, const goal& about, std::string_view unit,
                        const partners& beside) {
    std::string text = promise_of(about, beside) + ": ";
    if (of.lower && of.upper)
        text += range_text(of.rate, *of.lower, *of.upper, unit);
    else if (of.lower)
        text += fmt::format("at least {} {}/s", measured(*of.lower), unit);
    else if (of.end == goal_end::doomed)
        return doomed_text(of, about, unit, beside);
    else if (of.upper)
        text += fmt::format("less than {} {}/s", measured(*of.upper), unit);
    else
        text += "nothing was found";
    if (of.conditional_throughput)
        text += ", conditional throughput " + measured(*of.conditional_throughput);
    if (of.end == goal_end::not_closer) text += ", not decided between them";
    text += short_text(of);
    if (of.end == goal_end::unfinished) text += ", not finished";
    return text;
}

std::string sentence_of(const search_result& of, const std::vector<goal>& goals,
                        std::string_view unit, const partners& beside) {
    const goal_result& limit = of.limit();
    const std::string by = limited_by(goals, of.limiting, beside);
    switch (of.end) {
        case search_end::found:
        case search_end::not_closer: {
            if (!limit.upper) return at_least_text(of, by, unit, beside);
            std::string text = range_text(limit.rate, *limit.lower, *limit.upper, unit);
            text += beside_text(limit.rate, beside) + ", limited by " + by;
            if (limit.limited_by == loss_reason::backlog) text += ": the backlog grew";
            if (of.end == search_end::not_closer && of.ceiling)
                text += "; " + why_no_higher(of);
            else if (of.end == search_end::not_closer)
                text += "; between them it is not decided";
            return of.confirmed || of.confirmation.empty() ? text : text + ", not confirmed";
        }
        case search_end::at_least:
            return at_least_text(of, by, unit, beside);
        case search_end::unstable:
            return unstable_text(of, unit);
        case search_end::doomed:
            return doomed_text(limit, goals.at(of.limiting), unit, beside);
        default:
            return unfinished_text(of, unit, beside);
    }
}

}  // namespace postal::capacity
