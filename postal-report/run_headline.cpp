// SPDX-License-Identifier: GPL-3.0-or-later
// What stands on top of a page about runs: the result in large type, and what became of the
// messages.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/digits.hpp"
#include "base/units.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/run.hpp"
#include "postal-report/search.hpp"
#include "postal-report/words.hpp"

namespace postal::report {

namespace {

constexpr std::uint64_t enough = 10;  // intervals for a spread, and seconds for one in their place

std::string confidence_line(const record& one) {
    const message_rate& rate = one.rate;
    const message_rate& by_second = one.rate_by_second;
    if (!rate.mean) return "the record has no rate";
    if (rate.count < enough && by_second.count >= enough)
        return spread_text(by_second, stretches_text(one, "whole seconds"), "/s") +
               mean_text(by_second, measured_text(by_second, &message_rate::mean) + "/s ", "/s");
    if (rate.count == 0) return "over the time measured, without one whole interval";
    return spread_text(rate, "whole intervals", "") + mean_text(rate, "", "");
}

std::string_view kind_title(const record& one, const counter& kind) {
    return kind.name == "messages" ? counted_word(one) : kind.title;
}

std::vector<part> parts_of(const record& one) {
    const auto kinds = counters_of(one.counters, counter_kind::outcome);
    std::vector<part> made;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
        made.push_back({std::string(kind_title(one, kinds[kind])), one.totals.*kinds[kind].value,
                        kind, is_counted(one, kinds[kind])});
    return made;
}

// What mail was when it was looked at; none where nobody has.
std::optional<tile> integrity_of(const record& one) {
    const auto& of = one.totals;
    const std::uint64_t checked = of.verified + of.corrupt;
    if (checked == 0 && of.duplicate == 0) return std::nullopt;
    const std::string counted = base::format_count(checked) + " checked";
    std::string wrong;
    for (const auto& [count, word] :
         {std::pair{of.corrupt, "corrupt"}, {of.duplicate, "duplicate"}})
        if (count > 0) wrong += fmt::format("{} {}, ", base::format_count(count), word);
    if (!wrong.empty()) return tile{.name = "integrity", .value = wrong + counted, .bad = true};
    return tile{.name = "integrity", .value = "all whole, " + counted, .good = true};
}

result_card card_of(const record& one) {
    result_card made{stats::measured_text(one.rate, &message_rate::mean), "messages/min",
                     confidence_line(one)};
    if (one.search) {
        const auto stands = found_in(one);
        made.value = stands.rate ? base::format_measured(*stands.rate) : unknown;
        made.unit = one.search->unit + "/s";
        made.note = one.search->sentence;
    }
    const auto add = [&](std::string_view name, std::string value, bool bad = false) {
        made.tiles.push_back({std::string(name), std::move(value), bad});
    };
    if (auto found = integrity_of(one)) made.tiles.push_back(std::move(*found));
    add("latency p50", show_latency(one.main_phase(), &phase::p50));
    add("latency p99", show_latency(one.main_phase(), &phase::p99));
    add(counted_word(one), base::format_count(one.totals.messages));
    add("errors", base::format_count(one.totals.error_events), one.totals.error_events > 0);
    add("data", show_per_second(one, &stats::counts::bytes));
    if (one.under_load && one.under_load->per_second)
        add("under load", show_number(*one.under_load->per_second * 60) + " /min");
    // What a program of another purpose than sending is asked for first.
    if (reads_mail(one)) add("deleted", base::format_count(one.totals.deleted));
    for (const stats::sampled_source& each : one.samples)
        if (const auto* queue = each.waiting(); queue != nullptr && queue->highest)
            add("waiting, at most", stats::sample_text(*queue->highest));
    if (one.agents) add("agents", base::format_count(one.agents->started));
    made.parts = parts_of(one);
    return made;
}

std::string warning_of(const record& one) {
    if (one.generator.limited) return "generator-limited";
    if (one.generator.verdict == generator_verdict::machine_full) return "machine full";
    return one.generator.verdict == generator_verdict::held_back ? "held back" : "";
}

// What a lane's bar is as long as; of a search nothing is but what it found.
std::optional<double> drawn_rate(const record& one) {
    if (!one.search) return one.rate.mean;
    const auto found = found_in(one).rate;
    return found ? std::optional(*found * 60) : std::nullopt;
}

lane lane_of(const record& one, const record& reference, double highest) {
    const auto drawn = drawn_rate(one);
    const bool are_alike = one.search && reference.search
                               ? one.search->unit == reference.search->unit
                               : !one.search && !reference.search;
    if (one.search) {
        const auto stands = found_in(one);
        lane made{.name = one.label,
                  .value = stands.rate ? base::format_measured(*stands.rate) : unknown,
                  .unit = one.search->unit + "/s",
                  .of_longest = highest > 0 ? drawn.value_or(0) / highest : 0.0,
                  .details = {{"search", found_text(one)}}};
        if (&one != &reference && are_alike)
            made.change = show_change(drawn, drawn_rate(reference));
        return made;
    }
    lane made{.name = one.label,
              .value = stats::measured_text(one.rate, &message_rate::mean),
              .unit = "/min",
              .of_longest = highest > 0 ? drawn.value_or(0) / highest : 0.0};
    if (&one != &reference && are_alike) made.change = show_change(drawn, drawn_rate(reference));
    made.details = {{"p50", show_latency(one.main_phase(), &phase::p50)},
                    {"p99", show_latency(one.main_phase(), &phase::p99)},
                    {std::string(counted_word(one)), base::format_count(one.totals.messages)},
                    {"errors", base::format_count(one.totals.error_events)}};
    if (const std::string warning = warning_of(one); !warning.empty())
        made.details.push_back({"", warning});
    return made;
}

}  // namespace

block headline(const std::vector<record>& records) {
    if (records.size() == 1) return card_of(records.front());
    double highest = 0;
    for (const record& one : records)
        highest = std::max(highest, drawn_rate(one).value_or(0));
    const auto searches = [](const record& one) { return one.search.has_value(); };
    lanes made{std::ranges::all_of(records, searches)
                   ? "The highest rate that was found"
                   : fmt::format("Messages {} a minute", counted_word(records)),
               {}};
    for (const record& one : records)
        made.each.push_back(lane_of(one, records.front(), highest));
    return made;
}

}  // namespace postal::report
