// SPDX-License-Identifier: GPL-3.0-or-later
// lmtp-deliver: an LMTP server in front of a local delivery agent. Options become a plan, the plan
// starts acceptors, a pool of workers serves whoever comes in. Where to read on:
//   session.cpp       what happens to mail: envelope, message, deliveries, answers
//   delivery.cpp      one recipient: queue, agent, end, reply
//   argv_template.cpp how the agent's command is read, and exit_statuses.cpp how its end is
//   message_file.cpp  where a message waits
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/standard_output.hpp"
#include "cli/main.hpp"
#include "lmtp-deliver/agent_log.hpp"
#include "lmtp-deliver/check_option.hpp"
#include "lmtp-deliver/delivery.hpp"
#include "lmtp-deliver/dispatcher.hpp"
#include "lmtp-deliver/options.hpp"
#include "lmtp-deliver/plan.hpp"
#include "lmtp-deliver/session.hpp"
#include "lmtp-deliver/worker_context.hpp"
#include "os/child.hpp"
#include "os/guardian.hpp"
#include "os/service_manager.hpp"
#include "os/system_user.hpp"
#include "program/run.hpp"

namespace {

using namespace postal;
using cli::exit_status;
using lmtp_deliver::plan;

// Event loops, timers, listening sockets, standard streams, with room to spare.
constexpr std::uint64_t descriptors_beside_sessions = 96;
// A session's socket and its message.
constexpr std::uint64_t descriptors_a_session = 2;
// The agent's handle, its message, and three for what it prints.
constexpr std::uint64_t descriptors_an_agent = 5;

// Tells the service manager that the end has begun.
class farewell final : public load::watched {
  public:
    void on_deadline() override {}
    void on_stop(load::stop_kind) override {
        if (!said_) os::notify("STOPPING=1");
        said_ = true;
    }

  private:
    bool said_ = false;
};

// The sockets of the service manager when there are any, in place of those of --listen. Those of
// --listen-tls are opened all the same.
base::expected<std::vector<net::listener>> open_listeners(const plan& run,
                                                          boost::asio::io_context& context) {
    const auto passed = os::passed_sockets();
    if (!passed) return passed.error();
    if (passed->empty()) return serve::open_listeners(run.places, context);
    std::vector<serve::listening_endpoint> over_tls = run.places;
    std::erase_if(over_tls, [](const auto& place) { return !place.tls; });
    auto opened = serve::open_listeners(over_tls, context);
    if (!opened) return opened;
    std::vector<net::listener> all = std::move(*opened);
    for (const int descriptor : *passed) {
        auto adopted = net::adopt_listener(context, descriptor);
        if (!adopted) return adopted.error();
        all.push_back(std::move(*adopted));
    }
    return all;
}

base::expected<program::worker_handler> begin(const plan& of, lmtp_deliver::common shared,
                                              const program::server_worker& worker) {
    auto starter = os::spawner::create();
    if (!starter) return starter.error();
    auto context =
        std::make_shared<lmtp_deliver::worker_context>(of, worker.own, std::move(*starter), shared);
    return program::worker_handler([context](serve::accepted_client who) {
        return serve::serve_client<lmtp_deliver::session>(*context, std::move(who));
    });
}

// Agents that outlive the server have deadlines only with a guardian. Each line is said once an
// interval.
void keep_guarded(os::guardian& agents, lmtp_deliver::agent_log& log) {
    const auto another = agents.look_after();
    if (!another) {
        log.say_once(
            "lmtp-guardian has been ended by somebody, and agents that outlive this server have no "
            "time limit: " +
            another.error().message);
    } else if (*another) {
        log.say_once("lmtp-guardian has been ended by somebody; there is another one");
    }
}

// What agents made of mail the log tells by itself, and clients have errors of their own.
bool is_our_own(const stats::error_entry& what) {
    return what.detail == "resources";
}

exit_status serve(const plan& of, stats::run_description description) {
    const lmtp_deliver::options& chosen = of.chosen;
    if (of.runs_agents_as_root() && !chosen.allow_root_agent)
        cli::complain("lmtp-deliver", fmt::format("agents run as root, which {} implies: it {}",
                                                  chosen.agent, of.root_because));
    if (of.asks_for_accounts()) {
        const auto loaded = os::load_user_services();
        if (!loaded) return cli::refuse("lmtp-deliver", loaded.error(), exit_status::system_error);
    }
    // A process of its own, made while there are no threads yet.
    auto guardian = os::guardian::start({.name = "lmtp-guardian",
                                         .lists = chosen.run.workers,
                                         .most_children = chosen.max_deliveries,
                                         .kill_after = lmtp_deliver::delivery::kill_after});
    if (!guardian) return cli::refuse("lmtp-deliver", guardian.error(), exit_status::system_error);
    lmtp_deliver::agent_log log(chosen.log);
    lmtp_deliver::dispatcher slots({.slots = chosen.max_deliveries,
                                    .longest = chosen.max_queued,
                                    .a_recipient = chosen.agents_of_a_recipient()});
    lmtp_deliver::account_lookups lookups;
    farewell last_words;
    return program::run_servers(
        {.chosen = chosen,
         .rules = of.rules,
         .description = std::move(description),
         // Through the log's own thread, so that nothing waits for whoever reads it.
         .console = {.run = chosen.run,
                     .diagnostics = [&](const std::string& line) { log.say(line); },
                     .after_interval = [&] { log.next_interval(); },
                     .after_time_slice = [&] { keep_guarded(*guardian, log); },
                     .worth_telling = is_our_own},
         .descriptors_a_session = descriptors_a_session,
         .descriptors_beside_sessions = chosen.max_deliveries * descriptors_an_agent +
                                        8 * chosen.run.workers + descriptors_beside_sessions,
         .begin =
             [&](const auto& worker) {
                 return begin(of, {slots, log, *guardian, lookups}, worker);
             },
         .listen = [&](auto& context) { return open_listeners(of, context); },
         .ready =
             [&](load::worker& first) {
                 os::notify("READY=1");
                 first.watch(last_words);
             }});
}

exit_status print_check(const plan& of) {
    const auto words = lmtp_deliver::check(of);
    if (!words) return cli::refuse("lmtp-deliver", words.error(), exit_status::bad_parameters);
    for (const std::string& word : *words)
        base::print(fmt::format("{}\n", word));
    return exit_status::done;
}

exit_status run(int argc, char** argv) {
    const auto prepared = os::prepare_for_children();
    if (!prepared) return cli::refuse("lmtp-deliver", prepared.error(), exit_status::system_error);
    lmtp_deliver::options chosen;
    const auto asked = lmtp_deliver::parse_options(chosen, {argv + 1, argv + argc});
    if (!asked) return cli::refuse("lmtp-deliver", asked.error(), exit_status::bad_parameters);
    if (*asked == cli::parse_result::done) return exit_status::done;
    const auto made = lmtp_deliver::make_plan(std::move(chosen));
    if (!made) return cli::refuse("lmtp-deliver", made.error(), exit_status::bad_parameters);
    if ((*made)->chosen.check.wanted) return print_check(**made);
    return serve(**made, lmtp_deliver::describe(**made, argc, argv));
}

}  // namespace

int main(int argc, char** argv) {
    return cli::run_main("lmtp-deliver", [&] { return run(argc, argv); });
}
