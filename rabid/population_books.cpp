// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/population_books.hpp"

#include <algorithm>
#include <utility>

namespace postal::rabid {

account_books::account_books(owner whose, mail::mailbox_plan box, std::size_t folders)
    : whose_(whose),
      box_(std::move(box)),
      by_folder_(folders),
      known_(box_.messages.size(), placed::unknown),
      seen_(box_.messages.size()),
      closed_(folders) {
    for (std::uint32_t n = 0; n < box_.messages.size(); ++n)
        by_folder_[box_.messages[n].folder].push_back(n);
}

void account_books::begin(std::size_t folder) {
    folder_ = folder;
    state_ = {};
    for (const std::uint32_t n : by_folder_[folder_])
        seen_[n] = false;
}

void account_books::found(const found_identity& id, bool intact) {
    if (!ours(id)) {
        ++state_.others;
        return;
    }
    if (box_.messages[id.sequence].folder != folder_) {
        ++state_.misplaced;
        return;
    }
    if (seen_[id.sequence]) {
        ++state_.surplus;
        return;
    }
    seen_[id.sequence] = true;
    ++state_.there;
    if (!intact) state_.changed.push_back(static_cast<std::uint32_t>(id.sequence));
}

bool account_books::end_visit() noexcept {
    const bool moved = std::exchange(progress_of_visit_, progress_) != progress_;
    fruitless_visits_ = moved ? 0 : fruitless_visits_ + 1;
    return moved;
}

folder_state account_books::end() {
    for (const std::uint32_t n : by_folder_[folder_]) {
        const bool promised = known_[n] == placed::acknowledged || known_[n] == placed::present;
        if (seen_[n] && !promised) {
            known_[n] = placed::present;
            ++progress_;
            state_.fresh.push_back(n);
        }
        if (seen_[n] || known_[n] == placed::refused) continue;
        state_.missing.push_back(n);
        if (!promised) continue;
        state_.gone.push_back(n);
        known_[n] = placed::gone;
    }
    std::sort(state_.changed.begin(), state_.changed.end());
    return std::move(state_);
}

}  // namespace postal::rabid
