// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/waits.hpp"

#include <algorithm>
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
    (one.how == waiting::in_idle ? idle_ : stays_).add(mailbox, one);
}

void waits::finish() {
    reach_.resize(idle_.all.size());
    for (const auto& [mailbox, place] : idle_.places) {
        const auto [first, count] = place;
        const auto begin = idle_.all.begin() + static_cast<std::ptrdiff_t>(first);
        std::sort(begin, begin + static_cast<std::ptrdiff_t>(count),
                  [](const auto& a, const auto& b) { return a.began_us < b.began_us; });
        for (std::size_t at = first; at < first + count; ++at) {
            const std::int64_t ended = idle_.all[at].ended_us;
            reach_[at] = at == first ? ended : std::max(reach_[at - 1], ended);
        }
    }
}

std::span<const wait_entry> waits::stays(std::int64_t mailbox) const {
    return stays_.of(mailbox);
}

// From the last that had begun back to where none reaches that far.
void waits::for_idle(std::int64_t mailbox, std::int64_t since_us, std::int64_t until_us,
                     const std::function<void(const wait_entry&)>& each) const {
    const auto all = idle_.of(mailbox);
    const auto behind = std::partition_point(
        all.begin(), all.end(), [&](const wait_entry& one) { return one.began_us <= since_us; });
    for (auto at = behind - all.begin(); at > 0; --at) {
        const wait_entry& one = all[static_cast<std::size_t>(at - 1)];
        if (reach_[static_cast<std::size_t>(&one - idle_.all.data())] < until_us) return;
        if (one.ended_us >= until_us) each(one);
    }
}

}  // namespace postal::ledger
