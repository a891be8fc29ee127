// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/imap/memory.hpp"

#include <algorithm>

namespace postal::proto {

std::uint64_t imap_memory::count() const noexcept {
    std::uint64_t sum = 0;
    for (const imap_range one : uids)
        sum += std::uint64_t{one.last} - one.first + 1;
    return sum;
}

void imap_memory::learn(std::span<const std::uint32_t> known) {
    uids.clear();
    for (const std::uint32_t uid : known) {
        if (uid == 0) continue;
        if (!uids.empty() && uids.back().last + 1 == uid) {
            uids.back().last = uid;
        } else if (uids.size() == most_ranges) {
            complete = false;
            return;
        } else {
            uids.push_back({uid, uid});
        }
    }
}

void imap_memory::forget(std::vector<imap_range> gone) {
    std::sort(gone.begin(), gone.end(),
              [](imap_range a, imap_range b) { return a.first < b.first; });
    std::vector<imap_range> left;
    std::size_t next = 0;
    for (const imap_range one : uids) {
        std::uint64_t first = one.first;  // of what may be left; beyond the last one there is none
        while (next < gone.size() && gone[next].last < first)
            ++next;
        for (std::size_t i = next; i < gone.size() && gone[i].first <= one.last; ++i) {
            if (gone[i].first > first) {
                left.push_back({static_cast<std::uint32_t>(first), gone[i].first - 1});
            }
            first = std::max<std::uint64_t>(first, std::uint64_t{gone[i].last} + 1);
        }
        if (first <= one.last) left.push_back({static_cast<std::uint32_t>(first), one.last});
    }
    uids.swap(left);
}

void imap_memory::append_uids(std::string& out) const {
    std::string_view comma;
    for (const imap_range one : uids) {
        out.append(comma).append(std::to_string(one.first));
        comma = ",";
        if (one.last != one.first) out.append(":").append(std::to_string(one.last));
    }
}

}  // namespace postal::proto
