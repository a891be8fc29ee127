// postal: loads a mail server with SMTP or LMTP sessions and counts what it takes.
//
// Options become a plan; a fleet of workers runs the plan's sessions; the console prints and
// records what they counted. Where to read on:
//   session.cpp           a connection's life: connect, greeting, EHLO, QUIT, pauses
//   session_mail.cpp      the loop in which messages are sent and replies are read
//   exchange.cpp          what is said, and when: plain, pipelined, chunked
//   exchange_replies.cpp  what each reply means: here messages are timed and counted
//   books.hpp             the counters themselves
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "cli/main.hpp"
#include "postal/options.hpp"
#include "postal/plan.hpp"
#include "postal/session.hpp"
#include "postal/workshop.hpp"
#include "program/ledger.hpp"
#include "program/run.hpp"
#include "program/tls_options.hpp"

namespace postal {

namespace {

using cli::exit_status;

// A worker's sessions, which live as long as its loop.
struct crew {
    crew(plan& of, load::worker& own, ledger::writer* book) : shop(of, own, book) {
        for (unsigned index = own.index(); index < of.sessions; index += own.of()) {
            sessions.push_back(std::make_unique<session>(shop, index));
            own.spawn(sessions.back()->run());
        }
    }

    workshop shop;
    std::vector<std::unique_ptr<session>> sessions;
};

exit_status status_of(const plan& of, const stats::run_report& report, load::run_result result) {
    const exit_status usual = program::status_of(result);
    if (usual == exit_status::system_error) return usual;
    const stats::tally& all = report.totals_with_warmup();
    const bool only_connects = of.chosen.messages_a_connection == 0;
    const bool nothing = only_connects ? all.connections == 0 : all.messages == 0;
    return nothing ? exit_status::nothing_delivered : usual;
}

exit_status fail(const base::failure& what, exit_status status) {
    cli::complain("postal", what.message);
    return status;
}

ledger::run_entry entry_of(const plan& of, int argc, char** argv) {
    return {of.run, "postal", std::chrono::system_clock::now(), of.seed, {argv, argv + argc}};
}

// `kept` is null without a ledger.
exit_status sail(plan& of, load::run_console& console, program::ledger_keeper* kept) {
    auto fleet_plan = program::fleet_plan_of(of.chosen.run, phase_count);
    fleet_plan.workers = of.workers;
    load::fleet fleet(fleet_plan);
    if (kept != nullptr) kept->watch_over(fleet);
    ledger::writer* const book = kept != nullptr ? &kept->book() : nullptr;
    std::vector<std::unique_ptr<crew>> crews(of.workers);  // end before the loops they live on
    const auto ran = fleet.run(
        [&](load::worker& own) { crews[own.index()] = std::make_unique<crew>(of, own, book); },
        kept != nullptr ? static_cast<load::run_watcher&>(*kept) : console);
    crews.clear();
    const bool written = kept == nullptr || kept->close();
    if (!ran) return fail(ran.error(), exit_status::system_error);
    const load::run_result result = console.finish(fleet.lasted());
    return written ? status_of(of, console.report(), result) : exit_status::system_error;
}

exit_status run(int argc, char** argv) {
    options chosen;
    const auto asked = parse_options(chosen, argc, argv);
    if (!asked) return fail(asked.error(), exit_status::bad_parameters);
    if (*asked == cli::outcome::done) return exit_status::done;
    auto made = make_plan(std::move(chosen));
    if (!made) return fail(made.error(), exit_status::bad_parameters);
    plan& of = **made;
    const auto room = claim_descriptors(of);
    if (!room) return fail(room.error(), exit_status::system_error);
    auto console_options = program::console_options_of(of.chosen.run);
    console_options.messages = of.chosen.messages.value_or(0);
    auto console = load::run_console::create(describe(of, argc, argv), console_options);
    if (!console) return fail(console.error(), exit_status::bad_parameters);

    std::unique_ptr<program::ledger_keeper> kept;
    if (!of.chosen.ledger.empty()) {
        auto opened =
            program::ledger_keeper::open(of.chosen.ledger, entry_of(of, argc, argv), **console);
        if (!opened) return fail(opened.error(), exit_status::bad_parameters);
        kept = std::move(*opened);
    }
    program::say_unverified(**console, of.chosen.tls);
    const auto header = (*console)->begin();
    if (!header) return fail(header.error(), exit_status::system_error);
    return sail(of, **console, kept.get());
}

}  // namespace

}  // namespace postal

int main(int argc, char** argv) {
    return static_cast<int>(
        postal::cli::run_main("postal", [&] { return postal::run(argc, argv); }));
}
