// A search as it stands in a record: its goals, every trial and what was found (record_fields.hpp
// has the keys). A trial's batches are left out: what they showed stands with each goal. Nothing
// here fails.
#pragma once

#include "stats/capacity/search.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::capacity {

// A trial, for one goal.
struct recorded_judgement {
    goal_losses losses{};
    judgement said{};
};

struct recorded_trial {
    double start_s = 0;
    trial_input asked{};
    double duration_s = 0;
    double took_s = 0;
    std::uint64_t intended = 0;
    std::uint64_t backlog_start = 0;
    std::uint64_t backlog_end = 0;
    std::optional<std::uint64_t> queued_end{};
    bool began_with_backlog = false;
    trial_validity validity = trial_validity::valid;
    std::optional<std::chrono::nanoseconds> p50{};
    std::optional<std::chrono::nanoseconds> p99{};
    std::vector<recorded_judgement> goals{};  // none where the trial does not count
};

struct search_record {
    std::vector<goal> goals{};
    double start_load = 0;
    double min_load = 0;
    std::optional<double> max_load{};
    std::uint64_t seed = 0;
    std::string unit{};  // what loads count: "messages"
    std::string sentence{};
    // All of so many were busy where a promise was not kept: perhaps more would carry more.
    std::optional<std::uint64_t> sessions_busy{};
    search_result result{};
    std::vector<recorded_trial> trials{};
};

// What became of it, for each goal.
[[nodiscard]] recorded_trial recorded(const search_trial& of);
// The goal that decides, null where the trial does not count: one that was missed before one that
// is open, and of those the one that lost most.
[[nodiscard]] const recorded_judgement* decisive(const recorded_trial& of);
// "kept", "missed, perhaps by chance", "says nothing: the machine was full".
[[nodiscard]] std::string verdict_text(const recorded_trial& of);

// Trials that say nothing: they were not valid, or began with a backlog.
[[nodiscard]] std::uint64_t trials_that_say_nothing(const search_record& of);

[[nodiscard]] search_record record_of(const search& of, std::string_view unit = "messages");

}  // namespace postal::capacity
