// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/last_second.hpp"

namespace postal::stats {

bool last_second::add(const time_slice& next) {
    constexpr double whole_s = 0.999;
    if (!open_) {
        whole_ = time_slice(phases_);
        whole_.start_s = next.start_s;
    }
    whole_.end_s = next.end_s;
    whole_.in_warmup = next.in_warmup;
    whole_.draining = next.draining;
    whole_.ranks = next.ranks;
    whole_.merge(next);
    open_ = whole_.end_s - whole_.start_s < whole_s && !next.draining;
    return !open_;
}

}  // namespace postal::stats
