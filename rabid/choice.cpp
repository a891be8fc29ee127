// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/choice.hpp"

#include <algorithm>
#include <utility>

namespace postal::rabid {
namespace {

bool happens(unsigned percent, base::random_source& random) {
    return percent == 100 || random.below(100) < percent;
}

}  // namespace

std::vector<std::uint32_t> pick_messages(const options& chosen, std::uint32_t there,
                                         base::random_source& random) {
    std::vector<std::uint32_t> picked;
    picked.reserve(there);
    for (std::uint32_t number = 1; number <= there; ++number) {
        if (happens(chosen.download_percent, random)) picked.push_back(number);
    }
    if (chosen.most_messages < 0) return picked;
    const auto most = static_cast<std::size_t>(chosen.most_messages);
    if (picked.size() <= most) return picked;
    for (std::size_t i = 0; i < most; ++i)
        std::swap(picked[i], picked[i + random.below(picked.size() - i)]);
    picked.resize(most);
    std::sort(picked.begin(), picked.end());
    return picked;
}

bool pick_deletion(const options& chosen, examination_result what, base::random_source& random) {
    return (is_ours(what) || chosen.delete_foreign) && chosen.delete_percent != 0 &&
           happens(chosen.delete_percent, random);
}

}  // namespace postal::rabid
