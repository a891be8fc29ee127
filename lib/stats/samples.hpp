// SPDX-License-Identifier: GPL-3.0-or-later
// What was sampled beside a run: the depth of a server's queue, or what a command of the user's
// printed, over time.
//
// Flow: a sample_history for each source; add() a sample's figures, or miss() one; take() what it
// came to, for the record. At most most_kept moments are kept of a source: when there are as many,
// two neighbours each become one, and each moment after them stands for twice as many samples. Of
// what was put together the last value is kept, and the highest.
//
// A source has at most most_figures figures; add() fails for more. A figure that a sample lacks is
// null there. Nothing else fails. Single-threaded; times are handed in.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace postal::stats {

// One figure of a sample.
struct sampled_value {
    std::string name{};    // "postfix active"
    std::string unit{};    // "messages"; empty: not known
    double value = 0;      // 0 or more
    bool waiting = false;  // all that wait in a mail queue
};

struct sample_series {
    std::string name;
    std::string unit;
    bool waiting = false;
    std::optional<double> highest;              // of all samples, with when it was seen first
    std::optional<double> highest_at_s;         // since the run began
    std::vector<std::optional<double>> values;  // one for each of the source's t_s
    std::optional<std::vector<std::optional<double>>> most;  // where t_s stand for several samples

    [[nodiscard]] std::optional<double> last() const noexcept {
        return values.empty() ? std::nullopt : values.back();
    }
};

struct sampled_source {
    std::string source;  // as its option has it: "postfix:/var/spool/postfix"
    std::string name;    // what the names of its figures begin with
    double every_s = 1;  // between the beginnings of two samples, at least
    std::uint64_t taken = 0;
    std::uint64_t missed = 0;
    std::string missed_why;      // the first of these; empty: none
    double took_s = 0;           // all samples together
    double longest_s = 0;        // of them
    std::uint64_t together = 1;  // samples that one of t_s stands for, at most
    std::vector<double> t_s;     // when each began, of several the last; since the run began
    std::vector<sample_series> series;

    // That of all that wait; null where it is no queue.
    [[nodiscard]] const sample_series* waiting() const noexcept;
};

class sample_history {
  public:
    static constexpr std::size_t most_kept = 1800;
    static constexpr std::size_t most_figures = 32;

    sample_history(std::string source, std::string name, double every_s);

    // Of a sample that began at `t_s`, later than those before, and took so long.
    base::expected<void> add(double t_s, double took_s, std::span<const sampled_value> figures);
    // True for the first that is missed for a reason other than those before.
    bool miss(double took_s, const std::string& why);

    [[nodiscard]] const sampled_source& so_far() const noexcept { return made_; }
    // Times are then since `start_s` of those that were handed in.
    [[nodiscard]] sampled_source take(double start_s) &&;

  private:
    sample_series* find_or_add(const sampled_value& figure);
    void begin_moment(double t_s);
    void halve();

    sampled_source made_;
    std::uint64_t in_last_ = 0;  // samples that the last moment stands for
    std::vector<std::string> told_;
};

// How many wait in one queue, from the first third of a time to its last.
struct queue_growth {
    double first = 0;  // on the average of the samples
    double last = 0;
    double per_minute = 0;  // between the middles of the two
};
// Nothing where it did not grow: by a tenth and 10 at least, and from each third to the next; or
// where a third has fewer than 3 samples.
[[nodiscard]] std::optional<queue_growth> growth_of(const sampled_source& of, double from_s,
                                                    double until_s);

// "2,342", "0.25"
[[nodiscard]] std::string sample_text(double value);

}  // namespace postal::stats
