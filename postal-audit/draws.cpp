// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/draws.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace postal::audit {
namespace {

constexpr std::uint64_t cuts_stream = 0x63757473;     // "cuts": other numbers than those of draws
constexpr std::uint64_t order_stream = 0x6f72646572;  // "order"
constexpr std::uint64_t most_tears = 4;

// `count` of the numbers below `bound`, none twice (Floyd 1987); count <= bound.
std::set<std::uint64_t> distinct_below(std::uint64_t bound, std::uint64_t count,
                                       base::random_source& random) {
    std::set<std::uint64_t> chosen;
    for (std::uint64_t last = bound - count; last < bound; ++last) {
        const std::uint64_t one = random.below(last + 1);
        if (!chosen.insert(one).second) chosen.insert(last);
    }
    return chosen;
}

// The write is torn at one to four places; every other run survives.
std::vector<sector_run> tear(std::uint64_t sectors, base::random_source& random) {
    const std::uint64_t tears = 1 + random.below(std::min(most_tears, sectors - 1));
    std::set<std::uint64_t> places;
    for (const std::uint64_t place : distinct_below(sectors - 1, tears, random))
        places.insert(place + 1);
    places.insert(sectors);
    bool survives = random.below(2) == 0;
    std::vector<sector_run> runs;
    std::uint64_t begin = 0;
    for (const std::uint64_t end : places) {
        if (survives) runs.push_back({begin, end - begin});
        survives = !survives;
        begin = end;
    }
    return runs;
}

std::vector<survivor> random_survivors(const std::vector<std::size_t>& at_risk,
                                       const write_log& log, unsigned torn_percent,
                                       base::random_source random) {
    const double chance = random.uniform();
    std::vector<survivor> survivors;
    for (const std::size_t index : at_risk) {
        if (random.uniform() >= chance) continue;
        survivor& one = survivors.emplace_back(survivor{index, {}});
        const log_entry& entry = log.entries()[index];
        const std::uint64_t sectors = entry.octets / log.sector_size();
        if (entry.discard || sectors < 2 || random.below(100) >= torn_percent) continue;
        one.torn = tear(sectors, random);
    }
    return survivors;
}

draw draw_from(const std::vector<std::size_t>& at_risk, const write_log& log, std::uint64_t number,
               base::random_source random, unsigned torn_percent) {
    if (at_risk.empty()) return {number, survival::all, {}};
    if (number == 0) return {number, survival::none, {}};
    if (number > 1)
        return {number, survival::some, random_survivors(at_risk, log, torn_percent, random)};
    draw whole{number, survival::all, {}};
    for (const std::size_t index : at_risk)
        whole.writes.push_back({index, {}});
    return whole;
}

base::random_source source_of(std::uint64_t seed, std::size_t cut, std::uint64_t number) {
    return base::random_source(base::mix(seed, cut, number));
}

}  // namespace

std::vector<std::size_t> choose_cuts(const write_log& log, std::size_t first_entry,
                                     std::size_t last_entry, std::size_t count,
                                     std::uint64_t seed) {
    last_entry = std::min(last_entry, log.entries().size());
    if (first_entry > last_entry) return {};
    const std::uint64_t there = std::uint64_t{last_entry} - first_entry + 1;
    base::random_source random(base::mix(seed, cuts_stream, 0));
    std::vector<std::size_t> cuts;
    for (const std::uint64_t one :
         distinct_below(there, std::min<std::uint64_t>(count, there), random))
        cuts.push_back(first_entry + one);
    return cuts;
}

std::vector<std::size_t> in_random_order(std::vector<std::size_t> cuts, std::uint64_t seed) {
    base::random_source random(base::mix(seed, order_stream, 0));
    for (std::size_t left = cuts.size(); left > 1; --left)
        std::swap(cuts[left - 1], cuts[random.below(left)]);
    return cuts;
}

draw draw_of(std::size_t cut, const write_log& log, std::uint64_t number, std::uint64_t seed,
             unsigned torn_percent) {
    return draw_from(log.at_risk(cut), log, number, source_of(seed, cut, number), torn_percent);
}

std::vector<draw> draws_of(std::size_t cut, const write_log& log, std::uint64_t draws,
                           std::uint64_t seed, unsigned torn_percent) {
    const std::vector<std::size_t> at_risk = log.at_risk(cut);
    if (at_risk.empty()) draws = std::min<std::uint64_t>(draws, 1);
    std::vector<draw> different;
    for (std::uint64_t number = 0; number < draws; ++number) {
        draw one = draw_from(at_risk, log, number, source_of(seed, cut, number), torn_percent);
        const bool is_new =
            std::none_of(different.begin(), different.end(),
                         [&](const draw& other) { return other.writes == one.writes; });
        if (is_new) different.push_back(std::move(one));
    }
    return different;
}

}  // namespace postal::audit
