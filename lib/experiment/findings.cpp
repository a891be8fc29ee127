#include "experiment/findings.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

namespace postal::experiment {
namespace {

using stats::comparison;
using stats::comparison_verdict;

constexpr const char* unknown = "–";
constexpr std::size_t longest_line = 400;

// From here on a factor says more than a percentage.
constexpr double as_factor = 2;

// A device that answers sooner keeps nothing waiting for a disk.
constexpr double free_flush_s = 100e-6;

// Beyond it a factor only says that nothing is known.
constexpr double largest_factor = 100;

std::string factor_text(double ratio) {
    if (ratio > largest_factor) return fmt::format("> {:g}", largest_factor);
    if (ratio < 1 / largest_factor) return fmt::format("< {:g}", 1 / largest_factor);
    return fmt::format("{:.2f}", ratio);
}

std::string percent(double ratio) {
    return fmt::format("{:+.1f} %", (ratio - 1) * 100);
}

bool is_large(double ratio) {
    return ratio >= as_factor || ratio <= 1 / as_factor;
}

// "12.3 %" or "2.31 times"; of a ratio above 1.
std::string how_much(double ratio) {
    return is_large(ratio) ? factor_text(ratio) + " times"
                           : fmt::format("{:.1f} %", (ratio - 1) * 100);
}

std::string in_quotes(const std::string& name) {
    return "\"" + name + "\"";
}

std::string blocks_word(std::size_t count) {
    return fmt::format("{} block{}", count, count == 1 ? "" : "s");
}

std::string needed(const comparison& one) {
    if (!one.needed_blocks) return "more blocks are needed";
    if (*one.needed_blocks > stats::most_blocks)
        return fmt::format("more than {} blocks would be needed", stats::most_blocks);
    return fmt::format("needs about {}", blocks_word(*one.needed_blocks));
}

std::string what_is_compared(metric about) {
    switch (about) {
        case metric::messages:
            return "";
        case metric::p50:
            return " by its median latency";
        case metric::p99:
            return " by its 99th percentile of latency";
        case metric::cpu:
            return " in processor time a message";
        case metric::written:
            return " in what is written a message";
        case metric::flushes:
            return " in flushes a message";
    }
    return "";
}

// "faster" and "slower" are for speeds; costs are lower or higher.
std::string direction_word(metric about, bool better) {
    if (about == metric::messages) return better ? "faster" : "slower";
    return better ? "lower" : "higher";
}

std::string changed_sentence(const metric_result& of, const comparison& one,
                             const std::string& name, const std::string& baseline) {
    const bool better = one.verdict == comparison_verdict::faster;
    const bool up = *one.ratio > 1;
    const double low = up ? (*one.interval)[0] : 1 / (*one.interval)[1];
    const double high = up ? (*one.interval)[1] : 1 / (*one.interval)[0];
    const double ratio = up ? *one.ratio : 1 / *one.ratio;
    if (is_large(ratio)) {
        return fmt::format(
            "{} is {:.2f} times as {} as {}{} ({:.2f} to {:.2f})", name, ratio,
            of.about == metric::messages ? (better ? "fast" : "slow") : (better ? "low" : "high"),
            baseline, what_is_compared(of.about), low, high);
    }
    // Of something slower the share that is missing.
    const auto share = [up](double each) { return up ? each - 1 : 1 - 1 / each; };
    return fmt::format("{} is {:.1f} % {} than {}{} ({:.1f} to {:.1f} %)", name, share(ratio) * 100,
                       direction_word(of.about, better), baseline, what_is_compared(of.about),
                       share(low) * 100, share(high) * 100);
}

std::string sentence(const results& of, const metric_result& metric, const comparison& one) {
    const std::string name = in_quotes(of.record.variants[one.variant].name);
    const std::string baseline = in_quotes(of.record.variants[one.baseline].name);
    const auto& typical = metric.typical;
    const std::string figures =
        fmt::format("{} against {}", show_value(metric.about, typical[one.variant]),
                    show_value(metric.about, typical[one.baseline]));
    const std::string few = one.few ? "; few blocks" : "";
    switch (one.verdict) {
        case comparison_verdict::faster:
        case comparison_verdict::slower:
            return fmt::format("{}: {}{}", changed_sentence(metric, one, name, baseline), figures,
                               few);
        case comparison_verdict::equivalent:
            return fmt::format(
                "{} and {} are equivalent{}: the difference is less than {:g} % ({}){}", name,
                baseline, what_is_compared(metric.about), of.record.verdict.margin * 100,
                show_ratio(one), few);
        case comparison_verdict::undecided:
            return fmt::format("{} against {} is undecided{} ({}); {}{}", name, baseline,
                               what_is_compared(metric.about), show_ratio(one), needed(one), few);
        case comparison_verdict::none:
            break;
    }
    return fmt::format("{} against {}: no verdict from {}{}", name, baseline,
                       blocks_word(one.blocks),
                       typical[one.variant] && typical[one.baseline] ? "; " + figures : "");
}

std::string probability(const std::optional<double>& value) {
    if (!value) return unknown;
    return *value < 0.0001 ? "< 0.0001" : fmt::format("{:.4f}", *value);
}

std::string detectable(const comparison& one) {
    const bool known = one.smallest_detectable && one.blocks >= stats::fewest_blocks;
    return known ? how_much(*one.smallest_detectable) : unknown;
}

std::vector<std::string> comparison_row(const results& of, const metric_result& metric,
                                        const comparison& one) {
    std::string flipped = unknown;
    if (one.flipped)
        flipped = probability(one.flipped->probability) + (one.flipped->exact ? "" : "~");
    std::string verdict(name_of(one.verdict));
    if (one.few) verdict += ", few";
    return {of.record.variants[one.variant].name,
            show_value(metric.about, metric.typical[one.variant]),
            show_ratio(one),
            metric.table.carries_verdict ? (verdict.empty() ? unknown : verdict) : "exploratory",
            std::to_string(one.blocks),
            std::to_string(one.voided),
            one.blocks >= stats::fewest_blocks ? probability(one.probability) : unknown,
            flipped,
            detectable(one)};
}

std::string share_text(const std::optional<double>& value) {
    return value ? fmt::format("{:.1f} %", *value * 100) : unknown;
}

// What a message cost, of a variant: the mean over its runs that count.
struct mean {
    double sum = 0;
    std::size_t count = 0;
    void add(const std::optional<double>& value) {
        if (!value) return;
        sum += *value;
        ++count;
    }
    [[nodiscard]] double value() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
    [[nodiscard]] std::string text(std::string_view unit) const {
        return count == 0 ? unknown : fmt::format("{:.3g}{}", value(), unit);
    }
};

// A row of the table of costs: its name, and what one run says, which knows what it spent.
struct cost_figure {
    std::string name;
    std::string unit;
    std::function<std::optional<double>(const measured_run& run, double messages)> value;
    double least = 0;  // left out where no variant has more
};

// The storage's device may have another number in each run.
constexpr const char* storage_name = "storage";

std::string name_of(const device_costs& one, const recorded_run& run) {
    const auto& own = run.devices;
    return std::find(own.begin(), own.end(), one.name) == own.end() ? one.name : storage_name;
}

const device_costs* device_of(const measured_run& run, const std::string& name) {
    const auto& all = run.spent->devices;
    const auto found = std::find_if(all.begin(), all.end(), [&](const device_costs& one) {
        return name_of(one, run.run) == name;
    });
    return found == all.end() ? nullptr : &*found;
}

cost_figure machine_figure(std::string name, std::optional<double> costs::*amount, double factor,
                           std::string unit) {
    return {std::move(name), std::move(unit),
            [amount, factor](const measured_run& run, double messages) -> std::optional<double> {
                const std::optional<double>& all = *run.spent.*amount;
                return all ? std::optional(*all * factor / messages) : std::nullopt;
            }};
}

cost_figure device_figure(const std::string& device, std::string name,
                          std::optional<double> device_costs::*amount, bool a_message,
                          double factor, std::string unit) {
    return {device + ": " + name, std::move(unit),
            [=](const measured_run& run, double messages) -> std::optional<double> {
                const device_costs* one = device_of(run, device);
                if (one == nullptr || !(one->*amount)) return std::nullopt;
                return *(one->*amount) * factor / (a_message ? messages : 1);
            }};
}

constexpr double least_program_ms = 0.01;

cost_figure program_figure(const std::string& program) {
    return {program + ": processor time", " ms",
            [program](const measured_run& run, double messages) -> std::optional<double> {
                for (const program_costs& one : run.spent->programs)
                    if (one.name == program && one.cpu_s) return *one.cpu_s * 1e3 / messages;
                return std::nullopt;
            },
            least_program_ms};
}

// Devices and programs that any run has, in the order in which they come up.
std::vector<cost_figure> cost_figures(const results& of) {
    std::vector<cost_figure> all{
        machine_figure("processors, user", &costs::user_s, 1e3, " ms"),
        machine_figure("processors, system", &costs::system_s, 1e3, " ms"),
        machine_figure("waiting for disks", &costs::iowait_s, 1e3, " ms"),
        machine_figure("stolen by the hypervisor", &costs::steal_s, 1e3, " ms"),
        machine_figure("context switches", &costs::context_switches, 1, ""),
        machine_figure("forks", &costs::forks, 1, "")};
    std::vector<std::string> devices;
    std::vector<std::string> programs;
    const auto note = [](std::vector<std::string>& names, const std::string& one) {
        if (std::find(names.begin(), names.end(), one) == names.end()) names.push_back(one);
    };
    for (const measured_run& run : of.runs) {
        if (!run.spent) continue;
        for (const device_costs& one : run.spent->devices)
            note(devices, name_of(one, run.run));
        for (const program_costs& one : run.spent->programs)
            note(programs, one.name);
    }
    for (const std::string& one : devices) {
        all.push_back(device_figure(one, "writes", &device_costs::writes, true, 1, ""));
        all.push_back(device_figure(one, "written", &device_costs::written_kib, true, 1, " KiB"));
        all.push_back(device_figure(one, "flushes", &device_costs::flushes, true, 1, ""));
        all.push_back(
            device_figure(one, "mean flush", &device_costs::mean_flush_ms, false, 1, " ms"));
        all.push_back(device_figure(one, "reads", &device_costs::reads, true, 1, ""));
        all.push_back(device_figure(one, "busy", &device_costs::busy, false, 100, " %"));
        all.push_back(
            device_figure(one, "requests under way", &device_costs::mean_queue, false, 1, ""));
    }
    for (const std::string& one : programs)
        all.push_back(program_figure(one));
    return all;
}

}  // namespace

std::string_view name_of(comparison_verdict one) {
    switch (one) {
        case comparison_verdict::none:
            return "";
        case comparison_verdict::equivalent:
            return "equivalent";
        case comparison_verdict::faster:
            return "faster";
        case comparison_verdict::slower:
            return "slower";
        case comparison_verdict::undecided:
            return "undecided";
    }
    return "";
}

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
    switch (one) {
        case metric::messages:
            return "messages/min";
        case metric::p50:
            return "median latency";
        case metric::p99:
            return "99th percentile of latency";
        case metric::cpu:
            return "processor time a message";
        case metric::written:
            return "written a message";
        case metric::flushes:
            return "flushes a message";
    }
    return "";
}

