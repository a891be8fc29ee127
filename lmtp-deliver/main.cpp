// lmtp-deliver: an LMTP server in front of a local delivery agent. Options become a plan, the plan
// opens doors, a fleet of workers serves whoever comes in. Where to read on:
//   session.cpp       what happens to mail: envelope, message, deliveries, answers
//   delivery.cpp      one recipient: queue, agent, end, reply
//   argv_template.cpp how the agent's command is read, and exit_statuses.cpp how its end is
//   message_file.cpp  where a message waits
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/main.hpp"
#include "lmtp-deliver/agent_log.hpp"
#include "lmtp-deliver/check.hpp"
#include "lmtp-deliver/dispatcher.hpp"
#include "lmtp-deliver/options.hpp"
#include "lmtp-deliver/phases.hpp"
#include "lmtp-deliver/plan.hpp"
#include "lmtp-deliver/room.hpp"
#include "lmtp-deliver/session.hpp"
#include "os/child.hpp"
#include "os/service_manager.hpp"
#include "program/run.hpp"
#include "program/tls_options.hpp"
#include "serve/door.hpp"

namespace {

using namespace postal;
using cli::exit_status;
using lmtp_deliver::plan;

exit_status refuse(const base::failure& why, exit_status status) {
    cli::complain("lmtp-deliver", why.message);
    return status;
}

// Passes everything on to the console, and keeps the log and the service manager in step.
class watcher final : public load::run_watcher {
  public:
    watcher(load::run_console& console, lmtp_deliver::agent_log& log)
        : console_(console), log_(log) {}

    void on_piece(const stats::piece& piece) override {
        console_.on_piece(piece);
        log_.next_interval();
    }
    void on_live(const stats::live_state& state) override { console_.on_live(state); }

  private:
    load::run_console& console_;
    lmtp_deliver::agent_log& log_;
};

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

// The sockets of the service manager when there are any, else those of --listen.
base::expected<std::vector<net::listener>> open_listeners(const plan& run,
                                                          boost::asio::io_context& context) {
    const auto passed = os::passed_sockets();
    if (!passed) return passed.error();
    if (passed->empty()) return serve::open_listeners(run.places, context);
    std::vector<net::listener> all;
    for (const int descriptor : *passed) {
        auto adopted = net::adopt_listener(context, descriptor);
        if (!adopted) return adopted.error();
        all.push_back(std::move(*adopted));
    }
    return all;
}

exit_status serve(const plan& run, load::run_console& console, lmtp_deliver::agent_log& log) {
    const auto raised = lmtp_deliver::raise_limits(run);
    if (!raised) return refuse(raised.error(), exit_status::system_error);
    const lmtp_deliver::options& chosen = run.chosen;
    auto fleet_plan = program::fleet_plan_of(chosen.run, lmtp_deliver::phase_count);
    fleet_plan.serves = true;
    load::fleet ships(fleet_plan);
    program::say_fingerprint(console, chosen.tls, run.rules.tls.get());
    serve::reception front(chosen.sessions, chosen.transcripts);
    lmtp_deliver::dispatcher slots(chosen.max_deliveries, chosen.max_queued);
    std::vector<std::unique_ptr<lmtp_deliver::room>> rooms;
    for (std::size_t i = 0; i < ships.size(); ++i) {
        auto starter = os::spawner::create();
        if (!starter) return refuse(starter.error(), exit_status::system_error);
        rooms.push_back(std::make_unique<lmtp_deliver::room>(
            run, front, ships.at(i), std::move(*starter), lmtp_deliver::common{slots, log}));
    }
    auto listeners = open_listeners(run, ships.at(0).context());
    if (!listeners) return refuse(listeners.error(), exit_status::system_error);
    for (const net::listener& one : *listeners) {
        console.say("listening on " + net::to_text(one.where));
    }
    auto begun = console.begin();
    if (!begun) return refuse(begun.error(), exit_status::system_error);
    os::notify("READY=1");
    const serve::serve_guest guests = [&rooms](std::size_t worker, serve::visitor who) {
        return lmtp_deliver::serve_guest(*rooms[worker], who);
    };
    watcher both(console, log);
    farewell last_words;
    ships.at(0).watch(last_words);
    auto ran = serve::serve_all(ships, *listeners, front, guests, both);
    const load::run_result result = console.finish(ships.lasted());
    if (!ran) return refuse(ran.error(), exit_status::system_error);
    return program::status_of(result);
}

exit_status run(int argc, char** argv) {
    const auto prepared = os::prepare_for_children();
    if (!prepared) return refuse(prepared.error(), exit_status::system_error);
    lmtp_deliver::options chosen;
    const auto parsed = lmtp_deliver::parse_options(chosen, argc, argv);
    if (!parsed) return refuse(parsed.error(), exit_status::bad_parameters);
    if (*parsed == cli::outcome::done) return exit_status::done;
    auto made = lmtp_deliver::make_plan(std::move(chosen));
    if (!made) return refuse(made.error(), exit_status::bad_parameters);
    const plan& run = **made;
    if (run.chosen.check.wanted) {
        const auto argv_of_one = lmtp_deliver::check(run);
        if (!argv_of_one) return refuse(argv_of_one.error(), exit_status::bad_parameters);
        for (const std::string& word : *argv_of_one)
            fmt::print("{}\n", word);
        return exit_status::done;
    }
    lmtp_deliver::agent_log log(run.chosen.log);
    auto console_options = program::console_options_of(run.chosen.run);
    // Through the log's own thread, so that nothing waits for whoever reads it.
    console_options.diagnostics = [&log](const std::string& line) { log.say(line); };
    auto console = load::run_console::create(lmtp_deliver::describe(run, argc, argv),
                                             std::move(console_options));
    if (!console) return refuse(console.error(), exit_status::bad_parameters);
    return serve(run, **console, log);
}

}  // namespace

int main(int argc, char** argv) {
    return cli::run_main("lmtp-deliver", [&] { return run(argc, argv); });
}
