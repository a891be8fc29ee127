// SPDX-License-Identifier: GPL-3.0-or-later
// The servers of a run: started, awaited until they let connections in, watched while they are
// measured.
//
// What ends them is in the journal: before start() returns, also with a failure, all that it began
// is announced, and undo_above() ends it: the `stop` commands, then SIGTERM to each process, the
// newest first. A server stays in the foreground; one with `stop` commands may go to the
// background, which its start command ending with status 0 says.
//
// Fails with one line that names file and line, the program and its last words.
#pragma once

#include "experiment/journal.hpp"
#include "experiment/supervisor.hpp"

#include <string>
#include <vector>

namespace postal::experiment {

struct server_plan {
    std::vector<job> start{};
    std::vector<job> stop{};
    std::vector<std::string> ready{};      // host:port, [v6]:port, unix:/path
    std::vector<std::string> pid_files{};  // paths; each holds a number
    std::chrono::nanoseconds start_limit{};
    std::chrono::nanoseconds stop_limit{};
    std::chrono::nanoseconds command_limit{};  // of each `stop`
    std::string where{};                       // "mail.toml:7"
};

class servers {
  public:
    // Refuses when an endpoint lets connections in beforehand: another server would be measured.
    [[nodiscard]] static base::expected<servers> start(const server_plan& plan, journal& into,
                                                       supervisor& by);

    // Readable when one may have ended: ask check() then.
    [[nodiscard]] std::vector<int> watched() const;

    // Fails when one has ended that should run.
    [[nodiscard]] base::expected<void> check(supervisor& by);

    // Those that were started and those of pid files, as far as they run.
    [[nodiscard]] std::vector<pid_t> roots() const;

  private:
    struct background {
        std::string file;
        pid_t pid = 0;
        base::file_descriptor ended;
    };

    base::expected<void> await(const server_plan& plan, supervisor& by, std::uint64_t since);
    base::expected<void> announce_background(const server_plan& plan, journal& into,
                                             const std::vector<pid_t>& before);

    std::vector<process> started_;
    std::vector<background> background_;
    bool may_go_to_background_ = false;
};

// Whether somebody lets a connection in right now. Fails for what is no endpoint with a port.
[[nodiscard]] base::expected<bool> lets_in(const std::string& endpoint);

}  // namespace postal::experiment
