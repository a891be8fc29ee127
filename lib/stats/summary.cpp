// The summary, one function a line, put together at the end of the file. A function that has nothing
// to say returns nothing. Colours and terminal codes are left out on purpose, since standard error
// is often a file.
#include "stats/summary.hpp"

#include "base/digits.hpp"
#include "base/units.hpp"
#include "stats/diagnostics.hpp"
#include "stats/latency_table.hpp"
#include "stats/rank_summary.hpp"
#include "stats/sample_words.hpp"

#include <cmath>
#include <string_view>
#include <utility>

namespace postal::stats {
namespace {

constexpr std::size_t shown_kinds = 5;
constexpr double missed_share = 0.01;  // of the time: from here on a cap's latencies leave much out

std::string duration_text(double seconds) {
    if (!std::isfinite(seconds) || seconds <= 0 || seconds > 9e9) return "0s";
    const double digits = seconds < 10 ? 1000 : seconds < 600 ? 10 : 1;
    const double rounded = std::round(seconds * digits) / digits;
    return base::format_duration(std::chrono::nanoseconds{std::llround(rounded * 1e9)});
}

std::string whole(double value) {
    if (!std::isfinite(value)) return "0";
    const std::string text =
        base::format_count(static_cast<std::uint64_t>(std::llround(std::abs(value))));
    return value < -0.5 ? "-" + text : text;
}

std::string row(std::string_view label, std::string_view text) {
    return fmt::format("  {:<12} {}\n", label, text);
}

std::string headline(const run_report& report) {
    const run_description& run = report.description();
    std::string text = fmt::format(
        "{}: {} {} in {}", run.program, base::format_amount(report.totals().messages, "message"),
        run.reads_mail ? "read" : "accepted", duration_text(report.measured_s()));
    if (run.warmup.count() > 0) {
        text += fmt::format(" (after {} of warm-up)", base::format_duration(run.warmup));
    }
    const auto& interrupted = report.end().interrupted;
    if (interrupted && interrupted->early) text += ", interrupted before its end";
    return text + "\n";
}

std::string label_lines(const run_labels& labels) {
    std::string text;
    if (!labels.title.empty()) text += row("title", labels.title);
    if (!labels.note.empty()) text += row("note", labels.note);
    if (!labels.tags.empty()) text += row("tags", tags_text(labels));
    return text;
}

// How far the mean may be off.
std::optional<double> uncertainty(const rate_summary& rate) {
    if (rate.ci95) return (*rate.ci95)[1] - *rate.mean;
    if (!rate.stddev) return std::nullopt;
    return *rate.stddev / std::sqrt(static_cast<double>(rate.count));
}

// "; it fell from 58,000/s to 33,800/s over the run"
std::string over_the_run(const rate_summary& rate, std::string_view unit) {
    if (!rate.trend) return {};
    return fmt::format("; it {} over the run", trend_text(*rate.mean, *rate.trend, unit));
}

std::string rate_text(const run_report& report) {
    const rate_summary rate = report.rate();
    const auto known = uncertainty(rate);
    const auto shown = [&](double per_minute) { return base::format_measured(per_minute, known); };
    std::string text = fmt::format("{} messages/min ({} messages/s)", shown(*rate.mean),
                                   base::format_measured(*rate.mean / 60));
    if (rate.count == 0) return text + ", no whole interval";
    if (rate.count == 1) return text + ", 1 interval";
    text +=
        fmt::format(", {} intervals from {} to {}", rate.count, shown(*rate.min), shown(*rate.max));
    if (rate.ci95 && *rate.mean > 0)
        text += fmt::format("; mean {} at 95 %, within this run",
                            confidence_text((*rate.ci95)[0], (*rate.ci95)[1]));
    return text + over_the_run(rate, "");
}

constexpr std::uint64_t enough = 10;  // seconds for a spread in place of the intervals'

// "18 seconds from 190/s to 220/s; mean 206 ± 2.1/s at 95 %, within this run"; empty where the
// intervals say as much.
std::string by_second_text(const run_report& report) {
    const rate_summary rate = report.seconds().rate();
    const std::uint64_t intervals = report.rate().count;
    if (intervals >= fewest_values || rate.count <= intervals || rate.count < enough) return {};
    if (!(*rate.mean > 0)) return {};
    const auto known = uncertainty(rate);
    const auto shown = [&](double a_second) { return base::format_measured(a_second, known); };
    const double width = report.seconds().width_s();
    const std::string stretches =
        width > 1 ? fmt::format("stretches of {:.0f} s", width) : "seconds";
    std::string text = fmt::format("{} {} from {}/s to {}/s", rate.count, stretches,
                                   shown(*rate.min), shown(*rate.max));
    if (rate.ci95)
        text += fmt::format("; mean {} {}/s at 95 %, within this run", shown(*rate.mean),
                            confidence_text((*rate.ci95)[0], (*rate.ci95)[1]));
    return text + over_the_run(rate, "/s");
}

// "12,345 messages/min (206 messages/s) from 3 s to 43 s"
std::string loaded_text(const loaded_time& loaded) {
    return fmt::format("{} messages/min ({} messages/s) from {:.0f} s to {:.0f} s",
                       base::format_measured(*loaded.per_second * 60),
                       base::format_measured(*loaded.per_second), loaded.start_s, loaded.end_s);
}

// "50.0/s, reached 41.2/s; all sessions busy 31 % of the time; 88 messages behind at the end"
std::string cap_text(const cap_summary& cap, std::string_view what_is_due) {
    std::string text = fmt::format("{}/s, reached {}/s; all sessions busy {:.0f} % of the time",
                                   base::format_measured(cap.asked_per_s),
                                   base::format_measured(cap.reached_per_s), cap.all_busy * 100);
    if (cap.behind > 0)
        text +=
            fmt::format("; {} {} behind at the end", base::format_count(cap.behind), what_is_due);
    if (cap.all_busy >= missed_share)
        text += "\n               whose waits no latency has; --open-loop would show them";
    return text;
}

// "10.0 MiB (1.0 MiB/s)", "12,345 rejected"
std::string counter_text(const counter& one, const run_report& report) {
    const std::uint64_t count = report.totals().counted().*one.value;
    if (one.unit != counter_unit::octets)
        return fmt::format("{} {}", base::format_count(count),
                           report.description().title_of(one, count));
    const double seconds = report.measured_s();
    const auto measured = static_cast<double>(report.measured().*one.value);
    const double per_second = seconds > 0 ? measured / seconds : 0;
    return fmt::format("{} ({})", base::format_size(count), base::format_octet_rate(per_second));
}

// "12 accepted, 3 rejected", "20 connections (5 with TLS)"; empty where none means anything.
std::string counters_text(const run_report& report, counter_kind kind) {
    std::string text;
    for (const counter& one : report.description().counters) {
        if (one.kind != kind || !report.description().has(one)) continue;
        if (one.rare && report.totals().*one.value == 0) continue;
        const std::string piece = counter_text(one, report);
        text += one.part ? " (" + piece + ")" : (text.empty() ? "" : ", ") + piece;
    }
    return text;
}

// "301 due, 121 never begun, 20 begun and not successful"
std::string due_text(const run_report& report) {
    const tally& total = report.totals();
    std::string text = counters_text(report, counter_kind::schedule);
    const std::uint64_t in_vain = total.unserved.count();
    if (in_vain > total.not_started)
        text +=
            fmt::format(", {} begun and not {}", base::format_count(in_vain - total.not_started),
                        report.description().what_counts());
    return text;
}

// "3.20 messages a connection, 1.50 recipients a transaction, 50 % with TLS, at most 20 open at once;
// 35 % of the transactions pipelined"
std::string connections_text(const connection_summary& use) {
    if (!use.messages) return "none";
    std::string text = fmt::format("{:.2f} messages a connection", *use.messages);
    if (use.recipients) text += fmt::format(", {:.2f} recipients a transaction", *use.recipients);
    text += fmt::format(", {:.0f} % with TLS, at most {} open at once", *use.tls * 100,
                        base::format_count(use.most_open));
    if (use.pipelined)
        text += fmt::format("; {:.0f} % of the transactions pipelined", *use.pipelined * 100);
    return text;
}

std::string outcome_text(const run_report& report) {
    return counters_text(report, counter_kind::outcome) + " of " +
           counters_text(report, counter_kind::begun);
}

// "12,345 started, 15.20 s CPU (1.23 ms a delivery), 3 did not end with 0: 2 x 75, 1 x signal 9"
std::string agents_text(const agent_counts& agents) {
    const std::chrono::nanoseconds cpu = agents.user() + agents.system();
    std::string text = fmt::format("{} started, {:.2f} s CPU", base::format_count(agents.started()),
                                   static_cast<double>(cpu.count()) / 1e9);
    if (agents.ended() > 0) {
        text += fmt::format(" ({:.2f} ms a delivery)", static_cast<double>(cpu.count()) / 1e6 /
                                                           static_cast<double>(agents.ended()));
    }
    std::uint64_t other = 0;
    std::size_t kinds = 0;
    std::string list;
    for (const auto& one : agents.exits().sorted()) {
        if (one.name == "0") continue;
        other += one.count;
        if (++kinds > shown_kinds) continue;
        list += fmt::format("{}{} x {}", kinds > 1 ? ", " : "", base::format_count(one.count),
                            one.name);
    }
    if (other == 0) return text;
    if (kinds > shown_kinds) list += fmt::format(", {} other kinds", kinds - shown_kinds);
    return text + fmt::format(", {} did not end with 0: {}", base::format_count(other), list);
}

// "--max-held 12 times, --sessions once"
std::string limits_text(const named_counts& struck) {
    std::string text;
    for (const auto& one : struck.sorted())
        text += fmt::format("{}--{} {}", text.empty() ? "" : ", ", one.name,
                            one.count == 1 ? "once" : base::format_count(one.count) + " times");
    return text;
}

// "OpenSSL 3.0.15: 90 full handshakes, 10 resumed; TLSv1.3; TLS_AES_256_GCM_SHA384"
std::string tls_text(const std::string& library, const tls_counts& tls) {
    std::string text =
        fmt::format("{}: {}, {} resumed", library, base::format_amount(tls.full, "full handshake"),
                    base::format_count(tls.resumed));
    for (const named_counts* counts : {&tls.versions, &tls.ciphers, &tls.groups}) {
        const auto kinds = counts->sorted();
        for (std::size_t i = 0; i < kinds.size() && i < shown_kinds; ++i) {
            text += (i == 0 ? "; " : ", ") + kinds[i].name;
            if (kinds.size() > 1) text += fmt::format(" x {}", base::format_count(kinds[i].count));
        }
    }
    return text;
}

// "12 SCRAM-SHA-256, 3 PLAIN"
std::string authentication_text(const named_counts& counts) {
    std::string text;
    for (const auto& one : counts.sorted()) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", base::format_count(one.count),
                            one.name);
    }
    return text;
}

