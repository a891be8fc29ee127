// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/search_part.hpp"

#include "base/units.hpp"
#include "base/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace postal::program {

namespace {

using base::expected;
using std::chrono::nanoseconds;

// What waits in a queue is what was sent there, and no reader's.
bool counts_queue(const client_run& what) {
    return !what.chosen.samples.queues.empty() && what.ledger_role == ledger::role::sender;
}

nanoseconds patience_of(const client_run& what) {
    const nanoseconds longest = search_partners::longest_wait;
    const nanoseconds give_up = what.plan.give_up;
    return give_up.count() > 0 ? std::min(longest, give_up) : longest;
}

}  // namespace

expected<search_part> search_part::of(const client_run& what) {
    search_part made;
    if (!what.chosen.search.in_trials()) return made;
    auto goals = goals_of(what.chosen.search, what.description.phases, *what.description.due_phase);
    if (!goals) return goals.error();
    made.goals_.emplace(std::move(*goals));
    return made;
}

void search_part::describe(client_run& what) const {
    if (!goals_) return;
    const client_options& chosen = what.chosen;
    stats::run_description& into = what.description;
    const search_choice& search = chosen.search;
    auto promises = promises_of(search);
    if (promises.size() == 1)
        into.options["goal"] = promises.front();
    else
        into.options["goal"] = std::move(promises);
    into.options["width"] =
        fmt::format("{:g}%", search.width.value_or(capacity::defaults_of(search.set).width) * 100);
    if (!search.wanted) {
        into.options["rate"] = fmt::format("{:g}% of the search's", search.share * 100);
        return;
    }
    into.options["duration"] = base::format_duration(longest_search(search));
    if (chosen.samples.any())
        into.options["sample-every"] = base::format_duration(chosen.samples.period());
    if (what.alone)
        into.options["own-limit"] =
            base::format_duration(what.others.alone() ? own_limit_time(search) : nanoseconds{});
    if (!search.start) into.options["rate"] = fmt::format("{:g}/s", search_start(search));
}

search_flow::plan search_part::flow_of(const client_run& what) const {
    return {.program = what.description.program,
            .unit = std::string(what.description.what_is_due()),
            .share = what.chosen.search.share,
            .arrival = what.plan.arrival,
            .seed = what.plan.seed,
            .phases = what.description.phases.size(),
            .due_phase = *what.description.due_phase,
            .sessions = std::uint64_t{what.plan.sessions} * what.plan.share.of,
            .at_once = what.at_once,
            .promises = goals_->promises};
}

cluster::joins search_part::joins_with(const client_run& what) const {
    const search_flow::plan flow = flow_of(what);
    return {.version = std::string(base::build_version),
            .program = flow.program,
            .unit = flow.unit,
            .share = flow.share,
            .at_random = flow.arrival == load::arrival::poisson,
            .seed = flow.seed,
            .phases = flow.phases,
            .due_phase = flow.due_phase,
            .sessions = flow.sessions,
            .at_once = flow.at_once,
            .goals = goals_->goals,
            .promises = flow.promises};
}

expected<bool> search_part::measure_alone(const client_run& what, run_console& speaking) {
    const nanoseconds time = own_limit_time(what.chosen.search);
    if (!what.alone || time.count() == 0) return false;
    const auto end = what.plan.start_at.value_or(load::steady_time::max());
    std::string why;
    if (!what.others.alone())
        why = "one process is measured, and here are several";
    else if (end - std::chrono::steady_clock::now() < time + beside_measuring)
        why = "--start-at leaves no time";
    if (!why.empty()) {
        if (what.chosen.search.own_limit && what.others.leads())
            speaking.say("--own-limit: not measured: " + why);
        return false;
    }
    const alone_plan plan = what.alone();
    speaking.say(fmt::format("measures for {} what it can do by itself, against {} on this host",
                             base::format_duration(time), plan.server));
    waiting_in_order wait;
    const auto found = program::measure_alone(plan, time, end, wait);
    if (wait.interrupted()) return base::fail("{}", interrupted_before);
    if (found)
        alone_ = *found;
    else
        speaking.say("what it can do by itself is not known: " + found.error().message);
    return true;
}

