// SPDX-License-Identifier: GPL-3.0-or-later
// What a record says of times and rates: latencies, intervals and seconds, and whether the load
// generator kept up; see record_fields.hpp.
#pragma once

#include "stats/record_form.hpp"
#include "stats/run_record.hpp"

#include <string_view>

namespace postal::stats {

inline bool is_logged(const counter& one) {
    return one.log != logged::never;
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
void fields(Archive& each, field<Archive, generator_summary>& of) {
    each("limited", of.limited, "the verdict is limit");
    each("verdict", of.verdict);
    each("cause", of.cause, "what took most of the time", as{.newer = true});
    each("traffic", of.traffic, "false: no connection and no message, and so no verdict",
         as{.newer = true});
    each("worker_busy", of.worker_busy, "share, of the busiest worker");
    each("schedule_slip_p99_us", of.slip_p99,
         "of the whole run; the others are the worst interval's");
    fields<Archive>(each, static_cast<field<Archive, generator_load>&>(of));
    each("reason", of.reason, "what was seen, and when");
}

}  // namespace postal::stats
