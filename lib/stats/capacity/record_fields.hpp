// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in a record about a search, as stats/record_fields.hpp is for runs, which says what
// an archive is. Loads are messages a second.
#pragma once

#include "stats/capacity/record.hpp"
#include "stats/record_form.hpp"

namespace postal::capacity {

using stats::as;
using stats::field;

template <class Archive>
void fields(Archive& each, field<Archive, goal>& of) {
    each("promise", of.promise,
         "as it was given; attributes behind it stand there only where two promises are the same",
         as{.needed = true});
    each("metric", of.metric, "of the promise", as{.needed = true});
    each("loss_ratio", of.loss_ratio, "Goal Loss Ratio: the share that may be late or lost",
         as{.fine = true});
    each("initial_trial_s", of.initial_trial_s, "Goal Initial Trial Duration");
    each("final_trial_s", of.final_trial_s, "Goal Final Trial Duration");
    each("duration_sum_s", of.duration_sum_s, "Goal Duration Sum");
    each("exceed_ratio", of.exceed_ratio, "Goal Exceed Ratio");
    each("width", of.width, "Goal Width: between the bounds, as a share of the lower one");
    each("flow", of.flow,
         "of a program beside the one that searches: its place in `beside`, from 1",
         as{.left_out = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, partner>& of) {
    each("program", of.program, "which performed its part of each trial", as{.needed = true});
    each("unit", of.unit, "what falls due of it", as{.needed = true, .words = "messages visits"});
    each("share", of.share, "so many for each message of a load", as{.fine = true});
    each("sessions_busy", of.sessions_busy, "as that of the program that searches",
         as{.left_out = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, recorded_flow>& of) {
    each("intended", of.intended, "by load, share and duration");
    each("backlog_start", of.backlog_start, "under way or waiting when measuring began");
    each("backlog_end", of.backlog_end, "and when it ended");
    each("p50_us", of.p50, "from when it was due; null: too few of them");
    each("p99_us", of.p99, "the same");
    each("generator_busy", of.generator_busy, "as that of the program that searches",
         as{.fine = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, recorded_judgement>& of) {
    each("on_time", of.losses.on_time);
    each("late", of.losses.late);
    each("errors", of.losses.errors);
    each("not_started", of.losses.not_started,
         "intended and not offered: no session was free to begin it until the trial's time was "
         "over");
    each("not_finished", of.losses.not_finished,
         "begun, and under way when nobody waited any longer", as{.newer = true});
    each("loss_ratio", of.said.loss_ratio, "Trial Loss Ratio, of what was intended",
         as{.fine = true});
    each("low", of.said.low, "its lower bound, one-sided at 95 %", as{.fine = true});
    each("high", of.said.high, "its upper bound, one-sided at 95 %", as{.fine = true});
    each("growth", of.said.growth,
         "of the backlog, as a share of what was due; 0 up to 1 in 1,000");
    each("measured", of.said.measured, "Trial Classification by what was measured alone",
         as{.needed = true});
    each("shown", of.said.shown, "Trial Classification by evidence", as{.needed = true});
    each("reason", of.said.reason, "for it", as{.needed = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, recorded_trial>& of) {
    each("start_s", of.start_s, "seconds since the search began");
    each("load", of.asked.load, "Trial Load");
    each("step", of.asked.step, "why it was asked for", as{.needed = true});
    each("settle_s", of.asked.settle_s, "under this load, before it was measured");
    each("asked_s", of.asked.duration_s, "Trial Duration");
    each("duration_s", of.duration_s, "that was measured: Trial Effective Duration");
    each("took_s", of.took_s, "with settling, and until all had ended and the queue was empty");
    each("intended", of.intended, "messages, by load and duration");
    each("backlog_start", of.backlog_start,
         "messages under way or waiting, with --queue in the server's queue, too, when measuring "
         "began");
    each("backlog_end", of.backlog_end, "and when it ended");
    each("queued_end", of.queued_end, "of these in the server's queue; not there without --queue",
         as{.left_out = true});
    each("began_with_backlog", of.began_with_backlog,
         "of an earlier trial: it is irregular, and does not count");
    each("validity", of.validity, "what is not valid does not count", as{.needed = true});
    each("p50_us", of.p50,
         "of the messages accepted meanwhile, settling too; null: too few of them");
    each("p99_us", of.p99, "the same");
    each("generator_busy", of.generator_busy,
         "processor time of the generator's busiest worker, as a share of the trial's time; null: "
         "too short to know",
         as{.fine = true});
    each("goals", of.goals, "in their order; none where the trial does not count");
    each("beside", of.beside, "of each program beside the one that searches, in their order",
         as{.left_out = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, goal_result>& of) {
    each("end", of.end, "a result that is not regular says why", as{.needed = true});
    each("rate", of.rate, "the best guess");
    each("relevant_lower_bound", of.lower, "highest load that was shown to keep the promise");
    each("relevant_upper_bound", of.upper, "lowest load that was shown not to");
    each("conditional_throughput", of.conditional_throughput, "at the lower bound");
    each("limited_by", of.limited_by, "at the upper bound", as{.needed = true});
    each("loss_ratio", of.loss_ratio, "at the upper bound", as{.fine = true});
    each("by_short_trials", of.by_short_trials,
         "the bounds are those of shorter trials than the goal's own, which show less");
}

template <class Archive>
void fields(Archive& each, field<Archive, confirmation_result>& of) {
    each("what", of.what, "share of the relevant lower bound, or what else was tried once more",
         as{.needed = true});
    each("load", of.load);
    each("duration_s", of.duration_s, "of each trial");
    each("held", of.held, "trials that kept the promise as measured");
    each("shown_held", of.shown_held, "and by evidence");
    each("failed", of.failed, "trials that did not keep it as measured");
    each("shown_failed", of.shown_failed, "and by evidence");
    each("far", of.far, "trials whose backlog grew by more than 10 % of what was due");
    each("left_out", of.left_out, "there was no time, or trials were not valid");
    each("untried", of.why, "why it was not tried, or not as often", as{.needed = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, search_result>& of) {
    each("end", of.end, "what was found, or what ended the search", as{.needed = true});
    each("limiting", of.limiting, "number of the goal with the lowest bounds, from 0");
    each("goals", of.goals, "Goal Results, in the order of the goals");
    each("confirmation", of.confirmation, "of the limiting goal");
    each("confirmed", of.confirmed, "all that could be was tried, and came out as it was found");
    each("ceiling", of.ceiling, "loads from here on could not be tried");
    each("ceiling_by", of.ceiling_by, "for this reason", as{.needed = true});
    each("trial_count", of.trials, "all that were performed");
    each("took_s", of.took_s);
}

template <class Archive>
void fields(Archive& each, field<Archive, own_limit>& of) {
    each("rate", of.rate, "at which its busiest worker would have no time left: load / busy");
    each("load", of.load, "that was finished a second");
    each("busy", of.busy, "then, processor time of its busiest worker, as a share of the time",
         as{.fine = true});
    each("measured_s", of.measured_s);
    each("left_out", of.left_out, "what of the run it did not do; empty: nothing");
}

template <class Archive>
void fields(Archive& each, field<Archive, search_record>& of) {
    each("sentence", of.sentence, "what was found", as{.needed = true});
    each("unit", of.unit, "what loads count, a second",
         as{.needed = true, .words = "messages visits"});
    each("sessions_busy", of.sessions_busy,
         "all of so many were busy where a promise was not kept; null: they were not",
         as{.left_out = true});
    each("beside", of.beside, "programs that performed a part of each trial", as{.left_out = true});
    each("own_limit", of.alone,
         "what the generator could do by itself, measured before the search in a closed loop "
         "against a server on the same host that does nothing with what it takes; not there where "
         "it was not measured",
         as{.left_out = true});
    each("search_goals", of.goals);
    each("start_load", of.start_load, "where the search began");
    each("min_load", of.min_load);
    each("max_load", of.max_load, "null: none was given");
    each("seed", of.seed, "of the order of the confirmation");
    each("result", of.result);
    each("trials", of.trials, "in their order");
}

}  // namespace postal::capacity
