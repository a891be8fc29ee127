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
// Nothing here includes JSON, and nothing but the archives includes this.
#pragma once

#include "stats/capacity/record_fields.hpp"
#include "stats/figures.hpp"
#include "stats/record_form.hpp"
#include "stats/run_record.hpp"

#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace postal::stats {

inline bool is_integrity(const counter& one) {
    return one.kind == counter_kind::integrity;
}
inline bool is_logged(const counter& one) {
    return one.log != logged::never;
}
inline bool is_any(const counter&) {
    return true;
}

template <class Archive>
void fields(Archive& each, field<Archive, base::clock_state>& of) {
    each("synchronised", of.synchronised, "by NTP, PTP or the like");
    each("estimated_error_us", of.estimated_error_us);
    each("most_error_us", of.most_error_us);
    each("status", of.status, "as adjtimex(2) has it", as{.newer = true});
    each("frequency_ppm", of.frequency_ppm, "by which the clock is corrected",
         as{.any_sign = true, .newer = true});
    each("tick_us", of.tick_us, "length of a tick", as{.newer = true});
    each("offset_us", of.offset_us, "that is still to be slewed away", as{.newer = true});
    each("slew_ppm", of.slew_ppm, "by which it is slewed", as{.any_sign = true, .newer = true});
}

