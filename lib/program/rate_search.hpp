// SPDX-License-Identifier: GPL-3.0-or-later
// The Manager and the Measurer of RFC 9971: performs the trials that a search
// (stats/capacity/search.hpp) asks for on the sessions of a run, and hands back what became of
// them.
//
// Flow, in the main thread of a run whose schedule is empty at first and whose loop is open:
//   rate_search one(goals, ...);
//   one.attach(workers, say);
//   note(slice), for each time slice; look(), some hundred times a second
//   over() when the run has been told to end; record() then
// A trial's messages fall due on the same sessions and connections as those before. It has ended
// when all that was due has, and the server's queue, where one is counted, is as short as it ever
// was. Where that takes longer than the search waits, what has not begun is not started any more,
// and the rest is waited for as long as it becomes less, within bounds: what has not ended then is
// lost, and the next trial began with a backlog. What a trial did not keep while the generator was
// the limit, or the machine was full, says nothing about the server; what it did keep, it kept.
// Other programs may have a part of each trial (search_partners.hpp): all that is said here holds
// of each of them.
#pragma once

#include "load/worker_pool.hpp"
#include "program/search_flow.hpp"
#include "program/search_options.hpp"
#include "sampling/sampler.hpp"
#include "stats/capacity/queue_course.hpp"
#include "stats/capacity/record.hpp"
#include "stats/live_line.hpp"
#include "stats/run_report.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace postal::program {

class rate_search {
  public:
    // `flows`: of this program, and of those beside it; `goals`: of all of them, in that order.
    struct plan {
        const search_choice& chosen;
        std::vector<capacity::goal> goals;
        std::vector<search_flow::plan> flows;
        unsigned processes = 1;                      // that have to be told of a trial
        std::optional<capacity::own_limit> alone{};  // what the program can do by itself, if known
    };
    explicit rate_search(plan of);

    // Time slices of such a run: a trial's end is known so late at most.
    static constexpr auto slice = std::chrono::milliseconds(250);
    static constexpr auto period = std::chrono::milliseconds(10);

    // How a flow's part of a trial begins in all workers, or ends before all of it was begun, how
    // the run ends, who hears a line of each trial that has ended, and how many messages wait in
    // the server's queue: null where nobody counts them.
    struct hooks {
        std::function<void(std::size_t, const load::trial&)> tell;
        std::function<void(load::run_ending)> end;
        std::function<void(const std::string&)> say;
        std::function<std::optional<sampling::queue_level>()> queued{};
    };
    // Before the run, whose end ends the search, too: what goes on then is no trial. The pool,
    // whose clock is this one's, must outlive the last look().
    void attach(const load::worker_pool& workers, hooks what);
    void note(const stats::time_slice& counted, std::size_t flow = 0);
    void look();
    // A program that has a part of the trials is gone: the search is over with what it has found,
    // and so is the run.
    void partner_lost();

    // That the run was told to end.
    [[nodiscard]] bool over() const noexcept { return over_; }
    [[nodiscard]] std::chrono::nanoseconds to_go() const;
    // The trial that goes on; nothing between two, and when there are no more.
    [[nodiscard]] std::optional<stats::live_trial> current() const;
    // So far; of a run that has ended.
    [[nodiscard]] capacity::search_record record();
    // Of `--at-least`; nothing where it was not asked for.
    [[nodiscard]] std::optional<stats::threshold_result> verdict() const;
    // A rate was found.
    [[nodiscard]] bool found() const;

  private:
    using nanoseconds = std::chrono::nanoseconds;

    // The one that goes on.
    struct trial {
        stats::trial_times times;
        bool began_with_backlog = false;
        std::optional<nanoseconds> all_ended{};
        // Behind its drain: what was left when it was least, and since when.
        std::optional<double> least_left{};
        nanoseconds least_since{};
    };

    [[nodiscard]] nanoseconds since_start() const;
    void begin(const capacity::trial_input& next, nanoseconds now);
    [[nodiscard]] bool all_ended() const;
    void note_queue();
    [[nodiscard]] bool may_begin(nanoseconds now) const;
    [[nodiscard]] bool is_over() const;
    [[nodiscard]] bool may_drain(nanoseconds now);
    [[nodiscard]] double left() const;
    [[nodiscard]] capacity::trial_output output(nanoseconds now) const;
    [[nodiscard]] capacity::trial_validity validity(const capacity::trial_output& seen) const;
    void conclude(nanoseconds now);
    void tell(const capacity::search_trial& done);
    [[nodiscard]] const std::string& unit() const { return of_.flows.front().unit; }
    [[nodiscard]] capacity::partners beside() const;

    plan of_;
    capacity::search search_;
    std::vector<search_flow> flows_;
    std::optional<trial> now_;
    bool backlog_left_ = false;
    capacity::queue_course queue_;
    const load::worker_pool* workers_ = nullptr;
    hooks hooks_;
    bool over_ = false;
};

}  // namespace postal::program
