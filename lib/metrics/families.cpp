// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/families.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "stats/figures.hpp"

namespace postal::metrics {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using labels = std::vector<ClientMetric::Label>;

class family_list {
  public:
    explicit family_list(const std::string& program) : program_(program) {}

    MetricFamily& family(std::string_view name, std::string_view help, MetricType type) {
        made_.push_back({fmt::format("postal_{}", name), std::string(help), type, {}});
        return made_.back();
    }
    ClientMetric& metric(MetricFamily& of, labels more = {}) const {
        ClientMetric one;
        one.label = {{"program", program_}};
        for (auto& label : more)
            one.label.push_back(std::move(label));
        of.metric.push_back(std::move(one));
        return of.metric.back();
    }
    void count(MetricFamily& of, double value, labels more = {}) const {
        metric(of, std::move(more)).counter.value = value;
    }
    void counter(std::string_view name, std::string_view help, double value) {
        count(family(name, help, MetricType::Counter), value);
    }
    void gauge(std::string_view name, std::string_view help, double value, labels more = {}) {
        metric(family(name, help, MetricType::Gauge), std::move(more)).gauge.value = value;
    }
    void distribution(std::string_view name, std::string_view help,
                      const stats::histogram& values) {
        distribution(family(name, help, MetricType::Histogram), values);
    }
    void distribution(MetricFamily& of, const stats::histogram& values, labels more = {}) {
        metric(of, std::move(more)).histogram = classic_histogram(values);
        natives_.push_back(native_of(values));
    }
    exposition take() { return {std::move(made_), std::move(natives_)}; }

