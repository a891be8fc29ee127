// SPDX-License-Identifier: GPL-3.0-or-later
// Samples queues and commands while a run goes on, in threads of its own: one for each of them, so
// that one that is slow holds up no other.
//
// Flow:
//   auto samples = sampler::open(chosen);   refuses what cannot be sampled; counts each queue once
//   samples->begin(when);                   the run's start, or about now
//   samples->now(), take_troubles();        while it goes on, from any one thread
//   samples->finish(start);                 takes a last sample; what the record has
//
// A sample begins when `every` has passed since the one before began, not while that still goes on;
// of a queue not before ten times as long has passed as the last count took. Each has `longest` to
// end in. What fails is a missed sample, told once for each reason; nothing here ends a run. Limit:
// a queue on a file system that does not answer holds up finish().
#pragma once

#include "base/result.hpp"
#include "sampling/choice.hpp"
#include "stats/sample_threshold.hpp"
#include "stats/samples.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace postal::sampling {

// The names of the figures that there will be, as far as they are known.
[[nodiscard]] std::vector<stats::sampled_name> names_of(const choice& chosen);

// How many messages waited in all queues, and when they were counted: of several when the one whose
// count is oldest was.
struct queue_level {
    double messages = 0;
    std::chrono::steady_clock::time_point counted{};
};

class sampler {
  public:
    static constexpr std::chrono::nanoseconds longest = std::chrono::seconds(5);

    // Fails with one line that names the option.
    [[nodiscard]] static base::expected<std::unique_ptr<sampler>> open(const choice& chosen);

    sampler(const sampler&) = delete;
    sampler& operator=(const sampler&) = delete;
    // Ends without a last sample, where finish() was not called.
    ~sampler();

    void begin(std::chrono::steady_clock::time_point when);

    // The newest sample of each, as far as there is one.
    [[nodiscard]] std::vector<stats::sampled_value> now() const;
    // Nothing without a queue, and until each has been counted.
    [[nodiscard]] std::optional<queue_level> queued() const;
    // What went wrong for the first time, one line each; once.
    [[nodiscard]] std::vector<std::string> take_troubles();

    // Blocks until a last sample of each is taken; a command has a second for that, and one that
    // still runs a second to end; a queue twice `longest`. Times are then since `start`.
    [[nodiscard]] std::vector<stats::sampled_source> finish(
        std::chrono::steady_clock::time_point start);

    // "postfix: maildrop, incoming, ... in /var/spool/postfix, each second": a line for each.
    [[nodiscard]] std::vector<std::string> describe() const;

  private:
    class source;

    sampler();

    std::vector<std::unique_ptr<source>> sources_;
    std::chrono::steady_clock::time_point begun_{};
};

}  // namespace postal::sampling
