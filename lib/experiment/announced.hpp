// SPDX-License-Identifier: GPL-3.0-or-later
// How soon readers were told of what a run had accepted: the account that is kept of its ledger.
//
// Flow: read_announced(ledger, from) when the run is over; to_json() is its file, announced.json of
// the run's folder, schema "postal-announced/1", which announced_from_json() reads back. Its keys:
//   from       what was accepted before, in the warm-up, is left out; ISO 8601, UTC
//   accepted   messages of each recipient, as the ledger has them
//   announced  those of which a reader was told while it waited, and which it read then: what it
//              was told of and could not read is nowhere in the ledger, and so never
//   times      from the reply that accepted one of these to when the first reader was told, as the
//              histograms of run records are written (stats/histogram.hpp): at most 0.8 % wrong.
//              What was announced before it was acknowledged has 0
//
// Every accepted message counts, whether or not anybody waited for it: who left out those that no
// reader waited for would praise a server whose readers were thrown out. What was never announced
// lies above all times.
#pragma once

#include "base/result.hpp"
#include "stats/histogram.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postal::experiment {

struct announced_account {
    std::string from{};
    std::uint64_t accepted = 0;
    std::uint64_t announced = 0;
    stats::histogram times{};

    // Microseconds; infinite where that share of all accepted messages was never announced, and
    // nothing where none was accepted.
    [[nodiscard]] std::optional<double> within_us(double share) const;
};

// Fails with one line about the file.
[[nodiscard]] base::expected<announced_account> read_announced(
    const std::string& ledger, std::chrono::system_clock::time_point from);

[[nodiscard]] std::string to_json(const announced_account& of);

inline constexpr std::uint64_t largest_announced_file = 1 << 20;
// The text may be anything: what is wrong is said in one line that names the key.
[[nodiscard]] base::expected<announced_account> announced_from_json(std::string_view text);

}  // namespace postal::experiment