  private:
    const std::string& program_;
    std::vector<MetricFamily> made_;
    std::vector<native_histogram> natives_;
};

// Waits that are over leave these.
bool may_fall(const stats::counter& one) {
    return one.value == &stats::counts::still_deferred || one.value == &stats::counts::not_retried;
}

// Nothing is ever due for a server.
bool never_counts(const stats::run_description& run, const stats::counter& one) {
    return run.serves && one.value == &stats::counts::not_started;
}

// "first_accepted_seconds"
std::string in_seconds(std::string_view name) {
    return std::string(name.substr(0, name.size() - 1)) + "seconds";
}

std::string help_of(const stats::counter& one) {
    const std::string_view unit = one.unit == stats::counter_unit::octets ? ", octets" : "";
    if (one.meaning.empty()) return fmt::format("{}{}", one.title, unit);
    return fmt::format("{}: {}{}", one.title, one.meaning, unit);
}

void add_counters(family_list& to, const stats::run_report& so_far) {
    const stats::run_description& run = so_far.description();
    const stats::counts counted = so_far.totals_with_warmup().counted();
    for (const stats::counter& one : run.counters) {
        if (!run.has(one) || never_counts(run, one)) continue;
        if (one.kind == stats::counter_kind::error) continue;
        const auto value = static_cast<double>(counted.*one.value);
        if (may_fall(one)) {
            to.gauge(one.name, help_of(one), value);
        } else {
            to.counter(fmt::format("{}_total", one.name), help_of(one), value);
        }
    }
}

void add_errors(family_list& to, const stats::run_report& so_far) {
    std::map<std::pair<std::string, std::string>, std::uint64_t> sums;
    for (const stats::error_entry& one : so_far.totals_with_warmup().errors.entries())
        sums[{one.stage, one.code > 0 ? std::to_string(one.code) : one.detail}] += one.count;
    MetricFamily& family = to.family(
        "errors_total", "errors by stage, and reply code or what went wrong", MetricType::Counter);
    for (const auto& [kind, count] : sums)
        to.count(family, static_cast<double>(count),
                 {{"stage", kind.first}, {"code", kind.second}});
}

// A limit that nobody has struck yet is shown too, so that its first strike is a rate.
void add_limits(family_list& to, const stats::run_report& so_far) {
    const stats::run_description& run = so_far.description();
    if (run.limits.empty()) return;
    const auto struck = so_far.totals_with_warmup().limits.sorted();
    MetricFamily& family = to.family("limit_strikes_total", "refusals for a limit, by its option",
                                     MetricType::Counter);
    for (const std::string& name : run.limits) {
        const auto found = std::find_if(struck.begin(), struck.end(),
                                        [&](const auto& one) { return one.name == name; });
        const std::uint64_t count = found == struck.end() ? 0 : found->count;
        to.count(family, static_cast<double>(count), {{"limit", name}});
    }
    if (!run.held) return;
    to.gauge("held_octets", "octets of unfinished mail that are held (--max-held)",
             static_cast<double>(run.held()));
    to.gauge("held_octets_limit", "how many may be", static_cast<double>(run.most_held));
}

void add_phases(family_list& to, const stats::run_report& so_far) {
    const stats::run_description& run = so_far.description();
    const stats::tally& total = so_far.totals_with_warmup();
    MetricFamily& family =
        to.family("phase_seconds", "latency of each phase; of messages those that were accepted",
                  MetricType::Histogram);
    for (std::size_t phase = 0; phase < run.phases.size(); ++phase) {
        if (!run.shows_phase(phase)) continue;
        to.distribution(family, total.latency[phase], {{"phase", run.phases[phase]}});
    }
    if (run.open_loop())
        to.distribution("unserved_seconds", "how long what was due and got nowhere had waited",
                        total.unserved);
}

void add_sessions(family_list& to, const stats::run_report& so_far, const stats::live_state& now) {
    const auto& states = so_far.description().session_states;
    MetricFamily& family = to.family(
        "sessions", "sessions by what they are at, of the last half second", MetricType::Gauge);
    for (std::size_t i = 0; i < std::min(states.size(), now.sessions.size()); ++i) {
        if (states[i].empty()) continue;
        to.metric(family, {{"state", states[i]}}).gauge.value =
            static_cast<double>(now.sessions[i]);
    }
}

void add_generator(family_list& to, const stats::run_report& so_far, const beside_report& more) {
    const stats::tally& total = so_far.totals_with_warmup();
    const auto by_worker = [&](std::string_view name, std::string_view help, auto value) {
        MetricFamily& family = to.family(name, help, MetricType::Counter);
        for (std::size_t i = 0; i < more.workers.size(); ++i)
            to.count(family, value(more.workers[i]), {{"worker", std::to_string(i)}});
    };
    by_worker("worker_cpu_seconds_total", "processor time of each worker thread",
              [](const stats::worker_time& of) { return base::seconds_of(of.busy); });
    by_worker("worker_run_delay_seconds_total", "time that each was ready and had no processor",
              [](const stats::worker_time& of) {
                  return base::seconds_of(of.run_delay.value_or(std::chrono::nanoseconds(0)));
              });
    by_worker("worker_wall_seconds_total", "time that each has run for",
              [](const stats::worker_time& of) { return base::seconds_of(of.wall); });
    to.distribution("loop_late_seconds", "how late the workers' ticks came", total.loop_late);
    if (!so_far.description().serves)
        to.distribution("slip_seconds", "how late what waited for the schedule was let through",
                        total.slip);
}

// Tags have a prefix, since Prometheus has labels of its own.
labels info_labels(const stats::run_description& run) {
    labels made{{"version", run.version}};
    if (!run.labels.title.empty()) made.push_back({"title", run.labels.title});
    if (!run.labels.note.empty()) made.push_back({"note", run.labels.note});
    for (const auto& [key, value] : run.labels.tags)
        made.push_back({"tag_" + key, value});
    return made;
}

void add_agents(family_list& to, const stats::run_report& so_far) {
    if (!so_far.description().runs_agents) return;
    const stats::agent_counts& agents = so_far.totals_with_warmup().agents;
    to.counter("agents_started_total", "agents that were started",
               static_cast<double>(agents.started()));
    to.gauge("agents_running", "agents that run", static_cast<double>(agents.running()));
    MetricFamily& cpu = to.family("agent_cpu_seconds_total",
                                  "processor time of agents that have ended", MetricType::Counter);
    to.count(cpu, base::seconds_of(agents.user()), {{"mode", "user"}});
    to.count(cpu, base::seconds_of(agents.system()), {{"mode", "system"}});
    MetricFamily& ends = to.family(
        "agents_ended_total", "by exit status, signal or what went wrong", MetricType::Counter);
    for (const auto& one : agents.exits().sorted())
        to.count(ends, static_cast<double>(one.count), {{"end", one.name}});
}

// The newest sample of each source.
void add_samples(family_list& to, const stats::run_report& so_far) {
    const auto add = [&](std::string_view name, std::string_view help, std::string_view unit) {
        const auto fits = [&](const auto& one) { return one.unit == unit; };
        const auto& all = so_far.latest_samples;
        if (std::none_of(all.begin(), all.end(), fits)) return;
        MetricFamily& family = to.family(name, help, MetricType::Gauge);
        for (const stats::sampled_value& one : all)
            if (fits(one)) to.metric(family, {{"name", one.name}}).gauge.value = one.value;
    };
    add("queue_messages", "messages in mail queues, of the newest sample (--queue)", "messages");
    add("sample", "what commands printed, of the newest sample (--sample-command)", "");
}

void add_families(family_list& made, const stats::run_report& so_far, const beside_report& more) {
    const stats::run_description& run = so_far.description();
    made.gauge("run_info", "1, with the program's version and what the run is called", 1,
               info_labels(run));
    made.gauge("start_time_seconds", "when the run began, since the epoch",
               std::chrono::duration<double>(run.started.time_since_epoch()).count());
    made.gauge("warmup", "1 within the warm-up, whose counts records leave out", more.in_warmup);
    made.gauge("open_connections", "connections that are open",
               static_cast<double>(more.now.open_connections));
    for (const stats::figure& one : stats::all_figures())
        if (const auto value = one.measure(so_far.totals_with_warmup()))
            made.gauge(in_seconds(one.name), one.meaning, *value);
    add_sessions(made, so_far, more.now);
    add_counters(made, so_far);
    add_errors(made, so_far);
    add_limits(made, so_far);
    add_phases(made, so_far);
    add_generator(made, so_far, more);
    add_agents(made, so_far);
    add_samples(made, so_far);
}

// Where a value lies beyond each quantile, and its time is known.
void add_latencies(family_list& to, const stats::run_report& ended) {
    const stats::run_description& run = ended.description();
    MetricFamily& family = to.family(
        "result_latency_seconds",
        "percentiles of each phase after the warm-up, as the record has them", MetricType::Gauge);
    for (std::size_t phase = 0; phase < run.phases.size(); ++phase) {
        if (!run.shows_phase(phase)) continue;
        const stats::ranking values = ended.latency(phase);
        for (const auto& [name, q] : {std::pair{"0.5", 0.5}, std::pair{"0.9", 0.9},
                                      std::pair{"0.99", 0.99}, std::pair{"0.999", 0.999}}) {
            const stats::percentile got = values.quantile(q);
            if (stats::support_of(q, values.count()) == stats::support::none || !got.reached)
                continue;
            to.metric(family, {{"phase", run.phases[phase]}, {"quantile", name}}).gauge.value =
                base::seconds_of(got.value);
        }
    }
}

void add_rate(family_list& to, const stats::run_report& ended) {
    const stats::rate_summary rate = ended.rate();
    if (!rate.mean) return;
    to.gauge("result_messages_per_minute", "mean over the whole intervals after the warm-up",
             *rate.mean);
    if (!rate.ci95) return;
    MetricFamily& family =
        to.family("result_messages_per_minute_ci95", "the 95 % confidence interval of that mean",
                  MetricType::Gauge);
    to.metric(family, {{"bound", "low"}}).gauge.value = rate.ci95->front();
    to.metric(family, {{"bound", "high"}}).gauge.value = rate.ci95->back();
}

}  // namespace

exposition families_of(const stats::run_report& so_far, const beside_report& more) {
    family_list made(so_far.description().program);
    add_families(made, so_far, more);
    return made.take();
}

exposition results_of(const stats::run_report& ended, const beside_report& more) {
    family_list made(ended.description().program);
    add_families(made, ended, more);
    made.gauge("result_duration_seconds", "from the start to the stop", ended.end().duration_s);
    made.gauge("result_measured_seconds", "of these after the warm-up", ended.measured_s());
    add_rate(made, ended);
    add_latencies(made, ended);
    if (!ended.thresholds.empty()) {
        const auto missed =
            std::count_if(ended.thresholds.begin(), ended.thresholds.end(),
                          [](const stats::threshold_result& one) { return !one.passed; });
        made.gauge("result_thresholds_missed", "thresholds that were not met",
                   static_cast<double>(missed));
    }
    return made.take();
}

}  // namespace postal::metrics
