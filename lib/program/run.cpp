// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/units.hpp"
#include "cli/output_files.hpp"
#include "mail/digest.hpp"
#include "os/limits.hpp"
#include "program/run_ledger.hpp"
#include "program/search_part.hpp"
#include "program/tls_options.hpp"
#include "sampling/sampler.hpp"

namespace postal::program {

using base::expected;
using cli::exit_status;
using std::chrono::nanoseconds;

namespace {

load::worker_pool_plan worker_pool_plan_of(const cli::run_options& chosen, std::size_t phases) {
    return {.workers = chosen.workers,
            .phases = phases,
            .interval = cli::interval_of(chosen),
            .align_minutes = chosen.align_minutes,
            .warmup = chosen.warmup,
            .duration = chosen.duration,
            .grace = chosen.grace};
}

// What a process opens besides its sessions: loops, timers, lists, logs.
constexpr std::uint64_t descriptors_beside_sessions = 64;
constexpr std::uint64_t descriptors_a_sample = 16;

// For sessions that hold `each`, transcripts aside, and what there is beside them.
expected<void> claim_descriptors(std::uint64_t sessions, std::uint64_t each, std::uint64_t beside,
                                 const net::transcript_options& wanted) {
    if (!wanted.session_base.empty()) each += 1;
    if (!wanted.connection_base.empty()) each += 2;
    return os::raise_descriptor_limit(sessions * each + beside);
}

std::uint64_t sample_descriptors(const sampling::choice& chosen) {
    return descriptors_a_sample * (chosen.queues.size() + chosen.commands.size());
}

// To what a run reports.
struct run_reports {
    std::unique_ptr<run_console> console;
    std::unique_ptr<run_ledger> kept{};            // null without a ledger
    std::unique_ptr<run_console> merged{};         // of all ranks, where this one leads several
    std::shared_ptr<sampling::sampler> sampler{};  // null where nothing is sampled
    bool written = true;
    bool transcribed = true;

