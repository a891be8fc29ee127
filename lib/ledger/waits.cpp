// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/waits.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace postal::ledger {

void waits::rows::add(std::int64_t mailbox, const wait_entry& one) {
    const auto at = places.try_emplace(mailbox, all.size(), 0).first;
    ++at->second.second;
    all.push_back(one);
}

std::span<const wait_entry> waits::rows::of(std::int64_t mailbox) const {
    const auto found = places.find(mailbox);
    if (found == places.end()) return {};
    return std::span(all).subspan(found->second.first, found->second.second);
}

void waits::add(std::int64_t mailbox, const wait_entry& one) {
    (is_stretch(one.how) ? stretches_ : stays_).add(mailbox, one);
}

void waits::make_groups(std::int64_t mailbox, std::size_t first, std::size_t count) {
    const auto begin = stays_.all.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(count),
              [](const wait_entry& a, const wait_entry& b) {
                  return std::tie(a.server, a.how, a.opened_us) <
                         std::tie(b.server, b.how, b.opened_us);
              });
    std::vector<group>& made = groups_[mailbox];
    for (std::size_t at = first; at < first + count; ++at) {
        const wait_entry& one = stays_.all[at];
        const bool is_new =
            made.empty() || made.back().server != one.server || made.back().how != one.how;
        if (is_new && made.size() == most_groups) return;
        if (is_new) made.push_back({one.server, one.how, at, 0});
        stays_reach_[at] = is_new ? one.ended_us : std::max(stays_reach_[at - 1], one.ended_us);
        ++made.back().count;
    }
}

void waits::finish() {
    stays_reach_.resize(stays_.all.size());
    for (const auto& [mailbox, place] : stays_.places)
        make_groups(mailbox, place.first, place.second);
    reach_.resize(stretches_.all.size());
    for (const auto& [mailbox, place] : stretches_.places) {
        const auto [first, count] = place;
        const auto begin = stretches_.all.begin() + static_cast<std::ptrdiff_t>(first);
        std::sort(begin, begin + static_cast<std::ptrdiff_t>(count),
                  [](const auto& a, const auto& b) { return a.began_us < b.began_us; });
        for (std::size_t at = first; at < first + count; ++at) {
            const std::int64_t ended = stretches_.all[at].ended_us;
            reach_[at] = at == first ? ended : std::max(reach_[at - 1], ended);
        }
    }
}

void waits::for_waiting(std::int64_t mailbox, std::int64_t opened_us, std::int64_t until_us,
                        const std::function<void(std::int64_t server, waiting how)>& each) const {
    const auto found = groups_.find(mailbox);
    if (found == groups_.end()) return;
    for (const group& one : found->second) {
        const auto all = std::span(stays_.all).subspan(one.first, one.count);
        const auto behind = std::partition_point(
            all.begin(), all.end(),
            [&](const wait_entry& stay) { return stay.opened_us <= opened_us; });
        if (behind == all.begin()) continue;
        const auto last = one.first + static_cast<std::size_t>(behind - all.begin()) - 1;
        if (stays_reach_[last] >= until_us) each(one.server, one.how);
    }
}

// From the last that had begun back to where none reaches that far.
void waits::for_stretches(std::int64_t mailbox, std::int64_t since_us, std::int64_t until_us,
                          const std::function<void(const wait_entry&)>& each) const {
    const auto all = stretches_.of(mailbox);
    const auto behind = std::partition_point(
        all.begin(), all.end(), [&](const wait_entry& one) { return one.began_us <= since_us; });
    const auto from = behind - all.begin();
    const auto least = std::max<std::ptrdiff_t>(0, from - std::ptrdiff_t{most_looked_at});
    for (auto at = from; at > least; --at) {
        const wait_entry& one = all[static_cast<std::size_t>(at - 1)];
        if (reach_[static_cast<std::size_t>(&one - stretches_.all.data())] < until_us) return;
        if (one.ended_us >= until_us) each(one);
    }
}

}  // namespace postal::ledger
