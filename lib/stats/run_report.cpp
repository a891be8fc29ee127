// SPDX-License-Identifier: GPL-3.0-or-later
// Each time slice is merged into the interval that goes on, into the whole run and, after the
// warm-up, into the totals; an interval that closes leaves a small row behind and its tally is used
// again, so that memory grows by a row an interval and nothing else.
#include "stats/run_report.hpp"

#include "base/units.hpp"
#include "stats/rank_summary.hpp"

#include <algorithm>
#include <utility>

namespace postal::stats {
namespace {

double share_of_run(std::chrono::nanoseconds part, double whole_s) {
    return whole_s > 0 ? std::min(1.0, base::seconds_of(part) / whole_s) : 0;
}

// Begun, and without an outcome yet.
std::uint64_t still_in_flight(const tally& total, counter_rows rows) {
    std::uint64_t ended = 0;
    for (const counter& one : rows)
        if (one.kind == counter_kind::outcome) ended += total.*one.value;
    return total.started - std::min(total.started, ended);
}

// The same of what was due.
std::uint64_t still_due(const tally& total, std::size_t due_phase) {
    const std::uint64_t ended = total.latency[due_phase].count() + total.unserved.count();
    return total.due - std::min(total.due, ended);
}

// Recipients that wait when the warm-up ends have their end in these totals.
void carry_over_waiting(counts& into, const counts& from) {
    into.deferred_recipients += from.still_deferred + from.not_retried;
    into.still_deferred += from.still_deferred;
    into.not_retried += from.not_retried;
}

std::optional<double> ratio(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return std::nullopt;
    return static_cast<double>(part) / static_cast<double>(whole);
}

generator_verdict verdict_of(const rank_share& one) {
    return one.verdict.value_or(generator_verdict::none);
}

// The gravest verdict, and of several the busiest; null where no rank has one.
const rank_share* worst_of(const std::vector<rank_share>& ranks) {
    const auto less_grave = [](const rank_share& one, const rank_share& other) {
        return std::pair(gravity(verdict_of(one)), one.worker_busy.value_or(0)) <
               std::pair(gravity(verdict_of(other)), other.worker_busy.value_or(0));
    };
    const auto worst = std::max_element(ranks.begin(), ranks.end(), less_grave);
    const bool any = worst != ranks.end() && verdict_of(*worst) != generator_verdict::none;
    return any ? &*worst : nullptr;
}

// A rank whose verdict is as grave as that of all together is the better reason: it says where.
void blame_rank(generator_summary& all, const rank_share& worst) {
    const generator_verdict verdict = verdict_of(worst);
    if (gravity(verdict) < gravity(all.verdict)) return;
    if (verdict != all.verdict) all.cause = generator_cause::none;  // a rank does not say it
    all.verdict = verdict;
    all.limited = verdict == generator_verdict::limit;
    all.judged = all.traffic = true;
    all.reason = fmt::format("{}: {}", name_of(worst), worst.reason);
}

}  // namespace

std::optional<double> mean_open(double connected_s, double length_s) {
    return length_s > 0 ? std::optional(connected_s / length_s) : std::nullopt;
}

worker_sums sums_of(const std::vector<worker_time>& workers) {
    worker_sums sums;
    for (const worker_time& one : workers) {
        sums.worker_cpu_s += base::seconds_of(one.busy);
        sums.connected_s += one.connected_s;
    }
    return sums;
}

void time_slice::add_worker(std::size_t worker, const tally& counted) {
    counts.merge(counted);
    if (workers.size() <= worker) workers.resize(worker + 1);
    workers[worker].add_time(counted);
}

void time_slice::merge(const time_slice& other) {
    counts.merge(other.counts);
    add(other);
}

run_report::run_report(run_description description)
    : description_(std::move(description)),
      current_(description_.phases.size()),
      totals_(description_.phases.size()),
      with_warmup_(description_.phases.size()) {}

std::optional<closed_interval> run_report::add_time_slice(const time_slice& added) {
    if (!current_open_) {
        current_.counts.clear();
        static_cast<span_times&>(current_) = {};
        current_.start_s = added.start_s;
        current_.ranks = added.ranks;
        current_.in_warmup = current_.partial = current_.draining = false;
        current_open_ = true;
    }
    current_.end_s = std::max(current_.start_s, added.end_s);
    current_.in_warmup = current_.in_warmup || added.in_warmup;
    current_.partial = added.partial;  // the one that ends the interval knows how long it became
    current_.counts.merge(added.counts);
    current_.draining = current_.draining || added.draining;
    current_.add(added);
    current_.ranks = std::min(current_.ranks, added.ranks);
    if (!added.in_warmup) {
        // What the warm-up left in flight ends in these totals, so it counts as started in them.
        if (!std::exchange(measuring_, true)) {
            whole_.start_s = added.start_s;
            const std::uint64_t in_flight = still_in_flight(with_warmup_, description_.counters);
            totals_.started += in_flight;
            if (description_.open_loop())
                totals_.due += still_due(with_warmup_, *description_.due_phase);
            totals_.agents.carry_over(with_warmup_.agents.running());
            carry_over_waiting(totals_, with_warmup_);
        }
        totals_.merge(added.counts);
        if (!added.draining) {
            whole_.end_s = added.end_s;
            measured_times_.add(added);
            measured_s_ += std::max(0.0, added.end_s - added.start_s);
            measured_ = totals_;
        }
    }
    with_warmup_.merge(added.counts);
    seconds_.add(added, description_.message_phase, asked_between(added.start_s, added.end_s));
    if (!added.draining) {
        stopped_ = {added.end_s, with_warmup_.due - with_warmup_.not_started};
        if (added.in_warmup) warmed_up_ = stopped_;
    }
    if (!added.closes_interval) return std::nullopt;
    current_open_ = false;
    // A run that stops exactly at an interval's end leaves an empty rest of no length.
    if (current_.end_s <= current_.start_s && current_.counts.empty()) return std::nullopt;
    rows_.push_back(close_row());
    return closed_interval{rows_.back(), current_.counts};
}

std::optional<double> run_report::asked_between(double start_s, double end_s) const {
    if (!description_.asked) return std::nullopt;
    return description_.asked(end_s) - description_.asked(start_s);
}

interval_row run_report::close_row() const {
    const tally& counted = current_.counts;
    interval_row row;
    static_cast<counts&>(row) = counted.counted();
    row.start_s = current_.start_s;
    row.end_s = current_.end_s;
    row.warmup = current_.in_warmup;
    row.partial = current_.partial;
    row.draining = current_.draining;
    row.classes = counted.errors.classes();
    row.asked = asked_between(row.start_s, row.draining ? row.start_s : row.end_s);
    row.measure(current_, counted);
    const worker_sums workers = sums_of(current_.workers);
    row.worker_cpu_s = workers.worker_cpu_s;
    row.open_connections = mean_open(workers.connected_s, row.length_s());
    row.ranks = current_.ranks;
    if (description_.message_phase < counted.latency.size()) {
        const histogram& message = counted.latency[description_.message_phase];
        row.message_p50 = known_quantile(message, 0.5);
        row.message_p90 = known_quantile(message, 0.9);
        row.message_p99 = known_quantile(message, 0.99);
        row.message_max = known_quantile(message, 1);
    }
    if (description_.runs_agents) row.agents_running = with_warmup_.agents.running();
    if (description_.runs_agents && description_.agent_phase < counted.latency.size()) {
        const histogram& agent = counted.latency[description_.agent_phase];
        row.agent_p50 = known_quantile(agent, 0.5);
        row.agent_p99 = known_quantile(agent, 0.99);
    }
    return row;
}

ranking run_report::latency(std::size_t phase) const {
    const bool all = phase == description_.due_phase;
    return ranking(totals_.latency[phase], all ? &totals_.unserved : nullptr);
}

std::optional<cap_summary> run_report::cap() const {
    if (!description_.capped() || !(measured_s_ > 0)) return std::nullopt;
    const double asked = description_.asked(stopped_.at_s);
    const double asked_now = asked - description_.asked(warmed_up_.at_s);
    const auto begun = static_cast<double>(stopped_.begun - warmed_up_.begun);
    cap_summary result;
    result.asked_per_s = asked_now / measured_s_;
    // The last was due before the curve had come to a whole message.
    const bool ahead = begun > asked_now && begun < asked_now + 1;
    result.reached_per_s = (ahead ? asked_now : begun) / measured_s_;
    // Each rank has sessions of its own: on average.
    result.all_busy =
        share_of_run(totals_.all_busy / std::max(1U, description_.ranks), measured_s_);
    // The schedule's first message is due at once, and one may just have become so; of those that
    // begin together some may be due in each rank before the last of them is.
    const double behind = asked - static_cast<double>(stopped_.begun);
    const double waits = std::max(1U, description_.ranks) * (description_.together - 1.0);
    result.behind = behind >= waits + 1 ? static_cast<std::uint64_t>(behind) : 0;
    return result;
}

connection_summary run_report::connections() const {
    const counts& all = with_warmup_;
    return {.messages = ratio(all.messages, all.connections),
            .recipients = ratio(all.recipients, all.transactions),
            .tls = ratio(all.tls_connections, all.connections),
            .pipelined = ratio(all.pipelined, all.transactions),
            .most_open = end_.most_connections};
}

void run_report::set_ranks(std::vector<rank_share> ranks) {
    ranks_ = std::move(ranks);
    // Intervals of no length have left no row.
    for (rank_share& one : ranks_)
        one.messages.resize(rows_.size());
    description_.ranks = std::max(description_.ranks, static_cast<unsigned>(ranks_.size()));
}

// Of the intervals those that may be judged, and all of the run: an interval of some seconds has
// too few ticks for a percentile.
generator_summary run_report::generator() const {
    std::vector<generator_load> spans{whole_};
    spans.front().measure(measured_times_, totals_);
    for (const interval_row& row : rows_)
        if (!row.warmup && !row.draining && row.long_enough()) spans.push_back(row);
    generator_summary made = judge_all(spans, description_.program);
    made.slip_p99 = spans.front().slip_p99;
    for (const rank_share& one : ranks_)
        made.worker_busy = std::max(made.worker_busy, one.worker_busy);
    if (const rank_share* worst = worst_of(ranks_)) blame_rank(made, *worst);
    return made;
}

named_counts run_report::not_in_effect() const {
    named_counts made = with_warmup_.not_offered;
    const tls_counts& tls = with_warmup_.tls;
    const auto asked = description_.options.find("tls-resume");
    if (asked == description_.options.end() || tls.full == 0 || tls.resumed > 0) return made;
    const auto* percent = std::get_if<std::string>(&asked->second);
    if (percent != nullptr && percent->find_first_of("123456789") != percent->npos)
        made.add(fmt::format("--tls-resume {}: no session was resumed", *percent), tls.full);
    return made;
}

}  // namespace postal::stats
