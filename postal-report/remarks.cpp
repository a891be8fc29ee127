// SPDX-License-Identifier: GPL-3.0-or-later
// What a reader must not overlook, and the one line that says which run this was.
#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/run.hpp"
#include "postal-report/samples.hpp"
#include "stats/rank_summary.hpp"
#include "stats/rate.hpp"
#include "stats/shown.hpp"

namespace postal::report {

namespace {

std::string capitalized(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] -= 'a' - 'A';
    return text;
}

// Why these figures are of less than was asked for.
std::vector<remark> end_remarks(const record& one) {
    if (one.ended == stats::run_ending::gave_up)
        return {{"end", "The run was given up when nothing made any progress"}};
    if (one.ended == stats::run_ending::failure)
        return {{"end", fmt::format("The run failed after {}: its standard error says why",
                                    show_seconds(one.duration_s))}};
    if (one.ended == stats::run_ending::first_error)
        return {{"end", fmt::format("The run ended at its first error (--fail-fast), after {}",
                                    show_seconds(one.duration_s))}};
    if (one.ended == stats::run_ending::threshold)
        return {{"end", fmt::format("The run ended after {} because a threshold was missed: these "
                                    "figures are of a part of it",
                                    show_seconds(one.duration_s))}};
    if (!one.interrupted) return {};
    const auto& by = *one.interrupted;
    std::string text = by.signal.empty() ? "Interrupted" : "Interrupted by " + by.signal;
    text += " after " + show_seconds(by.at_s);
    if (by.early) text += ", before the run's own end: these figures are of a part of it";
    if (by.cut_short)
        text += "; what was still in flight was abandoned, which is an error of ours (stopped)";
    if (by.early) return {{"end", std::move(text)}};
    if (by.cut_short) return {{"note", std::move(text)}};
    return {};
}

// Who was the limit; of a search each trial says it.
std::vector<remark> limit_remarks(const record& one) {
    const auto because = [&](std::string_view otherwise) {
        return one.generator.reason.empty() ? std::string(otherwise) : one.generator.reason;
    };
    if (one.search) {
        const std::uint64_t nothing = capacity::trials_that_say_nothing(*one.search);
        if (nothing == 0) return {};
        return {{"limit", fmt::format("{} of {} trials say nothing: the table of trials says why",
                                      nothing, one.search->trials.size())}};
    }
    if (one.generator.limited)
        return {{"limit", "Generator limited: " +
                              because("the load generator, not the server, was the limit")}};
    if (one.generator.verdict == generator_verdict::machine_full)
        return {{"limit",
                 "Machine full: " +
                     because("the machine was shared and full, and these figures are about it")}};
    if (one.generator.verdict == generator_verdict::held_back)
        return {{"limit", "Held back: " + because("by a CPU quota, or a stop")}};
    return {};
}

}  // namespace

std::vector<remark> remarks(const record& one) {
    std::vector<remark> list = end_remarks(one);
    for (remark& each : limit_remarks(one))
        list.push_back(std::move(each));
    if (one.cap && stats::leaves_out_waits(*one.cap)) {
        list.push_back(
            {"note", fmt::format("Asked {}/s, reached {}/s: all sessions were busy {:.0f} % of the "
                                 "time, {} {} were behind at the end. These latencies leave "
                                 "out how long what could not be sent waited; --open-loop shows it",
                                 show_number(one.cap->asked_per_s),
                                 show_number(one.cap->reached_per_s), one.cap->all_busy * 100,
                                 base::format_count(one.cap->behind), stats::what_is_due(one))});
    }
    for (const stats::named_count& each : one.not_in_effect)
        list.push_back({"note", "Asked for and not in effect: " + each.name});
    if (one.rate.trend && one.rate.mean && !one.search) {
        list.push_back(
            {"note", fmt::format("The rate {} over the run: its mean is not a level",
                                 stats::trend_text(*one.rate.mean, *one.rate.trend, "/min"))});
    }
    for (remark& each : sample_remarks(one))
        list.push_back(std::move(each));
    for (const stats::rank_line& each : stats::rank_lines(one.ranks))
        if (each.bad) list.push_back({"bad", capitalized(each.text)});
    if (one.totals.messages == 0) list.push_back({"bad", "Not one message was accepted"});
    for (const threshold& each : one.thresholds) {
        if (each.passed) continue;
        list.push_back({"bad", fmt::format("Threshold {} was not met: measured {}", each.expression,
                                           show_threshold_value(each))});
    }
    for (const counter& each : one.counters) {
        const std::uint64_t count = one.totals.*each.value;
        if (each.remark.empty() || count == 0) continue;
        const bool harm = each.kind == counter_kind::integrity;
        list.push_back({harm ? "bad" : "note",
                        fmt::format("{} {}", base::format_count(count), each.remark),
                        harm && stats::reads_mail(one)});
    }
    if (one.transcript) {
        list.push_back({"note", "A transcript was written during this run, which slows it down"});
    }
    return list;
}

std::vector<remark> all_remarks(const std::vector<record>& records) {
    std::vector<remark> all;
    std::vector<std::string> whose;
    for (const record& one : records) {
        for (remark& each : remarks(one)) {
            const auto same = std::find_if(all.begin(), all.end(), [&](const remark& other) {
                return other.kind == each.kind && other.text == each.text;
            });
            if (same != all.end()) {
                whose[static_cast<std::size_t>(same - all.begin())] += ", " + one.label;
                continue;
            }
            all.push_back(std::move(each));
            whose.push_back(one.label);
        }
    }
    if (records.size() > 1) {
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i].text = whose[i] + ": " + all[i].text;
        all.push_back({"note",
                       "One run each: no verdict. How far runs of one setting lie apart is "
                       "not known; repeat each of them"});
    }
    constexpr std::string_view gravest_first = "end limit bad note";
    std::stable_sort(all.begin(), all.end(), [&](const remark& one, const remark& other) {
        return gravest_first.find(one.kind) < gravest_first.find(other.kind);
    });
    return all;
}

std::string describe(const record& one) {
    std::string line = one.program + (one.version.empty() ? "" : " " + one.version);
    if (!one.host.name.empty()) line += " on " + one.host.name;
    if (!one.started.empty()) line += ", started " + show_time(one.started);
    line += ", " + show_seconds(one.duration_s);
    if (one.warmup_s > 0) line += ", of which " + show_seconds(one.warmup_s) + " warm-up";
    if (one.ended == stats::run_ending::signal) line += ", ended by a signal";
    return line;
}

}  // namespace postal::report
