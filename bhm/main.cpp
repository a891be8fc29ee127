// bhm: the black hole for mail. Options become a plan, the plan opens doors, a fleet of workers
// serves whoever comes in, and the console reports.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bhm/options.hpp"
#include "bhm/phases.hpp"
#include "bhm/plan.hpp"
#include "bhm/room.hpp"
#include "bhm/session.hpp"
#include "cli/main.hpp"
#include "program/ledger.hpp"
#include "program/run.hpp"
#include "program/tls_options.hpp"
#include "serve/door.hpp"

namespace {

using namespace postal;
using cli::exit_status;

exit_status refuse(const base::failure& why, exit_status status) {
    cli::complain("bhm", why.message);
    return status;
}

ledger::run_entry entry_of(const bhm::plan& plan, int argc, char** argv) {
    return {plan.run, "bhm", std::chrono::system_clock::now(), 0, {argv, argv + argc}};
}

// `kept` is null without a ledger.
exit_status serve(const bhm::plan& plan, load::run_console& console, program::ledger_keeper* kept) {
    const auto raised = bhm::raise_limits(plan);
    if (!raised) return refuse(raised.error(), exit_status::system_error);
    const bhm::options& chosen = plan.chosen;
    auto fleet_plan = program::fleet_plan_of(chosen.run, bhm::phase_count);
    fleet_plan.serves = true;
    load::fleet ships(fleet_plan);
    if (kept != nullptr) kept->watch_over(ships);
    auto listeners = serve::open_listeners(plan.places, ships.at(0).context());
    if (!listeners) return refuse(listeners.error(), exit_status::system_error);
    for (const net::listener& one : *listeners) {
        console.say("listening on " + net::to_text(one.where));
    }
    program::say_fingerprint(console, chosen.tls, plan.rules.tls.get());
    serve::reception front(chosen.sessions, chosen.transcripts);
    ledger::writer* const book = kept != nullptr ? &kept->book() : nullptr;
    std::vector<std::unique_ptr<bhm::room>> rooms;
    for (std::size_t i = 0; i < ships.size(); ++i) {
        rooms.push_back(std::make_unique<bhm::room>(plan, front, ships.at(i), book));
    }
    auto begun = console.begin();
    if (!begun) return refuse(begun.error(), exit_status::system_error);
    const serve::serve_guest guests = [&rooms](std::size_t worker, serve::visitor who) {
        return bhm::serve_guest(*rooms[worker], who);
    };
    auto& watcher = kept != nullptr ? static_cast<load::run_watcher&>(*kept) : console;
    auto ran = serve::serve_all(ships, *listeners, front, guests, watcher);
    rooms.clear();
    const bool written = kept == nullptr || kept->close();
    const load::run_result result = console.finish(ships.lasted());
    if (!ran) return refuse(ran.error(), exit_status::system_error);
    return written ? program::status_of(result) : exit_status::system_error;
}

exit_status run(int argc, char** argv) {
    bhm::options chosen;
    const auto parsed = bhm::parse_options(chosen, argc, argv);
    if (!parsed) return refuse(parsed.error(), exit_status::bad_parameters);
    if (*parsed == cli::outcome::done) return exit_status::done;
    auto plan = bhm::make_plan(std::move(chosen));
    if (!plan) return refuse(plan.error(), exit_status::bad_parameters);
    auto console = load::run_console::create(bhm::describe(**plan, argc, argv),
                                             program::console_options_of((*plan)->chosen.run));
    if (!console) return refuse(console.error(), exit_status::bad_parameters);
    std::unique_ptr<program::ledger_keeper> kept;
    if (!(*plan)->chosen.ledger.empty()) {
        auto opened = program::ledger_keeper::open((*plan)->chosen.ledger,
                                                   entry_of(**plan, argc, argv), **console);
        if (!opened) return refuse(opened.error(), exit_status::bad_parameters);
        kept = std::move(*opened);
    }
    return serve(**plan, **console, kept.get());
}

}  // namespace

int main(int argc, char** argv) {
    return cli::run_main("bhm", [&] { return run(argc, argv); });
}