    void starts(load::steady_time when) const {
        const auto ahead = std::chrono::duration_cast<std::chrono::system_clock::duration>(
            when - std::chrono::steady_clock::now());
        const auto wall = std::chrono::system_clock::now() + ahead;
        console->starts(wall);
        if (merged) merged->starts(wall);
    }
    // What the whole run has to say.
    run_console& speaking() const noexcept { return merged ? *merged : *console; }
    ledger::writer* book() const noexcept { return kept ? &kept->book() : nullptr; }
    load::run_watcher& watch_over(load::worker_pool& workers) const {
        if (!kept) return *console;
        kept->watch_over(workers);
        return *kept;
    }
    // From the start of the run on, or from about now.
    void begin_samples(std::optional<load::steady_time> start) const {
        if (!sampler) return;
        speaking().shows_samples(*sampler);
        sampler->begin(start.value_or(std::chrono::steady_clock::now()));
    }
    // The run has ended: what is left in queues now belongs to it.
    void finish_samples(const load::worker_pool& workers) const {
        if (sampler) speaking().keep_samples(workers.times().start);
    }
    void close() { written = !kept || kept->close(); }
    void close(const std::function<client_run::remarks_or_failure()>& others) {
        close();
        const auto closed = others();
        if (!closed) {
            written = false;
            return console->say(closed.error().message);
        }
        for (const std::string& one : *closed)
            console->say(one);
    }
    // When all transcripts have ended.
    void look_at_transcripts() {
        const auto why = net::transcript_failure();
        if (!why) return;
        transcribed = false;
        console->say(*why);
    }
    exit_status finish(const load::worker_pool& workers, unsigned most_connections = 0) const {
        const exit_status status = console->finish(end_of(workers, most_connections));
        return written && transcribed ? status : exit_status::system_error;
    }
};

struct ledger_choice {
    const std::string& file;  // empty: none
    ledger::role role;
    std::uint64_t run;
    std::uint64_t seed;
};

expected<run_reports> open_reports(const stats::run_description& of, console_options options,
                                   const ledger_choice& wanted) {
    auto console = run_console::create(of, std::move(options));
    if (!console) return console.error();
    run_reports made{std::move(*console)};
    if (wanted.file.empty()) return made;
    const auto now = std::chrono::system_clock::now();
    auto opened = run_ledger::open(wanted.file,
                                   {wanted.run, wanted.role, of.program, now, wanted.seed, of.argv,
                                    wanted.role == ledger::role::reader},
                                   *made.console);
    if (!opened) return opened.error();
    made.kept = std::move(*opened);
    return made;
}

load::worker_pool_plan worker_pool_plan_of(const client_run& what) {
    auto plan = worker_pool_plan_of(what.chosen.run, what.description.phases.size());
    plan.workers = what.plan.workers;
    plan.finishes_due = what.description.open_loop();
    plan.bounded = what.plan.tickets.limited();
    plan.give_up = what.plan.give_up;
    plan.start_at = what.plan.start_at;
    if (what.chosen.search.in_trials()) plan.slice = rate_search::slice;
    return plan;
}

// A rank's own, beside that which the command line names.
expected<void> check_own_record(const client_options& chosen, const std::string& file) {
    if (cli::is_given(chosen.effective, "force") || file.empty()) return {};
    return cli::check_kind({"--record", file, &cli::run_record});
}

// Whoever keeps this process's own record and ledger, and the console of the whole run.
expected<run_reports> open_client_reports(const client_run& what) {
    const ranks& others = what.others;
    const std::string book = others.own_file(what.chosen.ledger);
    const console_options speaking{.run = what.chosen.run,
                                   .messages = what.messages,
                                   .give_up = what.plan.give_up,
                                   .fail_fast = what.chosen.fail_fast,
                                   .hint = what.hint};
    console_options own = speaking;
    own.silent = !others.alone();
    own.record = others.own_file(what.chosen.run.record);
    own.who = others.name();
    if (!others.alone()) {
        const auto replaces = check_own_record(what.chosen, own.record);
        if (!replaces) return replaces.error();
    }
    auto reports = open_reports(others.own(what.description), std::move(own),
                                {book, what.ledger_role, what.plan.run, what.plan.seed});
    if (!reports || others.alone() || !others.leads()) return reports;
    stats::run_description whole = what.description;
    whole.ranks = static_cast<unsigned>(others.identity().share.of);
    auto merged = run_console::create(whole, speaking);
    if (!merged) return merged.error();
    reports->merged = std::move(*merged);
    return reports;
}

// What the whole run comes to; it is a failure before all else.
exit_status judge(const client_run& what, run_console& speaking, exit_status status) {
    const stats::tally all = speaking.report().totals_with_warmup();
    if (what.fulfilled) {
        const client_run::fulfilment found = what.fulfilled(all);
        if (!found.said.empty()) speaking.say(found.said);
        if (!found.whole && status == exit_status::done) status = exit_status::threshold_not_met;
    }
    if (status == exit_status::system_error) return status;
    return what.achieved(all) ? status : exit_status::nothing_delivered;
}

// All have ended. Rank 0 speaks for them.
exit_status finish_together(const client_run& what, run_reports& reports, exit_status own) {
    ranks& others = what.others;
    auto of_all = others.finish(reports.console->report(), own);
    if (!of_all) return others.leave_after_all();
    const cluster::ended& all = of_all->all;
    stats::run_report& report = reports.merged->report();
    report.set_ranks(std::move(of_all->shares));
    exit_status status =
        reports.merged->finish({.duration_s = base::seconds_of(all.lasted),
                                .why = reports.console->report().end().why,
                                .cpu_user_s = all.cpu_user_s,
                                .cpu_system_s = all.cpu_system_s,
                                .max_rss_bytes = all.max_rss_bytes,
                                .interrupted = reports.console->report().end().interrupted});
    const bool failed =
        of_all->any_lost || all.status == static_cast<std::uint64_t>(exit_status::system_error);
    status = judge(what, *reports.merged, status);
    return others.leave_after_all(failed ? exit_status::system_error : status);
}

// The first words of a run: rank 0 speaks them.
expected<void> say_what_begins(const client_run& what, const run_reports& reports) {
    if (!what.others.leads()) return {};
    run_console& speaking = reports.speaking();
    say_unverified(speaking, what.chosen.tls);
    for (const std::string& one : what.remarks)
        speaking.say(one);
    const auto header = speaking.begin();
    if (!header) return header.error();
    if (what.plan.start_at) speaking.say("starts at " + format_start(*what.chosen.start_at));
    return {};
}

// The end of a pool joins the threads that look names up for it. One that the system's resolver
// keeps cannot be interrupted, and may keep it for minutes: such a pool is left to the process,
// which ends all the same. By then it does nothing, and nobody has anything of it.
struct end_of_workers {
    void operator()(load::worker_pool* all) const noexcept {
        [[maybe_unused]] static load::worker_pool* left = nullptr;  // no leak of ours
        if (!all->looks_up()) return delete all;
        left = all;
    }
};

exit_status run_workers(const client_run& what, const load::worker_pool_plan& plan,
                        run_reports& reports, search_part& part) {
    const std::unique_ptr<load::worker_pool, end_of_workers> own_pool(new load::worker_pool(plan));
    load::worker_pool& workers = *own_pool;
    std::vector<std::shared_ptr<void>> sessions(plan.workers);  // end before the loops they live on
    // From here on a signal ends the run in order, so nobody is told before that it is there.
    const auto told = say_what_begins(what, reports);
    if (!told) return what.others.refuse(told.error(), exit_status::system_error);
    load::run_watcher& own =
        what.others.attend(workers, plan, reports.merged.get(), reports.watch_over(workers));
    load::run_watcher& watcher = part.attend(workers, own, reports.speaking());
    reports.speaking().ends_run([&](load::run_ending why) { what.others.end(why); });
    reports.begin_samples(plan.start_at);
    part.begin(what, workers, reports.speaking());
    const auto ran = workers.run(
        [&](load::worker& one) { sessions[one.index()] = what.begin(one, reports.book()); },
        watcher);
    part.end(workers);
    reports.finish_samples(workers);
    sessions.clear();
    reports.close(what.close);
    reports.look_at_transcripts();
    exit_status status = reports.finish(workers);
    if (!ran) reports.console->say(ran.error().message);
    if (!ran || part.broke()) status = exit_status::system_error;
    if (!what.others.alone()) return finish_together(what, reports, status);
    return judge(what, *reports.console, status);
}

expected<listeners> listen(const server_run& what, load::worker_pool& workers,
                           run_console& console) {
    auto opened = what.listen(workers.at(0).context());
    if (!opened) return opened;
    say_fingerprint(console, what.chosen.tls, what.rules.tls.get());
    for (const net::listener& one : *opened)
        console.say("listening on " + net::to_text(one.where));
    return opened;
}

// Fails with what is wrong with the system.
expected<exit_status> serve_clients(const server_run& what, run_reports& reports) {
    const auto claimed = claim_descriptors(
        what.chosen.sessions, what.descriptors_a_session,
        what.descriptors_beside_sessions + sample_descriptors(what.chosen.samples),
        what.chosen.transcripts);
    if (!claimed) return base::at("--sessions", claimed.error());
    auto plan = worker_pool_plan_of(what.chosen.run, what.description.phases.size());
    plan.serves = true;
    serve::session_slots slots(what.chosen.sessions, what.chosen.transcripts);
    load::worker_pool workers(plan);
    std::vector<worker_handler> handlers;  // end before the loops that their sessions live on
    for (std::size_t i = 0; i < workers.size(); ++i) {
        auto made = what.begin({workers.at(i), reports.book()});
        if (!made) return made.error();
        handlers.push_back(std::move(*made));
    }
    auto open = listen(what, workers, *reports.console);
    if (!open) return open.error();
    reports.console->ends_run([&](load::run_ending why) {
        workers.stop(load::stop_kind::gently, why, nanoseconds::max());
    });
    const auto header = reports.console->begin();
    if (!header) return header.error();
    reports.begin_samples(std::nullopt);
    what.ready(workers.at(0));
    const auto ran = serve::serve_all(
        workers, *open, slots,
        [&](std::size_t worker, serve::accepted_client who) {
            return handlers[worker](std::move(who));
        },
        reports.watch_over(workers));
    reports.finish_samples(workers);
    handlers.clear();
    reports.close();
    slots.end_transcripts();
    reports.look_at_transcripts();
    const exit_status status = reports.finish(workers, slots.most_taken());
    if (!ran) return ran.error();
    return status;
}

}  // namespace

namespace {

const char* program_that_begins = "";

void end_without_memory() noexcept {
    std::fputs(program_that_begins, stderr);
    std::fputs(": out of memory\n", stderr);
    std::_Exit(static_cast<int>(exit_status::system_error));
}

// Now, and not with somebody's mail: memory may fail OpenSSL while it sets itself up. A digest that
// a policy forbids is refused elsewhere.
void load_digests(const std::string& program) {
    program_that_begins = program.c_str();
    mail::load_digests(end_without_memory);
}

}  // namespace

exit_status run_clients(client_run what) {
    load_digests(what.description.program);
    ranks& others = what.others;
    const auto claimed =
        claim_descriptors(what.plan.sessions, 1,
                          descriptors_beside_sessions + sample_descriptors(what.chosen.samples),
                          what.plan.transcripts);
    if (!claimed) return others.refuse(claimed.error(), exit_status::system_error);
    auto part = search_part::of(what);
    if (!part) return others.refuse(part.error(), exit_status::bad_parameters);
    part->describe(what);
    auto reports = open_client_reports(what);
    if (!reports) return others.refuse(reports.error(), exit_status::bad_parameters);
    auto plan = worker_pool_plan_of(what);
    if (const auto refused = others.agree(what.description, what.plan.sessions, plan))
        return others.refuse({refused->message}, refused->status);
    const auto measured = part->measure_alone(what, reports->speaking());
    if (!measured) return others.refuse(measured.error(), exit_status::system_error);
    if (*measured) reports->starts(std::chrono::steady_clock::now());
    if (const auto met = part->meet_others(what, plan); !met)
        return others.refuse(met.error(), exit_status::system_error);
    if (plan.start_at) reports->starts(*plan.start_at);
    reports->sampler = what.chosen.sampler;
    return run_workers(what, plan, *reports, *part);
}

exit_status run_servers(const server_run& what) {
    load_digests(what.description.program);
    const std::string& name = what.description.program;
    auto reports = open_reports(what.description, what.console,
                                {what.chosen.ledger, ledger::role::sink, what.ledger_run, 0});
    if (!reports) return cli::refuse(name, reports.error(), exit_status::bad_parameters);
    if (what.chosen.samples.any()) {
        auto opened = sampling::sampler::open(what.chosen.samples);
        if (!opened) return cli::refuse(name, opened.error(), exit_status::bad_parameters);
        reports->sampler = std::move(*opened);
    }
    const auto status = serve_clients(what, *reports);
    return status ? *status : cli::refuse(name, status.error(), exit_status::system_error);
}

}  // namespace postal::program
