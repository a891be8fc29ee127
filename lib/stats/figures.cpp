#include "stats/figures.hpp"

#include "stats/run_record.hpp"
#include "stats/tally.hpp"

#include <array>
#include <chrono>

namespace postal::stats {
namespace {

constexpr std::array figure_table{
    figure{"first_accepted_s", "first message after",
           "from the start to the first message that was accepted, of a reader read; of all ranks "
           "the earliest",
           &run_record::first_accepted_s,
           [](const tally& whole) -> std::optional<double> {
               if (!whole.first_accepted) return std::nullopt;
               return std::chrono::duration<double>(*whole.first_accepted).count();
           }},
};

}  // namespace

std::span<const figure> all_figures() noexcept {
    return figure_table;
}

}  // namespace postal::stats
