// SPDX-License-Identifier: GPL-3.0-or-later
// What lmtp-deliver's sessions of one worker share beside a server's context: the plan, the starter
// of agents, the slots, the log, look-ups, and what is known about accounts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lmtp-deliver/account_lookups.hpp"
#include "lmtp-deliver/agent_log.hpp"
#include "lmtp-deliver/dispatcher.hpp"
#include "lmtp-deliver/plan.hpp"
#include "os/child.hpp"
#include "os/guardian.hpp"
#include "os/system_user.hpp"
#include "serve/worker_context.hpp"

namespace postal::lmtp_deliver {

// What all workers share, each under its own lock.
struct common {
    dispatcher& slots;
    agent_log& log;
    os::guardian& guardian;
    account_lookups& lookups;
};

struct worker_context : serve::worker_context {
    worker_context(const plan& run, load::worker& worker, os::spawner children, common shared)
        : serve::worker_context(run.rules, worker),
          of_run(run),
          starter(std::move(children)),
          slots(shared.slots),
          log(shared.log),
          guarded(shared.guardian.list_of(worker.index())),
          lookups(shared.lookups),
          own_home_(std::make_shared<const home_and_user>(run.own_home)),
          asks_(run.asks_for_accounts()) {}

    // Unique among all transactions of all runs: time, worker and number, with dashes.
    std::string next_id();

    // Of --user, else of the system's user of that name, else, if there is none, this process's
    // own. Null when that user is to be looked up first, which is known for a minute.
    using home = std::shared_ptr<const home_and_user>;
    home known_home(const std::string& user);
    home remember(const std::string& user, const std::optional<os::account>& found);

    // An agent that nobody waits for any more: reaped when it ends after all.
    void leave(const os::child& agent);

    const plan& of_run;
    os::spawner starter;
    dispatcher& slots;
    agent_log& log;
    os::guardian::list guarded;  // agents that run, with their deadlines
    account_lookups& lookups;

  private:
    struct left_behind final : load::watched {
        void on_deadline() override;
        void on_stop(load::stop_kind) override {}
        std::vector<os::child> agents;
    };

    left_behind left_;
    std::uint64_t transactions_ = 0;
    load::steady_time looked_up_{};
    home own_home_;
    bool asks_;
    std::unordered_map<std::string, home> homes_;
    std::unordered_set<std::string> strangers_;  // no users; apart, so that they push nobody out
};

}  // namespace postal::lmtp_deliver
