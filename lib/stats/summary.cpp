// SPDX-License-Identifier: GPL-3.0-or-later
// The summary, one function a line, put together at the end of the file. A function that has
// nothing to say returns nothing. Colours and terminal codes are left out on purpose, since
// standard error is often a file.
#include "stats/summary.hpp"

#include "base/digits.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "stats/diagnostics.hpp"
#include "stats/latency_table.hpp"
#include "stats/rank_summary.hpp"
#include "stats/sample_words.hpp"
#include "stats/samples.hpp"
#include "stats/shown.hpp"

#include <cmath>
#include <string_view>
#include <utility>

namespace postal::stats {
namespace {

constexpr std::size_t shown_kinds = 5;

std::string duration_text(double seconds) {
    if (!std::isfinite(seconds) || seconds <= 0 || seconds > 9e9) return "0s";
    const double digits = seconds < 10 ? 1000 : seconds < 600 ? 10 : 1;
    const double rounded = std::round(seconds * digits) / digits;
    return base::format_duration(std::chrono::nanoseconds{std::llround(rounded * 1e9)});
}

std::string row(std::string_view label, std::string_view text) {
    return fmt::format("  {:<12} {}\n", label, text);
}

bool is_open_loop(const run_record& of) {
    return of.totals.has(*find_counter(all_counters(), "due"));
}

std::string headline(const run_record& of) {
    std::string text = fmt::format("{}: {} {} in {}", of.program,
                                   base::format_amount(of.totals.messages, "message"),
                                   accepted_word(of), duration_text(of.measured_s));
    if (of.warmup_s > 0)
        text += fmt::format(
            " (after {} of warm-up)",
            base::format_duration(std::chrono::nanoseconds{std::llround(of.warmup_s * 1e9)}));
    if (of.interrupted && of.interrupted->early) text += ", interrupted before its end";
    return text + "\n";
}

std::string label_lines(const run_labels& labels) {
    std::string text;
    for (const told_label& one : told_labels)
        if (const std::string told = one.text(labels); !told.empty()) text += row(one.name, told);
    return text;
}

// "; it fell from 58,000/s to 33,800/s over the run"
std::string over_the_run(const rate_summary& rate, std::string_view unit) {
    if (!rate.trend) return {};
    return fmt::format("; it {} over the run", trend_text(*rate.mean, *rate.trend, unit));
}

std::string rate_text(const rate_summary& rate) {
    std::string text =
        fmt::format("{} messages/min ({} messages/s)", measured_text(rate, &rate_summary::mean),
                    base::format_measured(*rate.mean / 60));
    if (rate.count == 0) return text + ", no whole interval";
    if (rate.count == 1) return text + ", 1 interval";
    text += ", " + spread_text(rate, "intervals", "");
    if (*rate.mean > 0) text += mean_text(rate, "", "");
    return text + over_the_run(rate, "");
}

constexpr std::uint64_t enough = 10;  // seconds for a spread in place of the intervals'

// "18 seconds from 190/s to 220/s; mean 206 ± 2.1/s at 95 %, within this run"; empty where the
// intervals say as much.
std::string by_second_text(const run_record& of) {
    const rate_summary& rate = of.rate_by_second;
    if (of.rate.count >= fewest_values || rate.count <= of.rate.count || rate.count < enough)
        return {};
    if (!(*rate.mean > 0)) return {};
    const std::string mean = measured_text(rate, &rate_summary::mean) + " ";
    const std::string text =
        spread_text(rate, stretches_text(of, "seconds"), "/s") + mean_text(rate, mean, "/s");
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
    if (leaves_out_waits(cap))
        text += "\n               whose waits no latency has; --open-loop would show them";
    return text;
}

// "10.0 MiB (1.0 MiB/s)", "12,345 rejected"; a reader's mail is read.
std::string counter_text(const counter& one, const run_record& of) {
    const std::uint64_t count = of.totals.*one.value;
    if (one.unit == counter_unit::octets)
        return fmt::format("{} ({})", base::format_size(count),
                           base::format_octet_rate(a_second(of, one.value).value_or(0)));
    const bool read = reads_mail(of) && one.value == &counts::messages;
    return fmt::format("{} {}", base::format_count(count), read ? "read" : one.title_of(count));
}

// What a reader's mail has none of: its recipients are its mailboxes, and it was accepted long ago.
bool is_of_senders(const counter& one, std::uint64_t count) {
    if (one.value == &counts::recipients) return true;
    const bool outcome = one.value == &counts::rejected || one.value == &counts::deferred ||
                         one.value == &counts::in_doubt;
    return outcome && count == 0;
}

// "12 accepted, 3 rejected", "20 connections (5 with TLS)"; empty where none means anything.
std::string counters_text(const run_record& of, counter_kind kind) {
    std::string text;
    for (const counter& one : of.counters) {
        if (one.kind != kind || !of.totals.has(one)) continue;
        if (one.rare && of.totals.*one.value == 0) continue;
        if (reads_mail(of) && is_of_senders(one, of.totals.*one.value)) continue;
        const std::string piece = counter_text(one, of);
        text += one.part ? " (" + piece + ")" : (text.empty() ? "" : ", ") + piece;
    }
    return text;
}

// "301 due, 121 never begun, 20 begun and not successful"
std::string due_text(const run_record& of) {
    std::string text = counters_text(of, counter_kind::schedule);
    std::uint64_t in_vain = 0;
    for (const phase_figures& one : of.phases)
        in_vain += one.not_accepted;
    if (in_vain > of.totals.not_started)
        text += fmt::format(", {} begun and not {}",
                            base::format_count(in_vain - of.totals.not_started),
                            reads_mail(of) ? "successful" : "accepted");
    return text;
}

// "3.20 messages a connection, 1.50 recipients a transaction, 50 % with TLS, at most 20 open at
// once; 35 % of the transactions pipelined"
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

std::string outcome_text(const run_record& of) {
    return counters_text(of, counter_kind::outcome) + " of " +
           counters_text(of, counter_kind::begun);
}

// "12,345 started, 15.20 s CPU (1.23 ms a delivery), 3 did not end with 0: 2 x 75, 1 x signal 9"
std::string agents_text(const agent_summary& agents) {
    const double cpu_s = agents.cpu_user_s + agents.cpu_system_s;
    std::string text =
        fmt::format("{} started, {:.2f} s CPU", base::format_count(agents.started), cpu_s);
    if (const auto each_s = processor_s_of_each(agents))
        text += fmt::format(" ({:.2f} ms a delivery)", *each_s * 1e3);
    std::uint64_t other = 0;
    std::size_t kinds = 0;
    std::string list;
    for (const named_count& one : agents.exits) {
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
std::string limits_text(const named_numbers& limits) {
    named_counts struck;
    for (const named_count& one : limits)
        struck.add(one.name, one.count);
    std::string text;
    for (const auto& one : struck.sorted())
        text += fmt::format("{}--{} {}", text.empty() ? "" : ", ", one.name,
                            one.count == 1 ? "once" : base::format_count(one.count) + " times");
    return text;
}

// "OpenSSL 3.0.15: 90 full handshakes, 10 resumed; TLSv1.3; TLS_AES_256_GCM_SHA384"
std::string tls_text(const tls_summary& tls) {
    std::string text = fmt::format("{}: {}, {} resumed", tls.library,
                                   base::format_amount(tls.full, "full handshake"),
                                   base::format_count(tls.resumed));
    for (const named_numbers* counts : {&tls.versions, &tls.ciphers, &tls.groups}) {
        const named_numbers& kinds = *counts;
        for (std::size_t i = 0; i < kinds.size() && i < shown_kinds; ++i) {
            text += (i == 0 ? "; " : ", ") + kinds[i].name;
            if (kinds.size() > 1) text += fmt::format(" x {}", base::format_count(kinds[i].count));
        }
    }
    return text;
}

// "12 SCRAM-SHA-256, 3 PLAIN"
std::string authentication_text(const named_numbers& counts) {
    std::vector<std::string> pieces;
    for (const named_count& one : counts)
        pieces.push_back(fmt::format("{} {}", base::format_count(one.count), one.name));
    return base::join(pieces, ", ");
}

std::string error_lines(const run_record& of) {
    // A run that never got past its warm-up still has to say what went wrong.
    const bool measured = !of.errors.empty();
    const std::vector<error_entry>& errors = measured ? of.errors : of.errors_with_warmup;
    if (errors.empty()) return {};
    const std::string_view when = measured ? "" : " (all in the warm-up)";
    const auto lines = interval_diagnostics(errors, shown_kinds);
    if (lines.size() == 1) return fmt::format("\n  errors: {}{}\n", lines.front(), when);
    std::uint64_t total = 0;
    for (const error_entry& one : errors)
        total += one.count;
    std::string text = fmt::format("\n  errors: {}{}\n", base::format_count(total), when);
    for (const auto& line : lines)
        text += "    " + line + "\n";
    return text;
}

std::string generator_text(const generator_summary& generator) {
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

// Of a search the generator was judged with each trial.
std::string searching_rows(const capacity::search_record& of, std::string_view program) {
    const std::uint64_t nothing = capacity::trials_that_say_nothing(of);
    std::string text;
    if (of.trials.empty())
        text = row("generator", "no verdict: there was no trial");
    else if (nothing == 0)
        text = row("generator", "judged with each trial: all say something");
    else
        text = row("generator",
                   fmt::format("judged with each trial: {} of {} say nothing",
                               base::format_count(nothing), base::format_count(of.trials.size())));
    for (const std::string& one : capacity::reach_texts(of, program))
        text += row("", one);
    return text;
}

std::string not_in_effect_lines(const named_numbers& of) {
    std::string text;
    for (const named_count& one : of) {
        text += row("NOT DONE",
                    fmt::format("{} ({})", one.name, base::format_amount(one.count, "connection")));
    }
    return text;
}

std::string process_text(const run_record& of) {
    return fmt::format("{}, {} memory at most", processor_time_text(of.cpu_user_s, of.cpu_system_s),
                       base::format_size(of.max_rss_bytes));
}

std::string threshold_lines(const std::vector<threshold_result>& thresholds) {
    std::string text;
    for (const auto& one : thresholds) {
        text += row(one.passed ? "passed" : "NOT MET",
                    fmt::format("{}: {}", one.expression, threshold_text(one)));
    }
    return text;
}

// What a search has found, each goal where there are several, and what it rests on.
std::string search_rows(const capacity::search_record& of) {
    std::string text = row("found", of.sentence);
    if (of.goals.size() > 1) {
        const bool unstable = of.result.end == capacity::search_end::unstable;
        for (std::size_t i = 0; i < of.goals.size() && i < of.result.goals.size(); ++i) {
            std::string said =
                capacity::sentence_of(of.result.goals[i], of.goals[i], of.unit, of.beside);
            if (unstable) said.append(", ").append(capacity::standing_of(of.result, i).result);
            text += row("", said);
        }
    }
    const std::string confirmed = capacity::confirmation_text(of.result, of.unit);
    if (!confirmed.empty()) text += row("", confirmed);
    std::string took = fmt::format("{} in {}", base::format_amount(of.result.trials, "trial"),
                                   duration_text(of.result.took_s));
    if (of.goals.size() == 1 && of.result.goals.size() == 1)
        if (const auto stands = capacity::standing_of(of.result, 0); stands.conditional_throughput)
            took =
                fmt::format("conditional throughput {} {}/s; {}",
                            base::format_measured(*stands.conditional_throughput), of.unit, took);
    text += row("", took);
    for (const std::string& one : capacity::busy_sessions(of))
        text += row(
            "", fmt::format("all {} were busy where it was not kept; more may carry more", one));
    return text;
}

// What waited while the rate was what it was, then each figure.
std::string sample_rows(const run_record& record) {
    const std::string rate = base::format_measured(*record.rate.mean);
    std::string text;
    for (const sampled_source& one : record.samples) {
        const std::string said = waiting_sentence(one, rate, accepted_word(record));
        if (!said.empty()) text += row("queue", said);
        const std::string grew =
            growth_sentence(one, record.warmup_s, record.warmup_s + record.measured_s);
        if (!grew.empty()) text += row("", grew);
    }
    std::string_view label = "samples";
    for (const sample_line& one : sample_lines(record.samples))
        text += row(std::exchange(label, ""), fmt::format("{}: {}", one.name, one.text));
    return text;
}

}  // namespace

std::string format_summary(const run_record& of, std::size_t width) {
    std::string text = headline(of);
    const auto add = [&](std::string_view label, const std::string& line) {
        if (!line.empty()) text += row(label, line);
    };
    const auto add_counters = [&](std::string_view label, counter_kind kind) {
        add(label, counters_text(of, kind));
    };
    text += label_lines(of.labels);
    if (of.search) text += search_rows(*of.search);
    if (!of.search) {  // whose rate is each trial's
        add("rate", rate_text(of.rate));
        add("by second", by_second_text(of));
    }
    if (of.under_load) add("under load", loaded_text(*of.under_load));
    const std::string_view due = what_is_due(of);
    if (of.cap) add("asked", cap_text(*of.cap, due));
    if (is_open_loop(of)) add(due, due_text(of));
    text += sample_rows(of);
    add_counters("traffic", counter_kind::traffic);
    if (of.connection_use) add("connections", connections_text(*of.connection_use));
    add("outcomes", outcome_text(of));
    add_counters("retries", counter_kind::retry);
    add_counters("greylists", counter_kind::greylist);
    add_counters("integrity", counter_kind::integrity);
    add_counters("mailboxes", counter_kind::mailbox);
    if (of.authentications) add("logins", authentication_text(*of.authentications));
    if (of.agents) add("agents", agents_text(*of.agents));
    if (of.limits) add("limits", limits_text(*of.limits));
    if (of.tls) add("TLS", tls_text(*of.tls));
    text += latency_table(of, width);
    text += error_lines(of);
    text += "\n";
    for (const rank_line& one : rank_lines(of.ranks))
        text += row(one.label, one.text);
    if (of.search)
        text += searching_rows(*of.search, of.program);
    else
        add("generator", generator_text(of.generator));
    add("process", process_text(of));
    text += not_in_effect_lines(of.not_in_effect);
    if (of.transcript) add("transcript", "was written, and slowed this run down");
    text += threshold_lines(of.thresholds);
    return text;
}

}  // namespace postal::stats
