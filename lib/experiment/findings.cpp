// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/findings.hpp"

#include "base/digits.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/capacity.hpp"
#include "experiment/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

namespace postal::experiment {
namespace {

using stats::comparison;
using stats::comparison_verdict;

constexpr std::size_t most_open_rows = 30;  // of a table on a page

// A device that answers sooner keeps nothing waiting for a disk.
constexpr double free_flush_s = 100e-6;

std::string needed(const comparison& one) {
    if (!one.blocks_as_seen || !one.needed_blocks) return "more blocks are needed";
    const std::string too_many = fmt::format("more than {}", stats::most_blocks);
    if (*one.blocks_as_seen > stats::most_blocks) return too_many + " blocks would be needed";
    return fmt::format("needs about {} if the difference is what it seems, {} whatever it is",
                       base::format_amount(*one.blocks_as_seen, "block"),
                       *one.needed_blocks > stats::most_blocks
                           ? too_many
                           : fmt::format("about {}", *one.needed_blocks));
}

std::string what_is_compared(const results& of, metric which) {
    const char* text = described(which).compared;
    return which == metric::capacity ? fmt::format("{} at {}", text, promises_of(of)) : text;
}

// "carries 31.0 % more than", and the same for less; of a large difference as a factor.
std::string carried_sentence(const results& of, const comparison& one, const std::string& name,
                             const std::string& baseline) {
    const double low = (*one.interval)[0];
    const double high = (*one.interval)[1];
    const std::string promised = promises_of(of);
    if (is_large(*one.ratio))
        return fmt::format("{} carries {:.2f} times as much as {} at {} ({:.2f} to {:.2f})", name,
                           *one.ratio, baseline, promised, low, high);
    const bool more = *one.ratio > 1;
    const auto share = [more](double each) { return (more ? each - 1 : 1 - each) * 100; };
    return fmt::format("{} carries {:.1f} % {} than {} at {} ({:.1f} to {:.1f} %)", name,
                       share(*one.ratio), more ? "more" : "less", baseline, promised,
                       share(more ? low : high), share(more ? high : low));
}

// "faster" and "slower" are for speeds; costs are lower or higher.
std::string direction_word(metric about, bool better) {
    if (about == metric::messages) return better ? "faster" : "slower";
    return better ? "lower" : "higher";
}

std::string changed_sentence(const results& all, const metric_result& of, const comparison& one,
                             const std::string& name, const std::string& baseline) {
    if (of.about == metric::capacity) return carried_sentence(all, one, name, baseline);
    const bool better = one.verdict == comparison_verdict::faster;
    const bool up = *one.ratio > 1;
    const double low = up ? (*one.interval)[0] : 1 / (*one.interval)[1];
    const double high = up ? (*one.interval)[1] : 1 / (*one.interval)[0];
    const double ratio = up ? *one.ratio : 1 / *one.ratio;
    if (is_large(ratio)) {
        return fmt::format(
            "{} is {:.2f} times as {} as {}{} ({:.2f} to {:.2f})", name, ratio,
            of.about == metric::messages ? (better ? "fast" : "slow") : (better ? "low" : "high"),
            baseline, what_is_compared(all, of.about), low, high);
    }
    // Of something slower the share that is missing.
    const auto share = [up](double each) { return up ? each - 1 : 1 - 1 / each; };
    return fmt::format("{} is {:.1f} % {} than {}{} ({:.1f} to {:.1f} %)", name, share(ratio) * 100,
                       direction_word(of.about, better), baseline, what_is_compared(all, of.about),
                       share(low) * 100, share(high) * 100);
}

// Of a pair of which somebody was never told: no ratio can say that.
std::string never_sentence(const results& of, const metric_result& metric, const comparison& one) {
    const std::string name = in_quotes(of.record.variants[one.variant].name);
    const std::string baseline = in_quotes(of.record.variants[one.baseline].name);
    const std::string counts =
        fmt::format("never in {} of {} of {}, and in {} of {}", one.never.variant, one.never.blocks,
                    name, one.never.baseline, baseline);
    const std::string few = one.few ? "; few blocks" : "";
    const std::string what = what_is_compared(of, metric.about);
    if (one.verdict == comparison_verdict::slower)
        return fmt::format("{} is worse than {}{}: {}{}", name, baseline, what, counts, few);
    if (one.verdict == comparison_verdict::faster)
        return fmt::format("{} is better than {}{}: {}{}", name, baseline, what, counts, few);
    if (one.verdict == comparison_verdict::undecided)
        return fmt::format("{} against {} is undecided{}: {}; more blocks are needed{}", name,
                           baseline, what, counts, few);
    return fmt::format("{} against {}{}: no verdict from {}; {}", name, baseline, what,
                       base::format_amount(one.blocks, "block"), counts);
}

std::string sentence(const results& of, const metric_result& metric, const comparison& one) {
    const std::string name = in_quotes(of.record.variants[one.variant].name);
    const std::string baseline = in_quotes(of.record.variants[one.baseline].name);
    const auto& typical = metric.typical;
    const std::string figures =
        fmt::format("{} against {}", show_value(metric.about, typical[one.variant]),
                    show_value(metric.about, typical[one.baseline]));
    const std::string few = one.few ? "; few blocks" : "";
    if (metric.compared.voided)
        return fmt::format("{} against {}{}: no verdict counts {}; {}", name, baseline,
                           what_is_compared(of, metric.about), ratio_in_brackets(one), figures);
    if (one.never.any()) return never_sentence(of, metric, one);
    switch (one.verdict) {
        case comparison_verdict::faster:
        case comparison_verdict::slower:
            return fmt::format("{}: {}{}", changed_sentence(of, metric, one, name, baseline),
                               figures, few);
        case comparison_verdict::equivalent:
            return fmt::format(
                "{} and {} are equivalent{}: the difference is less than {:g} % {}{}", name,
                baseline, what_is_compared(of, metric.about), of.record.verdict.margin * 100,
                ratio_in_brackets(one), few);
        case comparison_verdict::undecided:
            return fmt::format("{} against {} is undecided{} {}; {}{}", name, baseline,
                               what_is_compared(of, metric.about), ratio_in_brackets(one),
                               needed(one), few);
        case comparison_verdict::none:
            break;
    }
    return fmt::format("{} against {}: no verdict from {}{}", name, baseline,
                       base::format_amount(one.blocks, "block"),
                       typical[one.variant] && typical[one.baseline] ? "; " + figures : "");
}

}  // namespace

std::string verdict_on(std::string_view name, const experiment_record& record,
                       const analysis& found) {
    const stats::experiment_result& compared = found.verdict().compared;
    const auto word = [&](const comparison& one) {
        const bool none = one.verdict == comparison_verdict::none || compared.voided;
        return std::string(none ? "none" : name_of(one.verdict));
    };
    for (const comparison& one : compared.comparisons)
        if (record.variants[one.variant].name == name) return word(one);
    // A twin carries no verdict; whether it was told apart is asked for all the same.
    if (compared.same && record.variants[compared.same->variant].name == name)
        return std::string(compared.same->verdict == comparison_verdict::none
                               ? "none"
                               : name_of(compared.same->verdict));
    return "none";
}

std::string title_of(metric one) {
    return described(one).title;
}

namespace {

// The ratio, and its interval where there is one.
std::pair<std::string, std::string> ratio_texts(const comparison& one) {
    if (one.never.any())
        return {fmt::format("never in {} of {}, of the other in {}", one.never.variant,
                            base::format_amount(one.never.blocks, "block"), one.never.baseline),
                ""};
    if (!one.ratio) return {unknown, ""};
    // From fewer blocks there is no verdict, and an interval would be as wide as anything.
    const bool has_interval = one.interval && one.blocks >= stats::fewest_blocks;
    const bool factor =
        is_large(*one.ratio) ||
        (has_interval && (is_large((*one.interval)[0]) || is_large((*one.interval)[1])));
    const auto show = [factor](double ratio) {
        return factor ? factor_text(ratio) : percent(ratio);
    };
    const std::string all = show(*one.ratio) + (factor ? " times" : "");
    if (!has_interval) return {all, ""};
    return {all, fmt::format("{} to {}", show((*one.interval)[0]), show((*one.interval)[1]))};
}

}  // namespace

std::string show_ratio(const comparison& one) {
    const auto [ratio, interval] = ratio_texts(one);
    return interval.empty() ? ratio : fmt::format("{} ({})", ratio, interval);
}

std::string ratio_in_brackets(const comparison& one) {
    const auto [ratio, interval] = ratio_texts(one);
    return interval.empty() ? fmt::format("({})", ratio) : fmt::format("({}, {})", ratio, interval);
}

std::vector<std::string> verdict_sentences(const results& of, const analysis& found) {
    std::vector<std::string> all;
    const metric_result& metric = found.verdict();
    for (const comparison& one : metric.compared.comparisons)
        all.push_back(sentence(of, metric, one));
    if (all.empty())
        all.push_back(fmt::format("{}: {}", in_quotes(of.record.variants.front().name),
                                  show_value(metric.about, metric.typical.front())));
    return all;
}

std::vector<std::string> gate_sentences(const results& of, const analysis& found) {
    std::vector<std::string> all;
    for (const gate_finding& one : found.gates)
        all.push_back(gate_sentence(one, of.record, found));
    return all;
}

namespace {

// Readers that went away are their variant's, and no reason to leave its run out.
void add_untold(std::vector<remark>& to, const results& of, const analysis& found) {
    std::size_t runs = 0;
    const measured_run* first = nullptr;
    for (const measured_run& one : of.runs) {
        if (one.untold.empty() || !is_counted(one, found)) continue;
        ++runs;
        if (first == nullptr) first = &one;
    }
    if (first == nullptr) return;
    to.push_back(
        {"limit",
         fmt::format("In {} of {} runs readers that wait went wrong, and count all "
                     "the same: what they were not told of is never (block {}, {}, "
                     "{})",
                     runs, of.runs.size(), first->run.at.block,
                     in_quotes(of.record.variants[first->run.at.variant].name), first->untold)});
}

}  // namespace

std::vector<remark> remarks(const results& of, const analysis& found) {
    std::vector<remark> all;
    const std::string& end = of.record.end;
    if (of.record.ended.empty())
        all.push_back({"note", "The experiment has not ended"});
    else if (end == narrow_enough)
        all.push_back({"limit",
                       "The experiment was ended when its intervals happened to be narrow, so they "
                       "hold the truth less often than they say"});
    else if (!end.empty() && end != all_blocks_done && end != enough_for_width)
        all.push_back(
            {"note", "The experiment did not come to its end: " + base::printable(end, 100)});
    const stats::experiment_result& compared = found.verdict().compared;
    if (compared.voided && compared.same) {
        all.push_back(
            {"bad", fmt::format("The verdicts do not count: {} and {} are the same and were told "
                                "apart {}, so something else than the variants made a difference",
                                in_quotes(of.record.variants[compared.same->variant].name),
                                in_quotes(of.record.variants[compared.same->baseline].name),
                                ratio_in_brackets(*compared.same))});
    }
    for (const std::string& one : of.damaged)
        all.push_back({"bad", one});
    for (remark& one : block_remarks(of, found))
        all.push_back(std::move(one));
    for (const block_result& one : found.blocks) {
        if (!one.voided.empty())
            all.push_back({"bad", fmt::format("Block {} is voided: {}", one.number, one.voided)});
    }
    if (found.at_rate > 0 && of.record.verdict.about == metric::messages)
        all.push_back(
            {"limit", fmt::format("In {} of {} runs {} reached the rate that it was given: "
                                  "messages/min are what was asked for there, not what a "
                                  "variant can do",
                                  found.at_rate, of.runs.size(),
                                  of.record.programs[of.record.verdict.program])});
    if (found.machine_full > 0)
        all.push_back({"limit", fmt::format("In {} of {} runs the machine was shared and full: the "
                                            "figures are about server and load generator together",
                                            found.machine_full, of.runs.size())});
    if (found.held_back > 0)
        all.push_back(
            {"limit", fmt::format("In {} of {} runs the load generator was held back by its "
                                  "CPU quota, or stopped: the figures are about that, too",
                                  found.held_back, of.runs.size())});
    add_untold(all, of, found);
    if (found.with_fewer_sessions > 0)
        all.push_back(
            {"limit",
             fmt::format(
                 "In {} of {} runs fewer sessions waited than were asked for, down to {:.0f} "
                 "% of them: what is said of 1,000 sessions is of those that were open",
                 found.with_fewer_sessions, of.runs.size(),
                 std::floor(found.least_share_open * 100))});
    if (found.flush_median_s && *found.flush_median_s < free_flush_s)
        all.push_back(
            {"note", fmt::format("A flush takes {:.0f} us here (median), so nothing waits "
                                 "for a disk: what options that save flushes gain on a "
                                 "real disk does not show",
                                 *found.flush_median_s * 1e6)});
    if (found.drift && found.drift->shown())
        all.push_back({"note", fmt::format("From the first run to the last all variants together "
                                           "went {} ({} to {}); their order was random, so the "
                                           "comparisons stand",
                                           percent(1 + found.drift->change),
                                           percent(1 + found.drift->interval[0]),
                                           percent(1 + found.drift->interval[1]))});
    for (std::size_t variant = 0; variant < found.warmups.size(); ++variant) {
        const auto& check = found.warmups[variant];
        if (!check || !check->too_short) continue;
        all.push_back({"note", fmt::format("The warm-up is too short for {}: it settles after {} "
                                           "intervals, and behind them the rate is {}",
                                           in_quotes(of.record.variants[variant].name),
                                           check->settles.intervals, percent(1 + check->change))});
    }
    return all;
}

std::string describe(const results& of, const analysis& found) {
    const experiment_record& record = of.record;
    const std::size_t voided = found.voided();
    const std::string runs = record.verdict.about == metric::capacity
                                 ? fmt::format("searches of {:g} s at most", record.duration_s)
                                 : fmt::format("runs of {:g} s of which {:g} s are left out",
                                               record.duration_s, record.warmup_s);
    return fmt::format("{}: {} ({} voided) of {}, {}, on {} ({}), started {}",
                       record.title.empty() ? record.file : record.title,
                       base::format_amount(found.blocks.size(), "block"), voided,
                       base::format_amount(record.variants.size(), "variant"), runs,
                       record.host.name, record.host.kernel, record.started);
}

namespace {

void add_told(report::document& to, const results& of, const analysis& found) {
    auto sentences = told_sentences(of, found);
    if (!sentences.empty())
        to.add(report::findings{.id = "told", .sentences = std::move(sentences)});
}

void add_gates(report::document& to, const results& of, const analysis& found) {
    if (!found.gates.empty())
        to.add(report::findings{.id = "gates", .sentences = gate_sentences(of, found)});
}

// Probabilities and how many blocks they come from.
bool has_statistics(const report::table& one) {
    return std::any_of(one.columns.begin(), one.columns.end(),
                       [](const report::column& each) { return each.title == "p (t)"; });
}

}  // namespace

namespace {

void add_growths(report::document& made, const results& of, const analysis& found) {
    const bool counts = !found.verdict().compared.voided;
    std::vector<std::string> said = growth_sentences(of, found);
    if (!said.empty())
        made.add(report::findings{.id = "growth", .sentences = std::move(said), .counts = counts});
}

}  // namespace

// "sort grows as n^1.02 (0.98 to 1.06), n: messages"
std::vector<std::string> growth_sentences(const results& of, const analysis& found) {
    std::vector<std::string> all;
    for (const growth_result& one : found.growths) {
        const bool several = of.record.programs.size() > 1;
        std::string text = fmt::format("{}{} grows as n^{:.2f}",
                                       several ? of.record.programs[one.program] + ": " : "",
                                       one.what, one.found.exponent);
        text += one.found.interval ? fmt::format(" ({:.2f} to {:.2f})", (*one.found.interval)[0],
                                                 (*one.found.interval)[1])
                                   : std::string(", of one block");
        all.push_back(std::move(text));
    }
    if (!all.empty()) all.front() += fmt::format("; n is {}", in_quotes(of.record.verdict.size));
    return all;
}

report::document document_of(const results& of, const analysis& found, report::medium wanted) {
    const bool counts = !found.verdict().compared.voided;
    report::document made{of.record.title.empty() ? of.record.file : of.record.title};
    report::findings said{
        .id = "verdicts", .sentences = verdict_sentences(of, found), .counts = counts};
    std::vector<report::remark> noted = remarks(of, found);
    // The first one says so when no verdict counts.
    if (!counts && !noted.empty()) noted.front().loud = true;
    const bool remarks_first = wanted == report::medium::page && !counts;
    if (remarks_first) made.add_remarks(std::exchange(noted, {}));
    made.add(std::move(said));
    add_told(made, of, found);
    add_growths(made, of, found);
    add_gates(made, of, found);
    made.add_remarks(std::move(noted));
    made.add(report::statement{describe(of, found)});
    for (report::table& one : tables(of, found)) {
        // What a verdict rests on is for who looks for it; the verdicts themselves stand on top.
        const bool is_folded = one.rows.size() > most_open_rows ||
                               (wanted == report::medium::page && has_statistics(one));
        made.add(report::placed_table{std::move(one),
                                      is_folded ? report::place::folded : report::place::open});
    }
    return made;
}

report::document brief_document_of(const results& of, const analysis& found) {
    report::document made{of.record.title};
    made.add(report::findings{.id = "verdicts", .sentences = verdict_sentences(of, found)});
    add_told(made, of, found);
    add_growths(made, of, found);
    add_gates(made, of, found);
    made.add_remarks(remarks(of, found));
    made.add(report::statement{describe(of, found)});
    made.add_tables({verdict_table(of, found), cost_table(of, found)});
    return made;
}

}  // namespace postal::experiment
