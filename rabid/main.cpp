// rabid: reads mail back over POP3 and IMAP and checks every message.
//
// Options become a plan; a fleet of workers runs the plan's sessions; the console prints and
// records what they counted. Where to read on:
//   session.cpp     a session's life: accounts, connections, pauses
//   pop3_visit.cpp  a POP3 connection, imap_visit.cpp an IMAP one
//   profile.cpp     what IMAP sessions do
//   examiner.cpp    what a message turns out to be
#include <memory>
#include <utility>
#include <vector>

#include "cli/main.hpp"
#include "program/ledger.hpp"
#include "program/run.hpp"
#include "program/tls_options.hpp"
#include "rabid/options.hpp"
#include "rabid/phases.hpp"
#include "rabid/plan.hpp"
#include "rabid/session.hpp"
#include "rabid/workshop.hpp"

namespace {

using namespace postal;
using cli::exit_status;
using rabid::plan;

// A worker's sessions, which live as long as its loop.
struct crew {
    crew(plan& of, load::worker& own, ledger::writer* book) : shop(of, own, book) {
        for (unsigned index = own.index(); index < of.sessions; index += own.of()) {
            sessions.push_back(std::make_unique<rabid::session>(shop, index));
            own.spawn(sessions.back()->run());
        }
    }

    rabid::workshop shop;
    std::vector<std::unique_ptr<rabid::session>> sessions;
};

exit_status fail(const base::failure& what, exit_status status) {
    cli::complain("rabid", what.message);
    return status;
}

// Mailboxes may be empty: what counts is that somebody let us in.
exit_status status_of(const stats::run_report& report, load::run_result result) {
    const exit_status usual = program::status_of(result);
    if (usual == exit_status::system_error) return usual;
    const auto& latency = report.totals_with_warmup().latency;
    const bool inside = !latency[static_cast<std::size_t>(rabid::phase::login)].empty() ||
                        !latency[static_cast<std::size_t>(rabid::phase::list)].empty();
    return inside ? usual : exit_status::nothing_delivered;
}

// `kept` is null without a ledger.
exit_status read_all(plan& of, load::run_console& console, program::ledger_keeper* kept) {
    auto fleet_plan = program::fleet_plan_of(of.chosen.run, rabid::phase_count);
    fleet_plan.workers = of.workers;
    load::fleet fleet(fleet_plan);
    if (kept != nullptr) kept->watch_over(fleet);
    ledger::writer* const book = kept != nullptr ? &kept->book() : nullptr;
    std::vector<std::unique_ptr<crew>> crews(of.workers);  // end before the loops they live on
    const auto begin = [&](load::worker& own) {
        crews[own.index()] = std::make_unique<crew>(of, own, book);
    };
    load::run_watcher& watcher = kept != nullptr ? static_cast<load::run_watcher&>(*kept) : console;
    const auto ran = fleet.run(begin, watcher);
    crews.clear();
    const bool written = kept == nullptr || kept->close();
    if (!ran) return fail(ran.error(), exit_status::system_error);
    const load::run_result result = console.finish(fleet.lasted());
    return written ? status_of(console.report(), result) : exit_status::system_error;
}

exit_status run(int argc, char** argv) {
    rabid::options chosen;
    const auto asked = rabid::parse_options(chosen, argc, argv);
    if (!asked) return fail(asked.error(), exit_status::bad_parameters);
    if (*asked == cli::outcome::done) return exit_status::done;
    auto made = rabid::make_plan(std::move(chosen));
    if (!made) return fail(made.error(), exit_status::bad_parameters);
    plan& of = **made;
    const auto room = rabid::claim_descriptors(of);
    if (!room) return fail(room.error(), exit_status::system_error);
    auto console = load::run_console::create(rabid::describe(of, argc, argv),
                                             program::console_options_of(of.chosen.run));
    if (!console) return fail(console.error(), exit_status::bad_parameters);
    std::unique_ptr<program::ledger_keeper> kept;
    if (!of.chosen.ledger.empty()) {
        auto opened = program::ledger_keeper::open(of.chosen.ledger,
                                                   rabid::ledger_entry(of, argc, argv), **console);
        if (!opened) return fail(opened.error(), exit_status::bad_parameters);
        kept = std::move(*opened);
    }
    program::say_unverified(**console, of.chosen.tls);
    const auto header = (*console)->begin();
    if (!header) return fail(header.error(), exit_status::system_error);
    return read_all(of, **console, kept.get());
}

}  // namespace

int main(int argc, char** argv) {
    return cli::run_main("rabid", [&] { return run(argc, argv); });
}
