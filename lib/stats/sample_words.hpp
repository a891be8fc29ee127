// SPDX-License-Identifier: GPL-3.0-or-later
// What was sampled beside a run, in sentences for people.
//
// Names come from commands, and are printable here. Nothing here fails.
#pragma once

#include "stats/samples.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace postal::stats {

// "21,000 messages a minute were accepted while up to 2,342 waited in the queue of postfix (2,100
// when the run ended)"; empty where it is no queue, or has no sample. `rate` is by the minute,
// `accepted` what became of the messages.
[[nodiscard]] std::string waiting_sentence(const sampled_source& of, std::string_view rate,
                                           std::string_view accepted);

// "The queue of postfix grew: 412 waited on the average of the first third of the measured time,
// 2,100 of the last, about 1,270 a minute more: it took in more than it handed on"; empty where
// growth_of() says nothing.
[[nodiscard]] std::string growth_sentence(const sampled_source& of, double from_s, double until_s);

// "120 messages at the end, at most 400 after 3.0 s"
[[nodiscard]] std::string figure_text(const sample_series& of);
// "2 of 60 samples missed: it took longer than 5s and was killed"; empty where none was.
[[nodiscard]] std::string missed_text(const sampled_source& of);

struct sample_line {
    std::string name;
    std::string text;
};
// A line for each figure, but for those that were always 0, which share one; what was missed.
[[nodiscard]] std::vector<sample_line> sample_lines(const std::vector<sampled_source>& all);

}  // namespace postal::stats
