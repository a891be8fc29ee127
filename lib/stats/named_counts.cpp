// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/named_counts.hpp"

#include <algorithm>

namespace postal::stats {

void named_counts::add(std::string_view name, std::uint64_t count) {
    if (last_ >= all_.size() || all_[last_].name != name) {
        for (last_ = 0; last_ < all_.size(); ++last_) {
            if (all_[last_].name == name) break;
        }
        if (last_ == all_.size()) all_.push_back({std::string(name), 0});
    }
    all_[last_].count += count;
}

void named_counts::merge(const named_counts& other) {
    for (const named_count& theirs : other.all_) {
        if (theirs.count > 0) add(theirs.name, theirs.count);
    }
}

void named_counts::clear() noexcept {
    for (named_count& one : all_)
        one.count = 0;
}

std::vector<named_count> named_counts::sorted() const {
    std::vector<named_count> counted;
    for (const named_count& one : all_) {
        if (one.count > 0) counted.push_back(one);
    }
    std::sort(counted.begin(), counted.end(), [](const auto& a, const auto& b) {
        return a.count != b.count ? a.count > b.count : a.name < b.name;
    });
    return counted;
}

bool named_counts::empty() const noexcept {
    return std::all_of(all_.begin(), all_.end(),
                       [](const named_count& one) { return one.count == 0; });
}

}  // namespace postal::stats
