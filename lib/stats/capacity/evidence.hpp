// SPDX-License-Identifier: GPL-3.0-or-later
// What trials at one load show about a goal: Trial Classification (RFC 9971), with evidence.
//
// Messages follow each other: one pause makes many late. So a share that is lost has bounds, each
// at 95 % on its side, that are the widest of three: Student's t on means of batches, with as many
// as they are worth (stats::effective_number), for the lower bound as logarithms where that says
// more; where most batches lost nothing, what so few clumps of losses allow, by Poisson's law; and
// what so few messages allow. A trial is *low-loss* where the upper bound is within the Goal Loss
// Ratio, *high-loss* where the lower one is beyond it, and otherwise not known. Where the ratio is
// 0 no number of messages shows it, and what was measured decides.
//
// Losses of a queue come in few large clumps, and a trial may hold none of them by luck. So where
// so many messages take more than half of what is allowed that the share beyond all of it, if waits
// fell off exponentially from there, may be above the Goal Loss Ratio, and where these come in such
// clumps that all messages are worth no more than a few that were independent, a trial is not shown
// to be low-loss.
//
// What pauses leave behind is worked off between them. Where they may come so often, by Poisson's
// law, that the time does not do for it, a trial is not shown to be low-loss, either.
//
// A backlog that has grown by more than 1 in 1,000 of what was due shows no low loss, whatever was
// on time; where it grew steadily (Student's t on its growth from batch to batch at 95 %, and in
// three quarters of the time at least) the trial is high-loss. What was intended, by load and
// duration, and not offered, because nobody was free to begin it, is lost, too. Pure; nothing here
// fails.
#pragma once

#include "stats/capacity/goal.hpp"
#include "stats/capacity/trial.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace postal::capacity {

enum class loss_class : std::uint8_t { not_known, low, high };
inline constexpr std::array<std::string_view, 3> loss_class_words{"not_known", "low_loss",
                                                                  "high_loss"};
constexpr std::span<const std::string_view> words_of(loss_class) {
    return loss_class_words;
}

// What decided, or would have.
enum class loss_reason : std::uint8_t {
    none,
    too_few,
    not_sure,
    late,
    errors,
    not_started,
    not_finished,
    backlog
};
inline constexpr std::array<std::string_view, 8> loss_reason_words{
    "none", "too_few", "not_sure", "late", "errors", "not_started", "not_finished", "backlog"};
constexpr std::span<const std::string_view> words_of(loss_reason) {
    return loss_reason_words;
}

struct judgement {
    // High-loss where more was lost than by chance, if messages were independent; otherwise
    // low-loss.
    loss_class measured = loss_class::not_known;  // not known without a message
    loss_class shown = loss_class::not_known;     // with evidence
    loss_reason reason = loss_reason::none;
    double loss_ratio = 0;  // Trial Loss Ratio, of what was intended
    double low = 0;         // its bounds, each at 95 %
    double high = 1;
    double growth = 0;      // of the backlog, as a share of what was due; 0 where that is tolerated
    double messages = 0;    // that were due
    bool may_grow = false;  // what pauses left has gone, and they may come too often
};

// A part of time: what was due in it, and was lost.
struct counted {
    double due = 0;
    double lost = 0;
};
struct share_bounds {
    double share = 0;
    double low = 0;
    double high = 1;
};
[[nodiscard]] share_bounds bounds_of_lost(std::span<const counted> batches);

// All of `trials` as if they were one. Of each, `goals` and the batches' `lost` have an element for
// each goal of the search; `index` is that of this one.
[[nodiscard]] judgement judge(const goal& of, std::size_t index,
                              std::span<const trial_output* const> trials);

// Whether no goal has lost more than it allows, as measured, and no backlog grew steadily. Who kept
// all of them was fast enough, whatever stood in the way; otherwise what stood there may be why.
[[nodiscard]] bool kept_all(std::span<const goal> goals, const trial_output& seen);

// "3.20 % lost, most of them late", "the backlog grew by 5.00 % of what was due", "1,600 messages
// are too few".
// `unit`: what was due.
[[nodiscard]] std::string reason_text(const judgement& of, std::string_view unit = "messages");

}  // namespace postal::capacity
