// The other ranks of a run, for main(): whether there are any, what is one for all, and how a run
// begins, is counted and ends together (lib/cluster). A program that runs alone has no others, and
// everything here does nothing then.
//
// Flow, in main():
//   ranks others("postal"); others.join();      refuses with one line
//   ... options and the plan, with others.identity(); others.refuse() where something is wrong ...
//   run_clients({..., .others = others})
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cli/main.hpp"
#include "cluster/follower.hpp"
#include "cluster/leader.hpp"
#include "cluster/transport.hpp"
#include "load/worker_pool.hpp"
#include "program/client_options.hpp"
#include "program/run_console.hpp"
#include "stats/run_description.hpp"

namespace postal::program {

class ranks {
  public:
    explicit ranks(std::string_view program) : program_(program) {}
    ranks(const ranks&) = delete;
    ranks& operator=(const ranks&) = delete;
    ~ranks();

    // Blocks until rank 0 has welcomed us, where a launcher has started several; fails with one line.
    base::expected<void> join();

    bool alone() const noexcept { return way_ == nullptr; }
    // Of ranks the one that speaks for all; a program alone does, too.
    bool leads() const noexcept { return alone() || way_->rank() == 0; }
    run_identity identity() const;

    // We cannot begin: said in one line, once for all ranks that say the same; gives the status.
    cli::exit_status refuse(const base::failure& why, cli::exit_status status);
    // Nothing is to be done; gives the status.
    cli::exit_status leave(cli::exit_status status);

    // This rank's own: its share of what the whole run asks for, and files of its own.
    stats::run_description own(const stats::run_description& whole) const;
    // What rank 0 puts together.
    stats::run_description whole(stats::run_description of) const;
    std::string own_file(const std::string& name) const;
    // "rank 3 on HOST"; empty for a program alone.
    const std::string& name() const noexcept { return name_; }

    // Blocks until all are ready; when to begin, of the steady clock. Fails with one line, or, where another
    // rank has refused, with none: then the status says how to end.
    struct refusal {
        std::string message;  // empty: somebody else has said it
        cli::exit_status status = cli::exit_status::bad_parameters;
    };
    std::optional<refusal> agree(const stats::run_description& whole, std::uint64_t sessions,
                                 load::worker_pool_plan& into);

    // `merged`: rank 0's, of all. What this rank's pool hands on goes to it, or to rank 0.
    void attend(load::worker_pool& pool, const load::worker_pool_plan& plan, run_console* merged);
    void on_time_slice(const stats::time_slice& slice);
    void on_live(const stats::live_state& state);
    void on_first_error(const stats::first_error& what);
    // Ends the run of all ranks for that reason.
    void end(load::run_ending why);
    void on_interrupt(const stats::live_state& now, std::chrono::nanoseconds grace);
    void on_cut_short();

    // This rank has counted everything and written its own record; blocks until all have.
    void finish(const stats::run_report& own, cli::exit_status status);
    // The last of all; the status of a rank that does not lead is that of its own troubles.
    cli::exit_status leave_after_all(cli::exit_status status = cli::exit_status::done);
    // Rank 0: what became of all, for the record; the worst that a rank ended with.
    cluster::ended all_ended() const { return leader_->all_ended(); }
    std::vector<stats::rank_share> shares() const { return leader_->shares(); }
    bool any_lost() const noexcept { return leader_->lost() > 0; }

  private:
    void poll();
    bool on_signal(int number);
    void told_to_stop(const cluster::stop& why);
    void tell_stop(const cluster::stop& why);
    void stop_pool(const cluster::stop& why);
    void hurry() noexcept;
    // `status`: to end with where the others keep us waiting.
    void close(bool together, cli::exit_status status);
    std::chrono::nanoseconds since_start() const;

    std::string program_;
    std::string name_;
    std::unique_ptr<cluster::transport> way_;
    std::unique_ptr<cluster::leader> leader_;
    std::unique_ptr<cluster::follower> follower_;
    cluster::welcome common_;
    load::worker_pool* pool_ = nullptr;
    run_console* merged_ = nullptr;
    bool said_hello_ = false;
    bool agreed_ = false;
    bool began_ = false;
    bool lost_leader_ = false;
    bool signalled_ = false;
    bool stop_told_ = false;  // by another rank
    std::optional<load::steady_time> hurried_at_;
    bool cut_short_ = false;  // what was in flight
    stats::first_errors told_errors_;
};

// Between a rank's own reports and those of all.
class rank_watcher final : public load::run_watcher {
  public:
    rank_watcher(ranks& others, load::run_watcher& own) : others_(others), own_(own) {}

    void on_time_slice(const stats::time_slice& slice) override {
        own_.on_time_slice(slice);
        others_.on_time_slice(slice);
    }
    void on_live(const stats::live_state& state) override {
        own_.on_live(state);
        others_.on_live(state);
    }
    void on_gave_up() override { own_.on_gave_up(); }
    void on_first_error(const stats::first_error& what) override { others_.on_first_error(what); }
    void on_interrupt(const stats::live_state& now, std::chrono::nanoseconds grace) override {
        others_.on_interrupt(now, grace);
    }
    void on_cut_short() override { others_.on_cut_short(); }

  private:
    ranks& others_;
    load::run_watcher& own_;
};

}  // namespace postal::program
