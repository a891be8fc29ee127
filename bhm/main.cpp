// bhm: the black hole for mail. Options become a plan, the plan opens doors, a fleet of workers
// serves whoever comes in, and the console reports.
#include <memory>
#include <string>
#include <vector>

#include "bhm/options.hpp"
#include "bhm/phases.hpp"
#include "bhm/plan.hpp"
#include "bhm/room.hpp"
#include "bhm/session.hpp"
#include "cli/main.hpp"
#include "program/run.hpp"
#include "serve/door.hpp"

namespace {

using namespace postal;
using cli::exit_status;

exit_status refuse(const base::failure& why, exit_status status) {
    cli::complain("bhm", why.message);
    return status;
}

exit_status serve(const bhm::plan& plan, load::run_console& console) {
    const auto raised = bhm::raise_limits(plan);
    if (!raised) return refuse(raised.error(), exit_status::system_error);
    const bhm::options& chosen = plan.chosen;
    auto fleet_plan = program::fleet_plan_of(chosen.run, bhm::phase_count);
    fleet_plan.serves = true;
    load::fleet ships(fleet_plan);
    auto listeners = serve::open_listeners(plan.places, ships.at(0).context());
    if (!listeners) return refuse(listeners.error(), exit_status::system_error);
    for (const net::listener& one : *listeners) {
        console.say("listening on " + net::to_text(one.where));
    }
    serve::reception front(chosen.sessions, chosen.transcripts);
    std::vector<std::unique_ptr<bhm::room>> rooms;
    for (std::size_t i = 0; i < ships.size(); ++i) {
        rooms.push_back(std::make_unique<bhm::room>(plan, front, ships.at(i)));
    }
    auto begun = console.begin();
    if (!begun) return refuse(begun.error(), exit_status::system_error);
    const serve::serve_guest guests = [&rooms](std::size_t worker, serve::visitor who) {
        return bhm::serve_guest(*rooms[worker], who);
    };
    auto ran = serve::serve_all(ships, *listeners, front, guests, console);
    const load::run_result result = console.finish(ships.lasted());
    if (!ran) return refuse(ran.error(), exit_status::system_error);
    return program::status_of(result);
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
    return serve(**plan, **console);
}

}  // namespace

int main(int argc, char** argv) {
    return cli::run_main("bhm", [&] { return run(argc, argv); });
}
