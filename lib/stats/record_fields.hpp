// SPDX-License-Identifier: GPL-3.0-or-later
// The one list of what stands in a run record: of each struct its fields, in the order in which a
// record has them, with the sentences that its schema and its manual say of them.
//
// fields(each, of) hands every field to an archive `each`, which writes or reads it, describes it,
// or fills it. An archive has
//
//   field<T>                         T, or const T where it writes
//   each(key, value, means, as)      a number, text, list, struct of another list, ...
//   each.group(key, list)            an object that is no struct of its own
//   each.named(key, list, name)      an object whose keys are the names of a list's elements
//   each.counters(counts, wanted)    those of the table of counters (counters.hpp) that are wanted
//
// Those of the machine, of times and of the dialogue are lists of their own, which this includes.
// Nothing here includes JSON, and nothing but the archives includes this.
#pragma once

#include "stats/capacity/record_fields.hpp"
#include "stats/dialogue_fields.hpp"
#include "stats/figures.hpp"
#include "stats/machine_fields.hpp"
#include "stats/record_form.hpp"
#include "stats/run_record.hpp"
#include "stats/time_fields.hpp"

#include <functional>

namespace postal::stats {

inline bool is_integrity(const counter& one) {
    return one.kind == counter_kind::integrity;
}
inline bool is_any(const counter&) {
    return true;
}

template <class Archive>
void fields(Archive& each, field<Archive, interruption>& of) {
    each("signal", of.signal, "SIGINT or SIGTERM; null: another rank's", as{.empty_null = true});
    each("at_s", of.at_s, "seconds since the start; below 0 before it", as{.any_sign = true});
    each("early", of.early, "the run has an end of its own, and did not reach it");
    each("cut_short", of.cut_short, "before what was in flight was finished");
}

template <class Archive>
void fields(Archive& each, field<Archive, agent_summary>& of) {
    each("started", of.started);
    each("cpu_user_s", of.cpu_user_s);
    each("cpu_system_s", of.cpu_system_s);
    each("max_rss_bytes", of.max_rss_bytes, "of the largest");
    each("exits", of.exits, "how often each status, signal or word ended one");
}

template <class Archive>
void fields(Archive& each, field<Archive, rank_share>& of) {
    each("rank", of.rank);
    each("host", of.host);
    each("workers", of.workers);
    each("sessions", of.sessions);
    each("processors", of.processors, "that it may run on");
    each("machine_processors", of.machine_processors);
    each("wall_offset_s", of.wall_offset_s, "its wall clock ahead of that of rank 0",
         as{.any_sign = true, .fine = true});
    each("clock_offset_s", of.clock_offset_s, "its steady clock ahead when the run began",
         as{.any_sign = true, .fine = true});
    each("clock_bound_s", of.clock_bound_s, "by how much the latter may be wrong then",
         as{.fine = true});
    each("clock_drift", of.clock_drift, "seconds that it gained in a second, on average",
         as{.any_sign = true, .fine = true});
    each("clock_drift_limit", of.clock_drift_limit, "what it might by what the kernels said",
         as{.fine = true, .newer = true});
    each("clock_steps", of.clock_steps, "how often its steady clock went apart by more",
         as{.newer = true});
    each("wall_steps", of.wall_steps, "the same of its wall clock", as{.newer = true});
    each("clock_step_s", of.clock_step_s, "the largest of these",
         as{.any_sign = true, .fine = true, .newer = true});
    each("start_late_s", of.start_late_s, "after the agreed instant", as{.fine = true});
    each("missed_start", of.missed_start, "so late that its schedule was not the others'");
    each.group("totals", [&](auto& inner) { inner.counters(of.totals, is_any); });
    each.group("totals_with_warmup",
               [&](auto& inner) { inner.counters(of.totals_with_warmup, is_any); });
    each("interval_messages", of.messages, "accepted, by interval");
    each("message_p50_us", of.p50_us);
    each("message_p99_us", of.p99_us);
    each("ended", of.ended, "why, as a run's; empty: not known");
    each("done_s", of.done_s, "when it had nothing left to do");
    each("lost_s", of.lost_s, "when it was last heard of, of one that did not end");
    each("unaccounted", of.unaccounted,
         "of a lost one: its messages that are in no outcome, at least");
    each("verdict", of.verdict, "of its generator; empty: not known", as{.null_empty = true});
    each("reason", of.reason);
    each("worker_busy", of.worker_busy, "share, of its busiest worker");
}

template <class Archive>
void fields(Archive& each, field<Archive, sample_series>& of) {
    each("name", of.name);
    each("unit", of.unit, "where it is known", as{.empty_null = true});
    each("waiting", of.waiting, "all that wait in a mail queue, but for what is on hold");
    each("highest", of.highest, "of all samples", as{.fine = true});
    each("highest_at_s", of.highest_at_s, "when that was seen first, since the start");
    each("values", of.values, "one for each of t_s; null: not in that sample", as{.fine = true});
    each("most", of.most,
         "the highest of the samples that each of t_s stands for; absent where that is one",
         as{.left_out = true, .fine = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, sampled_source>& of) {
    each("source", of.source, "as --queue or --sample-command has it, with the directory");
    each("name", of.name, "what the names of its figures begin with");
    each("every_s", of.every_s, "from the beginning of a sample to that of the next, at least");
    each("taken", of.taken, "samples");
    each("missed", of.missed, "samples that failed or took too long");
    each("missed_why", of.missed_why, "the first reason; null: none", as{.empty_null = true});
    each("took_s", of.took_s, "all samples together");
    each("longest_s", of.longest_s, "the longest of them");
    each("together", of.together,
         "samples that one of t_s stands for at most; values are the last of them");
    each("t_s", of.t_s,
         "when each began, since the start, of the warm-up too; the last is taken after the end");
    each("series", of.series);
}

template <class Archive>
void fields(Archive& each, field<Archive, threshold_result>& of) {
    each("expression", of.expression);
    each("value", of.value, "that was found");
    each("unit", of.unit);
    each("passed", of.passed);
    each("reached", of.reached, "false: the value is a lower bound");
}

template <class Archive>
void label_fields(Archive& each, field<Archive, run_labels>& of) {
    each("title", of.title, "what somebody called the run", as{.left_out = true});
    each("note", of.note, "what there was to say about it", as{.left_out = true});
    each("tags", of.tags, "its own keys, each with a text", as{.left_out = true});
}

template <class Archive>
void head_fields(Archive& each, field<Archive, run_record>& of) {
    each("program", of.program, "", as{.words = "postal rabid bhm lmtp-deliver"});
    each("version", of.version);
    each("argv", of.argv);
    label_fields(each, of.labels);
    each("options", of.options, "those in effect, by long name");
    each("seed", of.seed);
    each("workers", of.workers, "of all ranks");
    each("transcript", of.transcript, "writing dialogues slowed the run down");
    each("started", of.started, "in UTC",
         as{.form = R"(^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$)"});
    each("ended", of.ended, "why the run ended",
         as{.words = "complete duration signal gave_up failure first_error threshold"});
    each("interrupted", of.interrupted, "of a run that a signal ended");
    each("duration_s", of.duration_s);
    each("warmup_s", of.warmup_s);
    each("measured_s", of.measured_s, "from the end of the warm-up to the stop");
    each("interval_s", of.interval_s);
    each("align_minutes", of.align_minutes);
    for (const figure& one : all_figures())
        each(one.name, of.*one.value, one.meaning, as{.left_out = true});
    each("host", of.host);
    each("greetings", of.greetings, "of a client: what each server said first",
         as{.left_out = true});
}

template <class Archive>
void count_fields(Archive& each, field<Archive, run_record>& of) {
    each.group("totals", [&](auto& inner) {
        inner.counters(of.totals, std::not_fn(is_integrity));
        inner("cpu_user_s", of.cpu_user_s, "of this process");
        inner("cpu_system_s", of.cpu_system_s, "of this process");
        inner("max_rss_bytes", of.max_rss_bytes, "of this process");
    });
    each.group("totals_with_warmup", [&](auto& inner) {
        inner.counters(of.totals_with_warmup, std::not_fn(is_integrity));
    });
    each.group(
        "integrity", [&](auto& inner) { inner.counters(of.totals, is_integrity); },
        "where messages are checked", as{.left_out = true});
    each("authentications", of.authentications, "logins by mechanism", as{.left_out = true});
    each("limits", of.limits,
         "of a server: how often clients were refused for a limit, by the option that sets it",
         as{.left_out = true});
    each("agents", of.agents, "of lmtp-deliver", as{.left_out = true});
    each("tls", of.tls, "of a run with TLS", as{.left_out = true});
    each("commands", of.commands,
         "of rabid over IMAP; sent = ok + no + bad + unanswered, of each kind and of all",
         as{.left_out = true});
    each("profile", of.profile,
         "of rabid over IMAP, without --watch; begun = ok + refused + failed + nothing, of each "
         "verb and of all",
         as{.left_out = true});
    each("connection_use", of.connection_use, "of a server: how clients used their connections",
         as{.left_out = true});
}

template <class Archive>
void rate_fields(Archive& each, field<Archive, run_record>& of) {
    each.group("messages_per_minute", [&](auto& inner) {
        fields<Archive>(inner, of.rate, "intervals", "effective_intervals");
    });
    each.group("messages_per_second", [&](auto& inner) {
        fields<Archive>(inner, of.rate_by_second, "stretches", "effective_stretches");
    });
    each("under_load", of.under_load, "of servers, where there is a second between these two",
         as{.left_out = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, run_record>& of) {
    head_fields(each, of);
    count_fields(each, of);
    each.group("rate", [&](auto& inner) { rate_fields(inner, of); });
    each.named("latency_us", of.phases, &phase_figures::name, "by phase, in microseconds");
    each("intervals", of.intervals);
    each("seconds", of.seconds);
    each("cap", of.cap, "of a closed loop with a rate", as{.left_out = true});
    each("ranks", of.ranks, "of a run of several processes", as{.left_out = true});
    each("capacity", of.search, "of a run with --find-rate", as{.left_out = true});
    each("samples", of.samples, "of a run that sampled queues or commands", as{.left_out = true});
    each("generator", of.generator);
    each("not_in_effect", of.not_in_effect,
         "what was asked for and a server does not offer, with the number of connections");
    each("errors", of.errors, "each kind, most frequent first");
    each("errors_with_warmup", of.errors_with_warmup);
    each("thresholds", of.thresholds);
}

}  // namespace postal::stats
