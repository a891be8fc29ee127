// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a program that has joined another one's search of the highest rate: it begins when
// that says so, performs its part of each trial, hands on what it counts, and ends with the search.
// search_partners.hpp is the other side.
//
// Flow, in the main thread:
//   auto mine = joined_search::join(path, what we are, patience);   blocks; fails with one line
//   plan.start_at = mine->start();
//   workers.run(begin, mine->attend(workers, watcher, say))
//   mine->failed()                                                  the search went away
// Who searches is not trusted, either: what cannot be read ends the run, as the end of the
// connection does.
#pragma once

#include "base/result.hpp"
#include "cluster/words.hpp"
#include "load/worker_pool.hpp"
#include "net/parcels.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace postal::program {

class joined_search final : public load::run_watcher {
  public:
    static base::expected<std::unique_ptr<joined_search>> join(const std::string& path,
                                                               const cluster::joins& mine,
                                                               std::chrono::nanoseconds patience);

    [[nodiscard]] load::steady_time start() const noexcept { return start_; }
    // Whoever is to watch the pool in the place of `own`. Both outlive this, or the run.
    load::run_watcher& attend(load::worker_pool& pool, load::run_watcher& own,
                              std::function<void(const std::string&)> say);
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    // The run is over: who searches hears that it was not the search's end, where it was not.
    void end();

  private:
    joined_search(net::parcel_line line, load::steady_time start) noexcept
        : line_(std::move(line)), start_(start) {}

    void on_time_slice(const stats::time_slice& slice) override;
    void on_live(const stats::live_state& state) override { own_->on_live(state); }
    void on_gave_up() override { own_->on_gave_up(); }
    void on_first_error(const stats::first_error& what) override { own_->on_first_error(what); }
    void on_interrupt(const stats::live_state& now, std::chrono::nanoseconds grace) override {
        own_->on_interrupt(now, grace);
    }
    void on_cut_short() override { own_->on_cut_short(); }

    void poll();
    void hear(const std::string& octets);
    void lose(const std::string& why);

    net::parcel_line line_;
    load::steady_time start_;
    load::worker_pool* pool_ = nullptr;
    load::run_watcher* own_ = nullptr;
    std::function<void(const std::string&)> say_;
    bool over_ = false;  // the search, or our part of it
    bool failed_ = false;
};

}  // namespace postal::program
