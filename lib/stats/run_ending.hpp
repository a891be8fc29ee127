// SPDX-License-Identifier: GPL-3.0-or-later
// Why a run ended, and the words for that in records and between ranks.
#pragma once

#include "base/words.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace postal::stats {

// All sessions by themselves, the end of its duration, a signal, no progress, something of our own
// that failed, the first error where that ends it, or a threshold that was missed before.
enum class run_ending : std::uint8_t {
    unknown,
    complete,
    duration,
    signal,
    gave_up,
    failure,
    first_error,
    threshold
};
constexpr auto words_of(run_ending) {
    return std::to_array<std::string_view>(
        {"", "complete", "duration", "signal", "gave_up", "failure", "first_error", "threshold"});
}

// In a sentence. A newer program may have ended for what this one has no word for.
constexpr std::string_view shown_ending(run_ending of) {
    return of == run_ending::unknown ? "for a reason not known here" : base::name_of(of);
}

}  // namespace postal::stats
