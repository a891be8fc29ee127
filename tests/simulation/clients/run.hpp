// SPDX-License-Identifier: GPL-3.0-or-later
// One run of the own sessions of postal, rabid or bhm, on a worker and a poller of theirs, against
// simulated servers or clients.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mailboxes.hpp"
#include "peers.hpp"
#include "scenario.hpp"
#include "stats/tally.hpp"

namespace clients {

// What a run came to, in the program's books and in truth.
struct outcome {
    postal::stats::tally counted;
    std::vector<log_of_line> logs{};  // by the number of the connection
    nanoseconds ended{0};
    std::uint64_t digest = 0;
    std::uint64_t steps = 0;
    std::vector<std::string> wrong{};
};

// What the main thread of lmtp-deliver makes once.
struct beside_agents;

// What is the same for all runs.
class apparatus {
  public:
    apparatus();
    ~apparatus();
    apparatus(const apparatus&) = delete;
    apparatus& operator=(const apparatus&) = delete;
    [[nodiscard]] outcome perform(const scenario& of);

  private:
    [[nodiscard]] std::string list_of(unsigned accounts) const;
    void fill(const scenario& of, house& servers, postal::base::random_source& random);
    errand errand_of(const scenario& of, postal::base::random_source& random);
    void put_something(const scenario& of, mailbox& into, postal::base::random_source& random);

    press press_;
    std::unique_ptr<beside_agents> beside_agents_;
    std::string folder_;
};

// In words, what does not fit; each sum of the program's against what the servers know that it has
// read.
void judge(const scenario& of, const simulated_system& below, const house& servers, outcome& what);
void judge_agents(const scenario& of, const simulated_system& below, outcome& what);

}  // namespace clients
