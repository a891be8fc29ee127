// SPDX-License-Identifier: GPL-3.0-or-later
// bhm: the black hole for mail. Options become a plan, the plan starts acceptors, a pool of workers
// serves whoever comes in, and the console reports.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/standard_output.hpp"
#include "base/units.hpp"
#include "bhm/envelope.hpp"
#include "bhm/options.hpp"
#include "bhm/plan.hpp"
#include "bhm/session.hpp"
#include "bhm/worker_context.hpp"
#include "cli/main.hpp"
#include "program/run.hpp"

namespace {

using namespace postal;
using cli::exit_status;

// Event loops, timers, listening sockets, standard streams, with room to spare.
constexpr std::uint64_t descriptors_beside_sessions = 64;

program::worker_handler begin(const bhm::plan& of, const program::server_worker& worker) {
    auto context = std::make_shared<bhm::worker_context>(of, worker.own, worker.book);
    return [context](serve::accepted_client who) {
        return serve::serve_client<bhm::session>(*context, std::move(who));
    };
}

// Clients and rules make the other errors, and that is what it is there for.
bool is_our_own(const stats::error_entry& what) {
    return what.stage == "bounce" || what.detail == "not_stored" || what.detail == "resources";
}

exit_status serve(const bhm::plan& of, stats::run_description description) {
    const bhm::options& chosen = of.chosen;
    return program::run_servers(
        {.chosen = chosen,
         .rules = of.rules,
         .description = std::move(description),
         .console = {.run = chosen.run, .worth_telling = is_our_own},
         .ledger_run = of.run,
         .descriptors_a_session = of.delivery.store ? 2U : 1U,  // a message's file
         .descriptors_beside_sessions = 4 * chosen.run.workers + descriptors_beside_sessions,
         .begin = [&](const auto& worker) { return begin(of, worker); },
         .listen = [&](auto& context) { return serve::open_listeners(of.places, context); }});
}

// --check-behaviour
exit_status explain(const bhm::plan& of) {
    const behaviour::behaviour& rules = of.engine->what();
    if (of.chosen.envelope.empty()) {
        base::print(
            fmt::format("{}: {}, and no mistake; --envelope TEXT tells what they do to one\n",
                        of.chosen.behaviour_file, base::format_amount(rules.rules.size(), "rule")));
        return exit_status::done;
    }
    const auto asked = bhm::parse_envelope(of.chosen.envelope, of.valid);
    if (!asked) return cli::refuse("bhm", asked.error(), exit_status::bad_parameters);
    base::print(behaviour::explain(rules, of.seed(), (*asked)->here));
    return exit_status::done;
}

exit_status run(int argc, char** argv) {
    bhm::options chosen;
    const auto asked = bhm::parse_options(chosen, {argv + 1, argv + argc});
    if (!asked) return cli::refuse("bhm", asked.error(), exit_status::bad_parameters);
    if (*asked == cli::parse_result::done) return exit_status::done;
    const auto made = bhm::make_plan(std::move(chosen));
    if (!made) return cli::refuse("bhm", made.error(), exit_status::bad_parameters);
    if ((*made)->chosen.check_behaviour) return explain(**made);
    return serve(**made, bhm::describe(**made, argc, argv));
}

}  // namespace

int main(int argc, char** argv) {
    return cli::run_main("bhm", [&] { return run(argc, argv); });
}
