#include "proto/imap_memory.hpp"

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

void imap_memory::forget(imap_range gone) {
    std::vector<imap_range> left;
    left.reserve(uids.size() + 1);
    for (const imap_range one : uids) {
        if (one.last < gone.first || one.first > gone.last) {
            left.push_back(one);
            continue;
        }
        if (one.first < gone.first) left.push_back({one.first, gone.first - 1});
        if (one.last > gone.last) left.push_back({gone.last + 1, one.last});
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
