// SPDX-License-Identifier: GPL-3.0-or-later
// The other ranks of a run, for main(): whether there are any, what is one for all, and how a run
// begins, is counted and ends together (lib/cluster). There are three kinds of ranks: a program
// that runs alone and has no others, rank 0, which leads, and those that follow it.
//
// Flow, in main():
//   const auto others = ranks::join("postal");
//   if (!others->joined()) return others->refuse(...);
//   ... options and the plan, with others->identity(); others->refuse() where something is wrong
//   ... run_clients({.others = *others, ...})
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/main.hpp"
#include "cluster/words.hpp"
#include "load/worker_pool.hpp"
#include "program/client_options.hpp"
#include "program/run_console.hpp"
#include "stats/rank_share.hpp"
#include "stats/run_description.hpp"

namespace postal::program {

class ranks {
  public:
    // Blocks until rank 0 has welcomed us, where a launcher has started several.
    [[nodiscard]] static std::unique_ptr<ranks> join(std::string_view program);

    ranks(const ranks&) = delete;
    ranks& operator=(const ranks&) = delete;
    virtual ~ranks() = default;

    // Fails with one line, for refuse().
    const base::expected<void>& joined() const noexcept { return joined_; }

    virtual bool alone() const noexcept = 0;
    // Of ranks the one that speaks for all; a program alone does, too.
    virtual bool leads() const noexcept = 0;
    virtual run_identity identity() const = 0;
    // "rank 3 on HOST"; empty for a program alone.
    virtual std::string name() const = 0;

    // We cannot begin: said in one line, once for all ranks that say the same; gives the status.
    virtual cli::exit_status refuse(const base::failure& why, cli::exit_status status) = 0;
    // Nothing is to be done, or all is; gives the status.
    virtual cli::exit_status leave(cli::exit_status status) = 0;

    // This rank's own: its share of what the whole run asks for, and files of its own.
    virtual stats::run_description own(const stats::run_description& whole) const = 0;
    virtual std::string own_file(const std::string& file) const = 0;

    // Blocks until all are ready; when to begin, of the steady clock. Fails with one line, or,
    // where another rank has refused, with none: then the status says how to end.
    struct refusal {
        std::string message;  // empty: somebody else has said it
        cli::exit_status status = cli::exit_status::bad_parameters;
    };
    virtual std::optional<refusal> agree(const stats::run_description& whole,
                                         std::uint64_t sessions, load::worker_pool_plan& into) = 0;

    // `merged`: rank 0's, of all. Whoever is to watch the pool in the place of `own`: what it hands
    // on goes to the others, too. All outlive this, or the run.
    virtual load::run_watcher& attend(load::worker_pool& pool, const load::worker_pool_plan& plan,
                                      run_console* merged, load::run_watcher& own) = 0;
    // Of a search, which the rank that leads performs: all ranks' next trial.
    virtual void begin_trial(const load::trial& next) = 0;
    // Ends the run of all ranks for that reason.
    virtual void end(load::run_ending why) = 0;

    // This rank has counted everything and written its own record; blocks until all have. Rank 0:
    // what became of all, for the record, and the worst that a rank ended with.
    struct outcome {
        cluster::ended all;
        std::vector<stats::rank_share> shares;
        bool any_lost = false;
    };
    virtual std::optional<outcome> finish(const stats::run_report& own,
                                          cli::exit_status status) = 0;
    // The last of all; the status of a rank that does not lead is that of its own troubles.
    virtual cli::exit_status leave_after_all(cli::exit_status status = cli::exit_status::done) = 0;

  protected:
    ranks() = default;

    base::expected<void> joined_;
};

}  // namespace postal::program