std::string error_lines(const run_report& report) {
    // A run that never got past its warm-up still has to say what went wrong.
    const error_table& measured = report.totals().errors;
    const error_table& errors = measured.empty() ? report.totals_with_warmup().errors : measured;
    if (errors.empty()) return {};
    const std::string_view when = measured.empty() ? " (all in the warm-up)" : "";
    const auto lines = interval_diagnostics(errors, shown_kinds);
    if (lines.size() == 1) return fmt::format("\n  errors: {}{}\n", lines.front(), when);
    std::string text = fmt::format("\n  errors: {}{}\n", base::format_count(errors.total()), when);
    for (const auto& line : lines)
        text += "    " + line + "\n";
    return text;
}

std::string generator_text(const run_report& report) {
    const generator_summary generator = report.generator();
    if (generator.limited) return "LIMITED: " + generator.reason;
    if (generator.verdict == generator_verdict::machine_full)
        return "MACHINE FULL: " + generator.reason;
    if (generator.verdict == generator_verdict::held_back) return "HELD BACK: " + generator.reason;
    if (!generator.traffic) return "no verdict: there was no traffic";
    std::string text = fmt::format("{}: the busiest worker was {:.0f} % busy",
                                   generator.judged ? "not the limit" : "too short to judge",
                                   generator.worker_busy.value_or(0) * 100);
    if (generator.run_delay)
        text += fmt::format(", waited {:.0f} % for a processor", *generator.run_delay * 100);
    if (generator.slip_p99) {
        text += fmt::format(", timers {} late at p99", base::format_latency(*generator.slip_p99));
    }
    return text;
}

