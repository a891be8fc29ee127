// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/dictionary.hpp"

#include "base/text.hpp"

namespace postal::ledger {

address_id dictionary::number(std::string_view address) {
    std::string text = base::lower(address);
    const std::scoped_lock lock(mutex_);
    const auto known = numbers_.find(text);
    if (known != numbers_.end()) return known->second;
    texts_.push_back(std::move(text));
    const auto number = static_cast<address_id>(texts_.size());
    numbers_.emplace(texts_.back(), number);
    return number;
}

std::string dictionary::text(address_id number) const {
    const std::scoped_lock lock(mutex_);
    return texts_[number - 1];
}

}  // namespace postal::ledger
