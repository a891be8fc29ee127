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
// was; or when that took longer than the search waits: what had not ended is lost then, and the
// next trial began with a backlog. What a trial did not keep while the generator was the limit, or
// the machine was full, says nothing about the server; what it did keep, it kept.
#pragma once

#include "load/admission.hpp"
#include "load/worker_pool.hpp"
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
    // `phases`: of the run's tallies; `sessions`: of all; `unit`: what loads count, "messages".
    struct plan {
        const search_choice& chosen;
        search_goals goals;
        load::arrival arrival = load::arrival::constant;
        std::uint64_t seed = 0;
        std::size_t phases = 0;
        std::size_t due_phase = 0;
        std::uint64_t sessions = 1;
        std::uint64_t at_once = 1;  // messages that a session may have under way
        unsigned ranks = 1;         // processes
        std::string_view unit = "messages";
    };
    explicit rate_search(plan of);

    // By how much the schedule is put off, in messages: the first of a trial is due half a step
    // after its begin, so that each trial has as many as its load says.
    static constexpr double put_off = 0.5;
    // Time slices of such a run: a trial's end is known so late at most.
    static constexpr auto slice = std::chrono::milliseconds(250);
    static constexpr auto period = std::chrono::milliseconds(10);

    // How a trial begins in all workers, how the run ends, who hears a line of each trial that has
    // ended, and how many messages wait in the server's queue: null where nobody counts them.
    struct hooks {
        std::function<void(const load::trial&)> begin_trial;
        std::function<void()> end;
        std::function<void(const std::string&)> say;
        std::function<std::optional<sampling::queue_level>()> queued{};
    };
    // Before the run, whose end ends the search, too: what goes on then is no trial. The pool,
    // whose clock is this one's, must outlive the last look().
    void attach(const load::worker_pool& workers, hooks what);
    void note(const stats::time_slice& counted);
    void look();

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
        load::trial asked;
        std::vector<std::uint64_t> due;  // by stretch
        std::uint64_t all_due = 0;
        stats::trial_counts seen;
        stats::time_slice generator;  // what it did meanwhile
        bool began_with_backlog = false;
        std::optional<nanoseconds> all_ended{};
    };

    [[nodiscard]] nanoseconds since_start() const;
    void begin(const capacity::trial_input& next, nanoseconds now);
    [[nodiscard]] std::uint64_t ended() const;
    void note_queue();
    [[nodiscard]] bool may_begin(nanoseconds now) const;
    [[nodiscard]] bool is_over() const;
    [[nodiscard]] capacity::trial_output output(nanoseconds now) const;
    [[nodiscard]] capacity::trial_validity validity(const capacity::trial_output& seen,
                                                    const stats::generator_load& span) const;
    void conclude(nanoseconds now);
    void tell(const capacity::search_trial& done);

    plan of_;
    capacity::search search_;
    load::schedule schedule_;  // as every worker has it
    std::uint64_t next_number_ = 0;
    std::optional<trial> now_;
    bool backlog_left_ = false;
    capacity::queue_course queue_;
    bool all_were_busy_ = false;  // in a trial that was not kept
    const load::worker_pool* workers_ = nullptr;
    hooks hooks_;
    bool over_ = false;
};

}  // namespace postal::program
