// SPDX-License-Identifier: GPL-3.0-or-later
// A rank of many: what each does, whether it leads or follows, and what stands between its own
// reports and those of all. How the others hear of it is what leading_rank and following_rank do
// each in their way.
//
// A signal, and a run that ends for another reason than its time, is told to the others. There is
// little time where a launcher ends the run: what is in flight is cut short then. Fails as
// program/ranks.hpp says.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cluster/transport.hpp"
#include "cluster/words.hpp"
#include "load/worker_pool.hpp"
#include "os/host.hpp"
#include "program/haste.hpp"
#include "program/rank_link.hpp"
#include "program/rank_load.hpp"
#include "program/ranks.hpp"
#include "stats/first_errors.hpp"

namespace postal::program {

class one_of_many : public ranks, protected load::run_watcher {
  public:
    one_of_many(std::string_view program, std::unique_ptr<cluster::transport> way)
        : program_(program),
          link_(std::move(way)),
          name_(fmt::format("rank {} on {}", link_->rank(), os::describe_host().name)) {}

    bool alone() const noexcept final { return false; }
    run_identity identity() const final {
        return {.seed = common_.seed, .run = common_.run, .share = {link_->rank(), link_->ranks()}};
    }
    std::string name() const final { return name_; }
    cli::exit_status leave(cli::exit_status status) final {
        link_.close(!any_gone(), status);
        return status;
    }
    stats::run_description own(const stats::run_description& whole) const final {
        return describe_share(whole, identity().share);
    }
    std::string own_file(const std::string& file) const final {
        return file_of_rank(file, link_->rank());
    }
    std::optional<refusal> agree(const stats::run_description& whole, std::uint64_t sessions,
                                 load::worker_pool_plan& into) final;
    load::run_watcher& attend(load::worker_pool& pool, const load::worker_pool_plan& plan,
                              run_console* merged, load::run_watcher& own) final;
    void begin_trial(const load::trial& next) final {
        tell_trial(next);
        pool_->begin_trial(next);
    }
    void end(load::run_ending why) final;
    std::optional<outcome> finish(const stats::run_report& own, cli::exit_status status) final;

  protected:
    // ---- what a leader and a follower do each in their way ----

    virtual bool any_gone() const = 0;
    // Says that we are ready; when to begin, or why not.
    virtual std::optional<refusal> hear_start(const cluster::hello& mine,
                                              const load::worker_pool_plan& plan,
                                              cluster::start& when) = 0;
    virtual void begin(const load::worker_pool_plan& plan, run_console* merged) = 0;
    virtual void began(std::chrono::nanoseconds late) = 0;
    virtual void poll_others() = 0;
    virtual void tell_stop(const cluster::stop& why) = 0;
    virtual void tell_trial(const load::trial& next) = 0;
    virtual void count(const stats::time_slice& slice) = 0;
    virtual void show(const stats::live_state& state) = 0;
    virtual void tell_first(const stats::first_error& what) = 0;
    // Blocks until all have ended.
    virtual std::optional<outcome> tell_end(const cluster::ended& mine) = 0;
    // There is little time, and `since` that long.
    virtual void hurried(std::chrono::nanoseconds) {}

    void told_to_stop(const cluster::stop& why) {
        stop_told_ = true;
        if (why.hasty) haste_.begin(std::chrono::steady_clock::now());
        stop_pool(why);
    }
    cluster::hello introduction(const std::string& host) const {
        cluster::hello mine;
        mine.host = host;
        return mine;
    }

    void on_time_slice(const stats::time_slice& slice) final {
        own_->on_time_slice(slice);
        count(slice);
    }
    void on_live(const stats::live_state& state) final {
        own_->on_live(state);
        show(state);
    }
    void on_gave_up() final { own_->on_gave_up(); }
    // Rank 0 tells people; one rank's many workers are one.
    void on_first_error(const stats::first_error& what) final {
        if (told_errors_.add(what.what)) tell_first(what);
    }

    const std::string program_;
    rank_link link_;
    const std::string name_;
    cluster::welcome common_;
    load::worker_pool* pool_ = nullptr;
    load::run_watcher* own_ = nullptr;
    bool said_hello_ = false;
    bool stop_told_ = false;  // by another rank

  private:
    void poll();
    bool on_signal(int number);
    void stop_pool(const cluster::stop& why);
    std::chrono::nanoseconds since_start() const;

    bool began_ = false;
    bool signalled_ = false;
    haste haste_;
    stats::first_errors told_errors_;
};

}  // namespace postal::program
