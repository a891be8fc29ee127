// SPDX-License-Identifier: GPL-3.0-or-later
// What became of the messages (of a reader the visits) that were due in the trial that goes on:
// counted by each worker in stretches of the trial, for a search of the highest rate
// (stats/capacity).
//
// A message belongs to the stretch that it was due in, whenever it ends: the first stretch is the
// settling, then come the batches, and what is due later belongs to no trial. Besides, each stretch
// counts what ended in it, and one more what ended behind them. A part of tally: nothing here is
// locked, fails or reads a clock, and without a trial ended() is one comparison.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace postal::stats {

// How a message ended; as ledger::outcome, and that it never began.
enum class trial_end : std::uint8_t { accepted, rejected, deferred, failed, in_doubt, not_started };

// What a promise counts as lost, besides what never began.
struct trial_promise {
    std::optional<std::chrono::nanoseconds> within{};  // what takes longer is late
    std::uint8_t lost_ends = 0;                        // bits, by trial_end

    [[nodiscard]] bool loses(trial_end how) const noexcept {
        return (lost_ends >> static_cast<unsigned>(how) & 1U) != 0;
    }
};
inline constexpr std::uint8_t all_but_accepted = 0b111110;
inline constexpr std::size_t most_promises = 8;

// Which trial, and when: times since the start of the run.
struct trial_times {
    std::uint64_t number = 0;             // from 1; 0: none
    std::chrono::nanoseconds begin{};     // of the settling
    std::chrono::nanoseconds measured{};  // where the batches begin
    std::chrono::nanoseconds batch{};     // length of each
    std::uint64_t batches = 0;

    [[nodiscard]] std::chrono::nanoseconds end() const noexcept {
        return measured + batch * static_cast<std::int64_t>(batches);
    }
    // Of the stretches: 0 the settling, 1 to `batches`, and one more for what is later.
    [[nodiscard]] std::size_t stretch_of(std::chrono::nanoseconds when) const noexcept {
        if (when < measured) return 0;
        const auto index = static_cast<std::uint64_t>((when - measured) / batch);
        return static_cast<std::size_t>(index < batches ? index + 1 : batches + 1);
    }
};

struct promise_losses {
    std::uint64_t late = 0;
    std::uint64_t errors = 0;
    std::uint64_t not_started = 0;
    std::uint64_t near = 0;  // on time, and took more than half of what is allowed
};

struct trial_stretch {
    std::uint64_t ended = 0;     // in it, of the trial's
    std::uint64_t finished = 0;  // of those that were due in it, however they ended
    std::array<promise_losses, most_promises> lost{};
};

class trial_counts {
  public:
    // Counts anew. `start`: of the run, on the clock that ended() is told of.
    void begin(const trial_times& times, const std::vector<trial_promise>& promises,
               std::chrono::steady_clock::time_point start);

    void ended(std::chrono::steady_clock::time_point due,
               std::chrono::steady_clock::time_point when, trial_end how) noexcept {
        if (times_.number != 0) count(due - start_, when - start_, how);
    }

    // Of an earlier trial than ours nothing is added; of a later one all is, and ours is forgotten.
    void merge(const trial_counts& other);
    // Back to zero; the trial goes on.
    void clear() noexcept;

    // What another process has counted: what merge() needs of it, and nothing that goes on.
    void set(std::uint64_t number, std::vector<trial_stretch> counted);

    [[nodiscard]] std::uint64_t number() const noexcept { return times_.number; }
    // By trial_times::stretch_of().
    [[nodiscard]] const std::vector<trial_stretch>& stretches() const noexcept {
        return stretches_;
    }

  private:
    void count(std::chrono::nanoseconds due, std::chrono::nanoseconds when, trial_end how) noexcept;

    trial_times times_;
    std::vector<trial_promise> promises_;
    std::chrono::steady_clock::time_point start_{};
    std::vector<trial_stretch> stretches_;
};

}  // namespace postal::stats