expected<void> search_part::meet_others(const client_run& what, load::worker_pool_plan& into) {
    const search_choice& chosen = what.chosen.search;
    if (chosen.sockets.empty() && chosen.joins.empty()) return {};
    if (!what.others.alone())
        return base::fail("--{}: is for one process; leave it or the launcher out",
                          chosen.joins.empty() ? "search-socket" : "join-search");
    if (!chosen.joins.empty()) {
        auto joined = joined_search::join(chosen.joins, joins_with(what), patience_of(what));
        if (!joined) return joined.error();
        joined_ = std::move(*joined);
        into.start_at = joined_->start();
        return {};
    }
    auto partners = search_partners::open(chosen.sockets);
    if (!partners) return partners.error();
    const auto there = partners->assemble(patience_of(what));
    if (!there) return there.error();
    // More than the way to them, and to their workers' first step.
    constexpr auto lead_time = std::chrono::milliseconds(200);
    const load::steady_time soon = std::chrono::steady_clock::now() + lead_time;
    into.start_at = std::max(soon, into.start_at.value_or(soon));
    partners->start(*into.start_at);
    partners_.emplace(std::move(*partners));
    return {};
}

load::run_watcher& search_part::attend(load::worker_pool& workers, load::run_watcher& own,
                                       run_console& speaking) {
    if (!joined_) return own;
    return joined_->attend(workers, own,
                           [&speaking](const std::string& line) { speaking.say(line); });
}

rate_search::plan search_part::search_plan_of(const client_run& what) const {
    rate_search::plan made{.chosen = what.chosen.search,
                           .goals = goals_->goals,
                           .flows = {flow_of(what)},
                           .processes = static_cast<unsigned>(what.plan.share.of),
                           .alone = alone_};
    if (!partners_) return made;
    for (capacity::goal& one : partners_->goals())
        made.goals.push_back(std::move(one));
    for (search_flow::plan& one : partners_->flows())
        made.flows.push_back(std::move(one));
    made.processes += static_cast<unsigned>(made.flows.size() - 1);
    return made;
}

void search_part::begin(const client_run& what, load::worker_pool& workers, run_console& speaking) {
    ranks& others = what.others;
    if (!goals_ || joined_ || !others.leads()) return;
    search_ = std::make_unique<rate_search>(search_plan_of(what));
    rate_search& search = *search_;
    rate_search::hooks hooks{.tell =
                                 [this, &others](std::size_t flow, const load::trial& next) {
                                     if (flow > 0) return partners_->begin_trial(flow, next);
                                     others.begin_trial(next);
                                 },
                             .end = [&others](load::run_ending why) { others.end(why); },
                             .say = [&speaking](const std::string& line) { speaking.say(line); }};
    if (counts_queue(what)) hooks.queued = [from = what.chosen.sampler] { return from->queued(); };
    search.attach(workers, std::move(hooks));
    speaking.searches(search);
    workers.every(rate_search::period, [&search] { search.look(); });
    if (partners_) watch_partners(workers, speaking);
}

void search_part::watch_partners(load::worker_pool& workers, run_console& speaking) {
    partners_->attach({.on_time_slice = [this](const stats::time_slice& slice,
                                               std::size_t flow) { search_->note(slice, flow); },
                       .on_lost =
                           [this, &speaking](const std::string& line) {
                               speaking.say(line);
                               search_->partner_lost();
                           }});
    workers.every(rate_search::period, [this, &workers] {
        if (workers.stopping()) end(workers);
        partners_->poll();
    });
}

void search_part::end(const load::worker_pool& workers) {
    if (partners_) partners_->end({.why = workers.ended_by()});
    if (joined_) joined_->end();
}

bool search_part::broke() const {
    return (partners_ && partners_->any_lost()) || (joined_ && joined_->failed());
}

}  // namespace postal::program