std::string not_in_effect_lines(const run_report& report) {
    std::string text;
    for (const auto& one : report.not_in_effect().sorted()) {
        text += row("NOT DONE",
                    fmt::format("{} ({})", one.name, base::format_amount(one.count, "connection")));
    }
    return text;
}

std::string process_text(const run_end& end) {
    return fmt::format("{:.2f} s user, {:.2f} s system, {} memory at most", end.cpu_user_s,
                       end.cpu_system_s, base::format_size(end.max_rss_bytes));
}

std::string threshold_lines(const run_report& report) {
    std::string text;
    for (const auto& one : report.thresholds) {
        text += row(one.passed ? "passed" : "NOT MET",
                    fmt::format("{}: {}", one.expression, format_threshold_value(one)));
    }
    return text;
}

// What waited while the rate was what it was, then each figure.
std::string sample_rows(const run_report& report) {
    const run_description& run = report.description();
    const std::string rate = base::format_measured(*report.rate().mean);
    std::string text;
    for (const sampled_source& one : report.samples) {
        const std::string said = waiting_sentence(one, rate, run.reads_mail ? "read" : "accepted");
        if (!said.empty()) text += row("queue", said);
        const double from_s = base::seconds_of(run.warmup);
        const std::string grew = growth_sentence(one, from_s, from_s + report.measured_s());
        if (!grew.empty()) text += row("", grew);
    }
    std::string_view label = "samples";
    for (const sample_line& one : sample_lines(report.samples))
        text += row(std::exchange(label, ""), fmt::format("{}: {}", one.name, one.text));
    return text;
}

}  // namespace