template <class Archive>
void machine_fields(Archive& each, field<Archive, base::host_info>& of) {
    each("name", of.name);
    each("kernel", of.kernel);
    each("cpus", of.cpus, "that the program may run on");
    each("memory_bytes", of.memory_bytes);
    each("processor", of.processor, "its model, where the kernel names it", as{.left_out = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, base::host_info>& of) {
    machine_fields<Archive>(each, of);
    each("boot_id", of.boot_id, "of the running kernel, and so of its clock");
    each("clock", of.clock, "what the kernel says of it", as{.left_out = true});
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
void fields(Archive& each, field<Archive, tls_summary>& of) {
    each("library", of.library);
    each("full", of.full, "handshakes");
    each("resumed", of.resumed, "handshakes");
    each("versions", of.versions);
    each("ciphers", of.ciphers);
    each("groups", of.groups, "of the key exchange");
    each("verification", of.verification, "of certificates");
}

template <class Archive>
void fields(Archive& each, field<Archive, command_count>& of) {
    each("sent", of.sent);
    each("ok", of.ok);
    each("no", of.no);
    each("bad", of.bad);
    each("unanswered", of.unanswered, "the connection ended first");
}

template <class Archive>
void fields(Archive& each, field<Archive, command_figures>& of) {
    fields<Archive>(each, static_cast<field<Archive, command_count>&>(of));
}

template <class Archive>
void fields(Archive& each, field<Archive, command_summary>& of) {
    fields<Archive>(each, static_cast<field<Archive, command_count>&>(of));
    each.named("by_kind", of.by_kind, &command_figures::name,
               "those that were sent, by the command's name without UID");
}

template <class Archive>
void fields(Archive& each, field<Archive, action_count>& of) {
    each("begun", of.begun);
    each("ok", of.ok);
    each("refused", of.refused);
    each("failed", of.failed, "the connection ended first");
    each("nothing", of.nothing, "there was nothing to do, and no command was sent");
}

template <class Archive>
void fields(Archive& each, field<Archive, time_figures>& of, as how = {.left_out = true}) {
    each("mean", of.mean, "", how);
    each("p50", of.p50, "", how);
    each("p90", of.p90, "", how);
    each("p99", of.p99, "", how);
    each("p999", of.p999, "", how);
    each("min", of.min, "", how);
    each("max", of.max, "", how);
}

template <class Archive>
void fields(Archive& each, field<Archive, latency_figures>& of) {
    each("count", of.count);
    fields<Archive>(each, static_cast<field<Archive, time_figures>&>(of), as{});
    each("buckets", of.distribution, "the whole distribution of those accepted");
    each("not_accepted", of.not_accepted, "of an open loop: due and not accepted, above all others",
         as{.left_out = true});
    each("at_least", of.at_least, "lower bounds of what lies among those not accepted",
         as{.left_out = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, phase_figures>& of) {
    fields<Archive>(each, static_cast<field<Archive, latency_figures>&>(of));
}

template <class Archive>
void fields(Archive& each, field<Archive, verb_figures>& of) {
    each("weight", of.weight, "beside those of the other verbs, of the actions that are drawn");
    each("first", of.first, "so often at the beginning of each session");
    each("last", of.last, "so often at its end");
    fields<Archive>(each, static_cast<field<Archive, action_count>&>(of));
    each("latency_us", of.latency, "of those that ended well");
    each.named("by_size_us", of.by_size, &phase_figures::name,
               "the same by how many messages lay in the mailbox when the action began: 0, and the "
               "power of ten from which a class reaches up to the next");
}

template <class Archive>
void fields(Archive& each, field<Archive, profile_summary>& of) {
    each("name", of.name);
    each("least_actions", of.least_actions, "that are drawn in a session");
    each("most_actions", of.most_actions);
    fields<Archive>(each, static_cast<field<Archive, action_count>&>(of));
    each.named("verbs", of.verbs, &verb_figures::verb, "those that were wanted or begun");
}

template <class Archive>
void fields(Archive& each, field<Archive, connection_summary>& of) {
    each("messages_per_connection", of.messages, "accepted");
    each("recipients_per_transaction", of.recipients, "accepted");
    each("tls_share", of.tls, "of the connections");
    each("pipelined_share", of.pipelined, "of the transactions");
    each("most_open", of.most_open, "at once");
}

// `count`: of what it has values, and how many they are worth.
template <class Archive>
void fields(Archive& each, field<Archive, rate_summary>& of, std::string_view count,
            std::string_view effective) {
    each("mean", of.mean);
    each("stddev", of.stddev);
    each("min", of.min);
    each("max", of.max);
    each("ci95", of.ci95, "of the mean within this run, from 20 values on", as{.any_sign = true});
    each(count, of.count, "that are whole, after the warm-up");
    each(effective, of.effective, "so many independent ones would say as much at the least");
    each("trend", of.trend,
         "change from first to last by a straight line, as a share of the mean, where it is no "
         "chance",
         as{.any_sign = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, loaded_time>& of) {
    each("start_s", of.start_s, "end of the first second with mail after the warm-up");
    each("end_s", of.end_s, "beginning of the last one");
    each("messages", of.messages, "accepted between them");
    each("messages_per_second", of.per_second);
}

// Of a span of time: what the threads of the run, and the machine under them, did with it.
template <class Archive>
void fields(Archive& each, field<Archive, generator_load>& of) {
    each("run_delay", of.run_delay,
         "share of the time in which a worker was ready and waited for a processor");
    each("loop_late_p99_us", of.loop_late_p99);
    each("loop_late_max_us", of.loop_late_max);
    each("machine_idle", of.machine_idle, "share");
    each("machine_steal", of.machine_steal, "share");
    each("cpu_pressure", of.cpu_pressure, "share");
    each("main_busy", of.main, "share, of the main thread", as{.newer = true});
    each("ledger_busy", of.ledger, "share, of the thread that writes the ledger",
         as{.left_out = true, .newer = true});
    each("throttled", of.throttled,
         "share of the time in which the CPU quota of a cgroup that this process is in was used up",
         as{.newer = true});
    each("stopped_s", of.stopped_s,
         "in which no thread of this process ran or waited for a processor", as{.newer = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, interval_row>& of) {
    each("start_s", of.start_s, "seconds since the start");
    each("t_s", of.end_s, "its end, seconds since the start");
    each("warmup", of.warmup);
    each("partial", of.partial);
    each("draining", of.draining, "what was finished behind the stop");
    each.counters(of, is_logged);
    each("message_p50_us", of.message_p50, "of the messages accepted in it");
    each("message_p90_us", of.message_p90);
    each("message_p99_us", of.message_p99);
    each("message_max_us", of.message_max);
    each("asked", of.asked,
         "messages (of a reader visits) that were asked for in it, where there is a rate",
         as{.left_out = true});
    each("ranks", of.ranks, "that had a part", as{.left_out = true});
    each(
        "open_connections", of.open_connections,
        "on the average, of all workers: one that was open for half of the interval is half of one",
        as{.newer = true});
    each("worker_cpu_s", of.worker_cpu_s,
         "processor time of all worker threads, in user mode and in the system", as{.newer = true});
    each("worker_busy", of.worker_busy, "share, of the busiest worker");
    each("slip_p99_us", of.slip_p99, "how late the schedule was");
    fields<Archive>(each, static_cast<field<Archive, generator_load>&>(of));
    each("agents_running", of.agents_running, "at its end", as{.left_out = true});
    each.with(of.agents_running.has_value(), [&] {
        each("agent_p50_us", of.agent_p50, "", as{.newer = true});
        each("agent_p99_us", of.agent_p99, "", as{.newer = true});
    });
}

template <class Archive>
void fields(Archive& each, field<Archive, second_columns>& of) {
    each("width_s", of.width_s,
         "of a stretch: 1, and twice as much whenever there would be more than 3,600");
    each("warmup", of.warmup, "so many of the first are of the warm-up");
    each("t_s", of.t_s,
         "where each ends; the first begins at 0, each other where the one before ends");
    each("messages", of.messages);
    each("errors", of.errors);
    each("worker_cpu_s", of.worker_cpu_s, "processor time of all worker threads",
         as{.newer = true});
    each("open_connections", of.open_connections, "on the average of each, of all workers",
         as{.newer = true});
    each("asked", of.asked, "messages that were asked for in it, where there is a rate",
         as{.left_out = true});
    each("message_p50_us", of.message_p50,
         "of the messages accepted in each, null where too few were; of stretches put together the "
         "highest",
         as{.left_out = true});
    each("message_p90_us", of.message_p90, "", as{.left_out = true});
    each("message_p99_us", of.message_p99, "", as{.left_out = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, cap_summary>& of) {
    each("asked_per_s", of.asked_per_s);
    each("reached_per_s", of.reached_per_s, "messages begun");
    each("all_busy", of.all_busy,
         "share of the time in which messages were due and no session was free");
    each("behind", of.behind, "messages asked for and not begun, at the stop");
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
    each("verdict", of.verdict, "of its generator; empty: not known");
    each("reason", of.reason);
    each("worker_busy", of.worker_busy, "share, of its busiest worker");
}

template <class Archive>
void fields(Archive& each, field<Archive, generator_summary>& of) {
    each("limited", of.limited, "the verdict is limit");
    each("verdict", of.verdict, "", as{.words = "none limit machine_full held_back"});
    each("cause", of.cause, "what took most of the time",
         as{.newer = true, .words = " generator machine steal quota stopped"});
    each("traffic", of.traffic, "false: no connection and no message, and so no verdict",
         as{.newer = true});
    each("worker_busy", of.worker_busy, "share, of the busiest worker");
    each("schedule_slip_p99_us", of.slip_p99,
         "of the whole run; the others are the worst interval's");
    fields<Archive>(each, static_cast<field<Archive, generator_load>&>(of));
    each("reason", of.reason, "what was seen, and when");
}

// The detail of a server's reply is its enhanced code, of anything else the reason.
template <class Archive>
void fields(Archive& each, field<Archive, error_entry>& of) {
    each("stage", of.stage);
    each("code", of.code, "of the reply; 0: there was none");
    std::string none;
    field<Archive, std::string>& empty = none;
    each("enhanced", of.code != 0 ? of.detail : empty, "enhanced code of the reply");
    each("reason", of.code != 0 ? empty : of.detail, "where there was no reply");
    each("count", of.count);
    each("sample", of.sample);
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
void fields(Archive& each, field<Archive, server_greeting>& of) {
    each("server", of.server, "as the command line names it");
    each("text", of.text, "of the first line, at most 200 octets");
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