std::string show_value(metric about, const std::optional<double>& value) {
    if (!value) return unknown;
    switch (about) {
        case metric::messages: {
            const double a_minute = *value * 60;
            if (a_minute < 100) return fmt::format("{:.1f}/min", a_minute);
            return base::format_count(static_cast<std::uint64_t>(std::llround(a_minute))) + "/min";
        }
        case metric::p50:
        case metric::p99:
            return base::format_latency(
                std::chrono::nanoseconds(std::llround(std::min(*value, 1e12) * 1e3)));
        case metric::cpu:
            return fmt::format("{:.3g} ms", *value);
        case metric::written:
            return fmt::format("{:.3g} KiB", *value);
        case metric::flushes:
            return fmt::format("{:.3g}", *value);
    }
    return unknown;
}

std::string show_ratio(const comparison& one) {
    if (!one.ratio) return unknown;
    // From fewer blocks there is no verdict, and an interval would be as wide as anything.
    const bool has_interval = one.interval && one.blocks >= stats::fewest_blocks;
    const bool factor =
        is_large(*one.ratio) ||
        (has_interval && (is_large((*one.interval)[0]) || is_large((*one.interval)[1])));
    const auto show = [factor](double ratio) {
        return factor ? factor_text(ratio) : percent(ratio);
    };
    const std::string all = show(*one.ratio) + (factor ? " times" : "");
    if (!has_interval) return all;
    return fmt::format("{} ({} to {})", all, show((*one.interval)[0]), show((*one.interval)[1]));
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

std::vector<remark> remarks(const results& of, const analysis& found) {
    std::vector<remark> all;
    const stats::experiment_result& compared = found.verdict().compared;
    if (compared.voided && compared.same) {
        all.push_back(
            {"bad", fmt::format("The verdicts do not count: {} and {} are the same and were told "
                                "apart ({}), so something else than the variants made a difference",
                                in_quotes(of.record.variants[compared.same->variant].name),
                                in_quotes(of.record.variants[compared.same->baseline].name),
                                show_ratio(*compared.same))});
    }
    for (const std::string& one : of.damaged)
        all.push_back({"bad", one});
    for (const block_result& one : found.blocks) {
        if (!one.voided.empty())
            all.push_back({"bad", fmt::format("Block {} is voided: {}", one.number, one.voided)});
    }
    if (of.record.ended.empty()) all.push_back({"note", "The experiment has not ended"});
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
    return fmt::format(
        "{}: {} ({} voided) of {} variant{}, runs of {:g} s of which {:g} s are left out, on {} "
        "({}), "
        "started {}",
        record.title.empty() ? record.file : record.title, blocks_word(found.blocks.size()), voided,
        record.variants.size(), record.variants.size() == 1 ? "" : "s", record.duration_s,
        record.warmup_s, record.host.name, record.host.kernel, record.started);
}

report::table metric_table(const results& of, const analysis&, const metric_result& one) {
    const std::string program =
        of.record.programs.size() > 1 ? of.record.programs[one.program] + ": " : "";
    // Unique on a page, also with several programs.
    const std::string name = fmt::format(
        "{}{}", name_of(one.about), one.program > 0 ? fmt::format("-{}", one.program + 1) : "");
    report::table made{name,
                       program + title_of(one.about),
                       report::numbers({"", "typical", "against the first", "verdict", "blocks",
                                        "voided", "p (t)", "p (signs)", "shows from"}),
                       {}};
    made.columns[0].side = report::align::left;
    made.columns[2].side = report::align::left;
    made.columns[3].side = report::align::left;
    const std::string baseline = of.record.variants.front().name;
    made.rows.push_back({baseline, show_value(one.about, one.typical.front()), "baseline", unknown,
                         unknown, unknown, unknown, unknown, unknown});
    for (const comparison& each : one.compared.comparisons)
        made.rows.push_back(comparison_row(of, one, each));
    if (one.compared.same) {
        auto row = comparison_row(of, one, *one.compared.same);
        row[0] += " (A/A)";
        made.rows.push_back(std::move(row));
    }
    if (!one.compared.comparisons.empty()) {
        const std::size_t count = one.compared.comparisons.size();
        made.note = fmt::format(
            "intervals at {:.4g} %{}; shows from: the smallest difference that would show in 4 "
            "of 5 such experiments",
            one.compared.comparisons.front().level * 100,
            count > 1 ? fmt::format(" for each of {} comparisons", count) : "");
    }
    return made;
}

report::table verdict_table(const results& of, const analysis& found) {
    report::table made = metric_table(of, found, found.verdict());
    made.name = "verdict";
    return made;
}

report::table cost_table(const results& of, const analysis&) {
    report::table made{"costs", "What a message cost", {{""}}, {}};
    for (const recorded_variant& one : of.record.variants)
        made.columns.push_back({one.name, report::align::right});
    for (const cost_figure& figure : cost_figures(of)) {
        std::vector<mean> means(of.record.variants.size());
        for (const measured_run& run : of.runs) {
            if (!run.spent || !run.voids.empty()) continue;
            double messages = 0;
            for (const load_values& one : run.loads)
                messages += one.messages;
            means[run.run.at.variant].add(figure.value(run, messages));
        }
        std::vector<std::string> row{figure.name};
        bool known = false;
        for (const mean& one : means) {
            row.push_back(one.text(figure.unit));
            known = known || one.value() > figure.least;
        }
        if (known) made.rows.push_back(std::move(row));
    }
    made.note = fmt::format(
        "means over the runs that count, of the whole machine with its load generator, for each "
        "message of the measured part{}; busy and requests under way are of the time",
        of.record.programs.size() > 1 ? ", of all load programs together" : "");
    return made;
}

report::table block_table(const results& of, const analysis& found) {
    report::table made{"blocks", "Blocks: " + title_of(found.verdict().about), {{"block"}}, {}};
    for (const recorded_variant& one : of.record.variants)
        made.columns.push_back({one.name, report::align::right});
    made.columns.push_back({""});
    for (std::size_t i = 0; i < found.blocks.size(); ++i) {
        std::vector<std::string> row{std::to_string(found.blocks[i].number)};
        for (const auto& value : found.verdict().table.blocks[i].values)
            row.push_back(show_value(found.verdict().about, value));
        row.push_back(found.blocks[i].voided.empty() ? "" : "voided: " + found.blocks[i].voided);
        made.rows.push_back(std::move(row));
    }
    return made;
}

report::table run_table(const results& of) {
    report::table made{
        "runs",
        "Runs, in their order",
        report::numbers({"block", "variant", "started", "state", "flush", "caches", "mounted"}),
        {}};
    for (std::size_t i = 1; i < made.columns.size(); ++i)
        made.columns[i].side = report::align::left;
    for (const recorded_run& one : of.record.runs) {
        std::string state(name_of(one.end));
        if (!one.reason.empty()) state += ": " + one.reason;
        made.rows.push_back(
            {std::to_string(one.at.block), of.record.variants[one.at.variant].name, one.started,
             state,
             one.flush_median_s ? fmt::format("{:.3g} ms", *one.flush_median_s * 1e3) : unknown,
             one.caches.empty() ? unknown : one.caches,
             one.mounted.empty() ? unknown : one.mounted});
    }
    return made;
}

report::table variant_table(const results& of) {
    report::table made{
        "variants", "Variants, and in what they differ", {{"name"}, {"variables"}}, {}};
    const auto& all = of.record.variants;
    const auto differs = [&](std::size_t index) {
        return std::any_of(all.begin(), all.end(), [&](const recorded_variant& one) {
            return one.values.size() <= index || one.values[index] != all.front().values[index];
        });
    };
    for (const recorded_variant& one : all) {
        std::vector<std::string> values;
        if (one.same_as) values.push_back("the same as " + in_quotes(all[*one.same_as].name));
        for (std::size_t i = 0; i < one.values.size() && i < all.front().values.size(); ++i)
            if (!one.same_as && differs(i))
                values.push_back(one.values[i].first + "=" + one.values[i].second);
        made.rows.push_back({one.name, base::join(values, ", ")});
    }
    return made;
}

report::table setting_table(const results& of) {
    const experiment_record& record = of.record;
    report::table made{"settings", "How to repeat it", {{""}, {""}}, {}};
    const auto add = [&](std::string name, std::string value) {
        if (!value.empty()) made.rows.push_back({std::move(name), std::move(value)});
    };
    add("experiment", record.file);
    add("command", base::join(record.argv, " "));
    add("seed", std::to_string(record.seed));
    add("blocks planned", std::to_string(record.blocks));
    if (record.until_width) add("ended at a width of", share_text(record.until_width));
    add("margin", fmt::format("{:g} %", record.verdict.margin * 100));
    add("confidence",
        fmt::format("{:g} %, of all comparisons together", record.verdict.confidence * 100));
    add("host", fmt::format("{}, {}, {} processors, {}", record.host.name, record.host.kernel,
                            record.host.cpus, base::format_size(record.host.memory_bytes)));
    for (const auto& [name, value] : record.versions)
        add(name, value);
    add("started", record.started);
    add("ended", record.ended.empty() ? "not yet" : record.ended + ", " + record.end);
    return made;
}

std::vector<report::table> tables(const results& of, const analysis& found) {
    std::vector<report::table> all{verdict_table(of, found), cost_table(of, found)};
    for (std::size_t i = 1; i < found.metrics.size(); ++i)
        all.push_back(metric_table(of, found, found.metrics[i]));
    all.push_back(block_table(of, found));
    all.push_back(variant_table(of));
    all.push_back(run_table(of));
    all.push_back(setting_table(of));
    std::erase_if(all, [](const report::table& one) { return one.rows.empty(); });
    return all;
}

std::string render_text(const results& of, const analysis& found, detail wanted) {
    std::string out;
    for (const std::string& one : verdict_sentences(of, found))
        out += base::printable(one, longest_line) + ".\n";
    for (const remark& one : remarks(of, found))
        out += "! " + base::printable(one.text, longest_line) + ".\n";
    out += base::printable(describe(of, found), longest_line) + "\n";
    const auto shown = wanted == detail::all
                           ? tables(of, found)
                           : std::vector{verdict_table(of, found), cost_table(of, found)};
    for (const report::table& one : shown)
        if (!one.rows.empty()) out += "\n" + report::render_text(one);
    return out;
}

std::string render_markdown(const results& of, const analysis& found) {
    std::string out =
        "# " + report::escape_markdown(of.record.title.empty() ? of.record.file : of.record.title) +
        "\n\n";
    for (const std::string& one : verdict_sentences(of, found))
        out += "- **" + report::escape_markdown(one) + ".**\n";
    for (const remark& one : remarks(of, found))
        out += "\n> **" + report::escape_markdown(one.text) + ".**\n";
    out += "\n" + report::escape_markdown(describe(of, found)) + "\n";
    for (const report::table& one : tables(of, found))
        out += "\n" + report::render_markdown(one);
    return out;
}

}  // namespace postal::experiment
