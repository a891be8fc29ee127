// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/figures.hpp"

#include "base/units.hpp"
#include "stats/run_record.hpp"
#include "stats/tally.hpp"

#include <array>

namespace postal::stats {
namespace {

constexpr std::array figure_table{
    figure{"first_accepted_s", "first message after",
           "from the start to the first message that was accepted, of a reader read; of all ranks "
           "the earliest",
           &run_record::first_accepted_s,
           [](const tally& whole) -> std::optional<double> {
               if (!whole.first_accepted) return std::nullopt;
               return base::seconds_of(*whole.first_accepted);
           }},
};

}  // namespace

std::span<const figure> all_figures() noexcept {
    return figure_table;
}

}  // namespace postal::stats
