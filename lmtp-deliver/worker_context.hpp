// What lmtp-deliver's sessions of one worker share beside a server's context: the plan, the starter
// of agents, the slots, the log, and what is known about accounts.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lmtp-deliver/agent_log.hpp"
#include "lmtp-deliver/dispatcher.hpp"
#include "lmtp-deliver/plan.hpp"
#include "os/child.hpp"
#include "os/system_user.hpp"
#include "serve/worker_context.hpp"

namespace postal::lmtp_deliver {

// What all workers share, each under its own lock.
struct common {
    dispatcher& slots;
    agent_log& log;
};

struct worker_context : serve::worker_context {
    worker_context(const plan& run, load::worker& worker, os::spawner children, common shared)
        : serve::worker_context(run.rules, worker),
          of_run(run),
          starter(std::move(children)),
          slots(shared.slots),
          log(shared.log) {}

    // Unique among all transactions of all runs: time, worker and number, with dashes.
    std::string next_id();

    // Of --user, else of the system's user of that name, else, if there is none, this process's own.
    // Looked up once a minute at most; fails when that could not be done.
    base::expected<home_and_user> home_of(const std::string& user);

    // An agent that nobody waits for any more: reaped when it ends after all.
    void leave(const os::child& agent);

    const plan& of_run;
    os::spawner starter;
    dispatcher& slots;
    agent_log& log;

  private:
    struct left_behind final : load::watched {
        void on_deadline() override;
        void on_stop(load::stop_kind) override {}
        std::vector<os::child> agents;
    };

    left_behind left_;
    std::uint64_t transactions_ = 0;
    load::steady_time looked_up_{};
    std::unordered_map<std::string, home_and_user> homes_;
};

}  // namespace postal::lmtp_deliver
