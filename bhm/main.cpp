// bhm: the black hole for mail. Options become a plan, the plan opens doors, a fleet of workers
// serves whoever comes in, and the console reports.
#include <memory>
#include <string>
#include <vector>

#include "bhm/door.hpp"
#include "bhm/options.hpp"
#include "bhm/phases.hpp"
#include "bhm/plan.hpp"
#include "bhm/reception.hpp"
#include "bhm/room.hpp"
#include "cli/main.hpp"
#include "load/fleet.hpp"
#include "load/run_console.hpp"

namespace {

using namespace postal;
using cli::exit_status;

load::fleet_plan fleet_of(const bhm::options& chosen) {
    load::fleet_plan result;
    result.workers = chosen.run.workers;
    result.phases = bhm::phase_count;
    result.serves = true;
    result.interval = chosen.run.interval;
    result.align_minutes = chosen.run.align_minutes;
    result.warmup = chosen.run.warmup;
    result.duration = chosen.run.duration;
    result.grace = chosen.run.grace;
    return result;
}

load::console_options console_of(const cli::run_options& chosen) {
    load::console_options result;
    switch (chosen.format) {
        case cli::log_format::csv:
            result.format = stats::log_format::csv;
            break;
        case cli::log_format::jsonl:
            result.format = stats::log_format::jsonl;
            break;
        case cli::log_format::extended:
            result.format = stats::log_format::extended;
            break;
    }
    result.record = chosen.record;
    result.thresholds = chosen.thresholds;
    result.progress = chosen.progress;
    result.duration = chosen.duration;
    return result;
}

exit_status refuse(const base::failure& why, exit_status status) {
    cli::complain("bhm", why.message);
    return status;
}

exit_status status_of(load::run_result result) {
    switch (result) {
        case load::run_result::done:
            return exit_status::done;
        case load::run_result::threshold_missed:
            return exit_status::threshold_not_met;
        case load::run_result::system_error:
            break;
    }
    return exit_status::system_error;
}

exit_status serve_all(const bhm::plan& plan, load::run_console& console) {
    const auto raised = bhm::raise_limits(plan);
    if (!raised) return refuse(raised.error(), exit_status::system_error);
    load::fleet ships(fleet_of(plan.chosen));
    auto listeners = bhm::open_listeners(plan, ships.at(0).context());
    if (!listeners) return refuse(listeners.error(), exit_status::system_error);
    for (const net::listener& one : *listeners) {
        console.say("listening on " + net::to_text(one.where));
    }
    const bhm::options& chosen = plan.chosen;
    bhm::reception front(chosen.sessions, {chosen.transcripts, chosen.connection_transcripts,
                                           chosen.log_everything});
    std::vector<std::unique_ptr<bhm::room>> rooms;
    for (std::size_t i = 0; i < ships.size(); ++i) {
        rooms.push_back(std::make_unique<bhm::room>(plan, front, ships.at(i)));
    }
    auto begun = console.begin();
    if (!begun) return refuse(begun.error(), exit_status::system_error);
    const auto open_doors = [&](load::worker& own) {
        if (own.index() != 0) return;
        for (net::listener& one : *listeners)
            own.spawn(bhm::attend(one, rooms, front));
    };
    auto ran = ships.run(open_doors, console);
    for (net::listener& one : *listeners)
        net::close(one);
    const load::run_result result = console.finish(ships.lasted());
    if (!ran) return refuse(ran.error(), exit_status::system_error);
    return status_of(result);
}

exit_status run(int argc, char** argv) {
    bhm::options chosen;
    const auto parsed = bhm::parse_options(chosen, argc, argv);
    if (!parsed) return refuse(parsed.error(), exit_status::bad_parameters);
    if (*parsed == cli::outcome::done) return exit_status::done;
    auto plan = bhm::make_plan(std::move(chosen));
    if (!plan) return refuse(plan.error(), exit_status::bad_parameters);
    auto console = load::run_console::create(bhm::describe(**plan, argc, argv),
                                             console_of((*plan)->chosen.run));
    if (!console) return refuse(console.error(), exit_status::bad_parameters);
    return serve_all(**plan, **console);
}

}  // namespace

int main(int argc, char** argv) {
    return cli::run_main("bhm", [&] { return run(argc, argv); });
}
