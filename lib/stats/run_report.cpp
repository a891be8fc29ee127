// Each time slice is merged into the interval that goes on, into the whole run and, after the
// warm-up, into the totals; an interval that closes leaves a small row behind and its tally is used
// again, so that memory grows by a row an interval and nothing else.
#include "stats/run_report.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <utility>

namespace postal::stats {
namespace {

constexpr double busy_limit = 0.9;
constexpr std::chrono::milliseconds slip_limit{10};

void add_times(std::vector<worker_time>& sums, const std::vector<worker_time>& added) {
    if (sums.size() < added.size()) sums.resize(added.size());
    for (std::size_t i = 0; i < added.size(); ++i) {
        sums[i].busy += added[i].busy;
        sums[i].wall += added[i].wall;
    }
}

double share(const worker_time& worker) {
    if (worker.wall.count() <= 0) return 0;
    const double part =
        static_cast<double>(worker.busy.count()) / static_cast<double>(worker.wall.count());
    // The two clocks are not read at the same instant: a short time slice can seem more than full.
    return std::clamp(part, 0.0, 1.0);
}

double largest_share(const std::vector<worker_time>& workers) {
    double largest = 0;
    for (const auto& worker : workers)
        largest = std::max(largest, share(worker));
    return largest;
}

std::optional<std::chrono::nanoseconds> known_quantile(const histogram& values, double q) {
    if (support_of(q, values.count()) == support::none) return std::nullopt;
    return values.quantile(q);
}

// The latest of all, while there are fewer than a hundred.
std::optional<std::chrono::nanoseconds> slip_p99_of(const tally& counted) {
    if (counted.slip.empty()) return std::nullopt;
    return counted.slip.quantile(0.99);
}

double share_of(std::chrono::nanoseconds part, double whole_s) {
    return whole_s > 0 ? std::min(1.0, std::chrono::duration<double>(part).count() / whole_s) : 0;
}

// Begun, and without an outcome yet.
std::uint64_t still_in_flight(const tally& total, counter_rows rows) {
    std::uint64_t ended = 0;
    for (const counter& one : rows)
        if (one.kind == counter_kind::outcome) ended += total.*one.value;
    return total.started - std::min(total.started, ended);
}

}  // namespace

void time_slice::add_worker(std::size_t worker, const tally& counted) {
    counts.merge(counted);
    if (workers.size() <= worker) workers.resize(worker + 1);
    workers[worker].busy += counted.busy;
    workers[worker].wall += counted.wall;
}

void time_slice::merge(const time_slice& other) {
    counts.merge(other.counts);
    add_times(workers, other.workers);
}

run_report::run_report(run_description description)
    : description_(std::move(description)),
      current_(description_.phases.size()),
      totals_(description_.phases.size()),
      with_warmup_(description_.phases.size()) {}

std::optional<closed_interval> run_report::add_time_slice(const time_slice& added) {
    if (!current_open_) {
        current_.counts.clear();
        current_.workers.clear();
        current_.start_s = added.start_s;
        current_.in_warmup = current_.partial = false;
        current_open_ = true;
    }
    current_.end_s = std::max(current_.start_s, added.end_s);
    current_.in_warmup = current_.in_warmup || added.in_warmup;
    current_.partial = current_.partial || added.partial;
    current_.counts.merge(added.counts);
    add_times(current_.workers, added.workers);
    if (!added.in_warmup) {
        // What the warm-up left in flight ends in these totals, so it counts as started in them.
        if (measured_workers_.empty()) {
            const std::uint64_t in_flight = still_in_flight(with_warmup_, description_.counters);
            totals_.started += in_flight;
            if (description_.open_loop) totals_.due += in_flight;
            totals_.agents.carry_over(with_warmup_.agents.running());
        }
        totals_.merge(added.counts);
        add_times(measured_workers_, added.workers);
        if (!added.draining) {
            measured_s_ += std::max(0.0, added.end_s - added.start_s);
            measured_messages_ = totals_.messages;
        }
    }
    with_warmup_.merge(added.counts);
    if (!added.draining) {
        stopped_ = {added.end_s, with_warmup_.started};
        if (added.in_warmup) warmed_up_ = stopped_;
    }
    if (!added.closes_interval) return std::nullopt;
    current_open_ = false;
    // A run that stops exactly at an interval's end leaves an empty rest of no length.
    if (current_.end_s <= current_.start_s && current_.counts.empty()) return std::nullopt;
    rows_.push_back(close_row());
    return closed_interval{rows_.back(), current_.counts};
}

interval_row run_report::close_row() const {
    const tally& counted = current_.counts;
    interval_row row;
    static_cast<counts&>(row) = counted.counted();
    row.start_s = current_.start_s;
    row.end_s = current_.end_s;
    row.warmup = current_.in_warmup;
    row.partial = current_.partial;
    row.classes = counted.errors.classes();
    row.worker_busy = largest_share(current_.workers);
    row.slip_p99 = slip_p99_of(counted);
    if (description_.asked) {
        const bool draining = row.start_s >= stopped_.at_s;
        row.asked = draining ? 0 : description_.asked(row.end_s) - description_.asked(row.start_s);
    }
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
    const bool all = description_.open_loop && phase == description_.message_phase;
    return ranking(totals_.latency[phase], all ? &totals_.unserved : nullptr);
}

std::optional<cap_summary> run_report::cap() const {
    if (!description_.asked || !(measured_s_ > 0)) return std::nullopt;
    const double asked = description_.asked(stopped_.at_s);
    cap_summary result;
    result.asked_per_s = (asked - description_.asked(warmed_up_.at_s)) / measured_s_;
    result.reached_per_s = static_cast<double>(stopped_.started - warmed_up_.started) / measured_s_;
    result.all_busy = share_of(totals_.all_busy, measured_s_);
    // The schedule's first message is due at once, and one may just have become so.
    const double behind = asked - static_cast<double>(stopped_.started);
    result.behind = behind >= 1 ? static_cast<std::uint64_t>(behind) : 0;
    return result;
}

generator_summary run_report::generator() const {
    generator_summary result;
    result.worker_busy = largest_share(measured_workers_);
    result.slip_p99 = slip_p99_of(totals_);
    const bool busy = result.worker_busy > busy_limit;
    const bool late = result.slip_p99.has_value() && *result.slip_p99 > slip_limit;
    result.limited = busy || late;
    if (!result.limited) return result;
    std::string cause;
    if (busy) cause = fmt::format("a worker was {:.0f} % busy", result.worker_busy * 100);
    if (busy && late) cause += " and ";
    if (late) {
        cause += fmt::format("the schedule was {} late at the 99th percentile",
                             base::format_latency(*result.slip_p99));
    }
    result.reason =
        fmt::format("{}: {} itself may have been the limit", cause, description_.program);
    return result;
}

}  // namespace postal::stats
