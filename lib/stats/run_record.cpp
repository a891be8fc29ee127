// SPDX-License-Identifier: GPL-3.0-or-later
// What a run_report has, as the record that is kept of it, part by part in the order of its fields.
#include "stats/run_record.hpp"

#include "base/units.hpp"
#include "stats/figures.hpp"
#include "stats/record_writer.hpp"
#include "stats/run_report.hpp"

#include <algorithm>
#include <utility>

namespace postal::stats {
namespace {

known_counts known_of(const run_description& run, const tally& counted) {
    known_counts made{counted.counted(), {}};
    for (const counter& one : run.counters)
        if (run.has(one)) made.known.push_back(one.name);
    return made;
}

// Of all ranks.
std::uint64_t workers_of(const run_report& report) {
    if (report.ranks().empty()) return report.description().workers;
    std::uint64_t all = 0;
    for (const rank_share& one : report.ranks())
        all += one.workers;
    return all;
}

// Also of those that nobody has struck.
named_numbers limits_of(const run_description& run, const named_counts& struck) {
    named_numbers made;
    for (const std::string& name : run.limits)
        made.push_back({name, 0});
    for (const named_count& one : struck.sorted()) {
        const auto found = std::find_if(made.begin(), made.end(), [&](const named_count& other) {
            return other.name == one.name;
        });
        if (found == made.end()) {
            made.push_back(one);
        } else {
            found->count = one.count;
        }
    }
    return made;
}

agent_summary agents_of(const agent_counts& agents) {
    return {agents.started(), base::seconds_of(agents.user()), base::seconds_of(agents.system()),
            agents.max_rss_bytes(), agents.exits().sorted()};
}

tls_summary tls_of(const std::string& library, const tls_counts& tls) {
    return {library,
            tls.full,
            tls.resumed,
            tls.versions.sorted(),
            tls.ciphers.sorted(),
            tls.groups.sorted(),
            tls.verifications.sorted()};
}

// Kinds of which none was sent are left out.
command_summary commands_of(const run_description& run, const command_counts& counted) {
    command_summary made{counted.total(), {}};
    const std::size_t known = std::min(run.commands.size(), counted.kinds.size());
    for (std::size_t i = 0; i < known; ++i)
        if (counted.kinds[i].sent > 0) made.by_kind.push_back({counted.kinds[i], run.commands[i]});
    return made;
}

// Verbs that are not wanted and were not begun are left out.
profile_summary profile_of(const wanted_profile& wanted, const action_counts& counted) {
    profile_summary made;
    made.name = wanted.name;
    made.least_actions = wanted.least_actions;
    made.most_actions = wanted.most_actions;
    for (std::size_t i = 0; i < wanted.actions.size(); ++i) {
        const wanted_action& what = wanted.actions[i];
        action_count done = i < counted.verbs.size() ? counted.verbs[i] : action_count{};
        const histogram times = std::exchange(done.time, std::nullopt).value_or(histogram{});
        std::vector<phase_figures> by_size;
        for (std::size_t size = 0; size < size_classes; ++size) {
            const histogram sized =
                std::exchange(done.by_size[size], std::nullopt).value_or(histogram{});
            if (!sized.empty())
                by_size.push_back(
                    {figures_of(ranking(sized)), std::to_string(least_of_size_class(size))});
        }
        made.merge(done);
        if (what.wanted() || done.begun > 0)
            made.verbs.push_back(
                {what, std::move(done), figures_of(ranking(times)), std::move(by_size)});
    }
    return made;
}

std::vector<phase_figures> phases_of(const run_report& report) {
    std::vector<phase_figures> made;
    const run_description& run = report.description();
    for (std::size_t i = 0; i < run.phases.size(); ++i) {
        if (!run.shows_phase(i)) continue;
        const ranking values = report.latency(i);
        made.push_back({figures_of(values), run.phases[i]});
        if (!values.whole())
            made.push_back(
                {figures_of(ranking(values.accepted())), std::string(run.what_counts())});
    }
    return made;
}

// What no stretch knows is no list.
second_columns columns_of(const second_counts& seconds) {
    const std::vector<second_count>& all = seconds.all();
    const auto any = [&](auto what) { return std::any_of(all.begin(), all.end(), what); };
    second_columns made;
    made.width_s = seconds.width_s();
    if (any([](const second_count& one) { return one.asked.has_value(); })) made.asked.emplace();
    if (any([](const second_count& one) { return one.p50.has_value(); })) {
        made.message_p50.emplace();
        made.message_p90.emplace();
        made.message_p99.emplace();
    }
    for (const second_count& one : all) {
        made.warmup += one.warmup ? 1 : 0;
        made.t_s.push_back(one.end_s);
        made.messages.push_back(one.messages);
        made.errors.push_back(one.errors);
        made.worker_cpu_s.push_back(one.worker_cpu_s);
        made.open_connections.push_back(mean_open(one.connected_s, one.end_s - one.start_s));
        if (made.asked) made.asked->push_back(one.asked.value_or(0));
        if (!made.message_p50) continue;
        made.message_p50->push_back(one.p50);
        made.message_p90->push_back(one.p90);
        made.message_p99->push_back(one.p99);
    }
    return made;
}

void add_head(run_record& to, const run_report& report) {
    const run_description& run = report.description();
    to.program = run.program;
    to.version = run.version;
    to.argv = run.argv;
    to.labels = run.labels;
    to.options.assign(run.options.begin(), run.options.end());
    to.seed = run.seed;
    to.workers = workers_of(report);
    to.transcript = run.transcript;
    to.started = timestamp(run.started);
    to.ended = report.end().why;
    to.interrupted = report.end().interrupted;
    to.duration_s = report.end().duration_s;
    to.warmup_s = base::seconds_of(run.warmup);
    to.measured_s = report.measured_s();
    to.interval_s = base::seconds_of(run.interval);
    to.align_minutes = run.align_minutes;
    for (const figure& one : all_figures())
        to.*one.value = one.measure(report.totals_with_warmup());
    to.host = run.host;
    if (run.greetings) to.greetings = run.greetings();
}

void add_counts(run_record& to, const run_report& report) {
    const run_description& run = report.description();
    const tally& total = report.totals();
    to.counters = run.counters;
    to.totals = known_of(run, total);
    to.totals_with_warmup = known_of(run, report.totals_with_warmup());
    to.cpu_user_s = report.end().cpu_user_s;
    to.cpu_system_s = report.end().cpu_system_s;
    to.max_rss_bytes = report.end().max_rss_bytes;
    if (!report.totals_with_warmup().authentications.empty())
        to.authentications = total.authentications.sorted();
    if (!run.limits.empty()) to.limits = limits_of(run, total.limits);
    if (run.runs_agents) to.agents = agents_of(total.agents);
    if (!run.tls_library.empty()) to.tls = tls_of(run.tls_library, total.tls);
    if (!run.commands.empty()) to.commands = commands_of(run, total.commands);
    if (run.profile) to.profile = profile_of(*run.profile, total.actions);
    if (run.serves) to.connection_use = report.connections();
}

}  // namespace

// Null: too few values for that percentile, or it is not reached; then at_least has it.
latency_figures figures_of(const ranking& values) {
    latency_figures made;
    time_figures bounds;
    const auto put = [&](auto figure, const percentile& got, bool known) {
        time_figures& to = got.reached ? static_cast<time_figures&>(made) : bounds;
        if (known) to.*figure = got.value;
    };
    const auto put_quantile = [&](auto figure, double q) {
        put(figure, values.quantile(q), support_of(q, values.count()) != support::none);
    };
    const bool any = values.count() > 0;
    made.count = values.count();
    put(&time_figures::mean, values.mean(), any);
    put_quantile(&time_figures::p50, 0.5);
    put_quantile(&time_figures::p90, 0.9);
    put_quantile(&time_figures::p99, 0.99);
    put_quantile(&time_figures::p999, 0.999);
    put(&time_figures::min, values.quantile(0), any);
    put(&time_figures::max, values.quantile(1), any);
    made.distribution = values.accepted();
    if (values.whole()) return made;
    made.not_accepted = values.count() - values.accepted().count();
    made.at_least = bounds;
    return made;
}

bool known_counts::has(const counter& one) const noexcept {
    return std::find(known.begin(), known.end(), one.name) != known.end();
}

const phase_figures* run_record::find_phase(std::string_view name) const noexcept {
    const auto found = std::find_if(phases.begin(), phases.end(),
                                    [&](const phase_figures& one) { return one.name == name; });
    return found == phases.end() ? nullptr : &*found;
}

const phase_figures* run_record::main_phase() const noexcept {
    for (const std::string_view name : {"message", "retrieve", "session"}) {
        if (const phase_figures* found = find_phase(name); found != nullptr) return found;
    }
    return nullptr;
}

run_record run_report::record() const {
    run_record made;
    add_head(made, *this);
    add_counts(made, *this);
    made.rate = rate();
    made.rate_by_second = seconds_.rate();
    if (description_.serves) made.under_load = seconds_.loaded();
    made.phases = phases_of(*this);
    made.intervals = rows_;
    if (description_.ranks < 2)
        for (interval_row& one : made.intervals)
            one.ranks.reset();
    made.seconds = columns_of(seconds_);
    made.cap = cap();
    if (ranks_.size() > 1) made.ranks = ranks_;
    made.search = search;
    made.samples = samples;
    made.generator = generator();
    made.not_in_effect = not_in_effect().sorted();
    made.errors = totals_.errors.by_count();
    made.errors_with_warmup = with_warmup_.errors.by_count();
    made.thresholds = thresholds;
    return made;
}

}  // namespace postal::stats