std::string format_threshold_value(const threshold_result& result) {
    if (!result.value) return "nothing was measured";
    if (result.unit == "us") {
        return (result.reached ? "" : "not reached; at least ") +
               base::format_latency(std::chrono::nanoseconds{std::llround(*result.value * 1e3)});
    }
    if (result.unit == "%") return fmt::format("{:.2f} %", *result.value);
    return whole(*result.value) + (result.unit.empty() ? "" : " " + result.unit);
}

std::string format_summary(const run_report& report, std::size_t width) {
    const run_description& run = report.description();
    const auto counters_row = [&](std::string_view label, counter_kind kind) {
        const std::string counted = counters_text(report, kind);
        return counted.empty() ? counted : row(label, counted);
    };
    std::string text = headline(report);
    text += label_lines(run.labels);
    text += row("rate", rate_text(report));
    if (const std::string finer = by_second_text(report); !finer.empty())
        text += row("by second", finer);
    if (const auto loaded = report.seconds().loaded(); run.serves && loaded)
        text += row("under load", loaded_text(*loaded));
    if (const auto cap = report.cap())
        text += row("asked", cap_text(*cap, report.description().what_is_due()));
    if (run.open_loop()) text += row(run.what_is_due(), due_text(report));
    text += sample_rows(report);
    text += row("traffic", counters_text(report, counter_kind::traffic));
    if (run.serves) text += row("connections", connections_text(report.connections()));
    text += row("outcomes", outcome_text(report));
    text += counters_row("retries", counter_kind::retry);
    text += counters_row("greylists", counter_kind::greylist);
    text += counters_row("integrity", counter_kind::integrity);
    text += counters_row("mailboxes", counter_kind::mailbox);
    if (!report.totals().authentications.empty()) {
        text += row("logins", authentication_text(report.totals().authentications));
    }
    if (run.runs_agents) text += row("agents", agents_text(report.totals().agents));
    if (const std::string struck = limits_text(report.totals().limits); !struck.empty())
        text += row("limits", struck);
    if (!run.tls_library.empty())
        text += row("TLS", tls_text(run.tls_library, report.totals().tls));
    text += latency_table(report, width);
    text += error_lines(report);
    text += "\n";
    for (const rank_line& one : rank_lines(report.ranks()))
        text += row(one.label, one.text);
    text += row("generator", generator_text(report));
    text += row("process", process_text(report.end()));
    text += not_in_effect_lines(report);
    if (run.transcript) text += row("transcript", "was written, and slowed this run down");
    text += threshold_lines(report);
    return text;
}

}  // namespace postal::stats
