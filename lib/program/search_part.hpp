// SPDX-License-Identifier: GPL-3.0-or-later
// What a run has to do with a search of the highest rate: nothing, it searches, perhaps with other
// programs beside it (search_partners.hpp), or it has joined another program's search
// (joined_search.hpp).
//
// Flow: of(run), describe(), measure_alone(), meet_others() before the start; attend() and begin()
// with the workers; end() when they have ended, and broke(). What fails does so with one line.
#pragma once

#include "base/result.hpp"
#include "program/joined_search.hpp"
#include "program/rate_search.hpp"
#include "program/run.hpp"
#include "program/search_partners.hpp"

#include <memory>
#include <optional>

namespace postal::program {

class search_part {
  public:
    static base::expected<search_part> of(const client_run& what);
    // Defaults that are a rule, by what they come to.
    void describe(client_run& what) const;

    // What the program can do by itself, where one process searches and has the time for it; true:
    // it was tried. Says that it begins; that it could not be told is said, too, and the search
    // goes on. Fails where it was interrupted.
    base::expected<bool> measure_alone(const client_run& what, run_console& speaking);
    // Where several programs perform the trials: blocks until they are there, and decides when all
    // begin.
    base::expected<void> meet_others(const client_run& what, load::worker_pool_plan& into);

    // Whoever is to watch the pool in the place of `own`.
    load::run_watcher& attend(load::worker_pool& workers, load::run_watcher& own,
                              run_console& speaking);
    // Of ranks the one that leads searches; it hears of what all have counted. This must outlive
    // the run.
    void begin(const client_run& what, load::worker_pool& workers, run_console& speaking);

    // The run is over, whatever became of the search.
    void end(const load::worker_pool& workers);
    // Who had a part in it was lost.
    [[nodiscard]] bool broke() const;

  private:
    [[nodiscard]] search_flow::plan flow_of(const client_run& what) const;
    [[nodiscard]] cluster::joins joins_with(const client_run& what) const;
    [[nodiscard]] rate_search::plan search_plan_of(const client_run& what) const;
    void watch_partners(load::worker_pool& workers, run_console& speaking);

    std::optional<search_goals> goals_;  // nothing of a run without trials
    std::optional<capacity::own_limit> alone_;
    std::optional<search_partners> partners_;
    std::unique_ptr<joined_search> joined_;
    std::unique_ptr<rate_search> search_;
};

}  // namespace postal::program
