// SPDX-License-Identifier: GPL-3.0-or-later
#include "cluster/merger.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <cmath>

namespace postal::cluster {

namespace {

using std::chrono::nanoseconds;

// Seconds in a double are not whole nanoseconds.
constexpr nanoseconds rounding = std::chrono::microseconds(1);
// As load::worker_pool has it.
constexpr nanoseconds whole_enough = std::chrono::milliseconds(5);

nanoseconds from_seconds(double time) {
    return nanoseconds(std::llround(std::clamp(time, 0.0, 1e9) * 1e9));
}

void add_part(stats::time_slice& to, const stats::time_slice& part) {
    // Time in which something waited, or was held back, is no sum.
    const auto pressure = std::max(to.machine.pressure_s, part.machine.pressure_s);
    const auto throttled = std::max(to.machine.throttled_s, part.machine.throttled_s);
    const double stopped_s = std::max(to.stopped_s, part.stopped_s);
    to.merge(part);
    to.machine.pressure_s = pressure;
    to.machine.throttled_s = throttled;
    to.stopped_s = stopped_s;
}

}  // namespace

slice_merger::slice_merger(load::timetable times, std::size_t phases,
                           std::vector<std::size_t> workers)
    : times_(times), phases_(phases), first_worker_{0}, ranks_(workers.size()) {
    for (const std::size_t of_rank : workers)
        first_worker_.push_back(first_worker_.back() + of_rank);
}

// Where the stretch between two cuts begins in which that moment lies.
nanoseconds slice_merger::cell_of(nanoseconds when) const noexcept {
    if (times_.duration.count() > 0) when = std::min(when, times_.duration - nanoseconds(1));
    return times_.last_cut(when);
}

bool slice_merger::add(unsigned rank, stats::time_slice slice) {
    if (rank >= ranks_.size() || ranks_[rank].over || slice.counts.latency.size() != phases_)
        return false;
    progress& way = ranks_[rank];
    way.draining = way.draining || slice.draining;
    const nanoseconds begin = std::max(from_seconds(slice.start_s) + rounding, handed_on_until_);
    const nanoseconds end = std::max(from_seconds(slice.end_s), way.until);
    way.until = end;
    const slot where{cell_of(begin), way.draining};
    auto found = open_.find(where);
    if (found == open_.end()) {
        cell none{stats::time_slice(phases_), std::vector<bool>(ranks_.size())};
        none.all.workers.resize(first_worker_.back());
        found = open_.emplace(where, std::move(none)).first;
    }
    found->second.has_part[rank] = true;
    stats::time_slice& into = found->second.all;
    into.end_s = std::max(into.end_s, base::seconds_of(end));
    const std::size_t first = first_worker_[rank];
    slice.workers.resize(first_worker_[rank + 1] - first);
    slice.workers.insert(slice.workers.begin(), first, stats::worker_time{});
    add_part(into, slice);
    return true;
}

void slice_merger::end(unsigned rank) {
    if (rank < ranks_.size()) ranks_[rank].over = true;
}

bool slice_merger::all_stopped() const noexcept {
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [](const progress& one) { return one.over || one.draining; });
}

bool slice_merger::complete(const slot& one) const noexcept {
    if (one.draining && !all_stopped()) return false;
    const nanoseconds end = times_.next_cut(one.begin);
    return std::all_of(ranks_.begin(), ranks_.end(), [&](const progress& way) {
        if (way.over || (way.draining && !one.draining)) return true;
        return end != nanoseconds::max() && way.until >= end - rounding;
    });
}

// Whether all that is open behind it was counted while ranks drained and others went on, so that
// there is no time for it behind the last that these counted.
bool slice_merger::only_drained_before(nanoseconds end) const noexcept {
    return std::all_of(open_.begin(), open_.end(), [end](const auto& one) {
        return one.first.draining && from_seconds(one.second.all.end_s) <= end;
    });
}

bool slice_merger::all_over() const noexcept {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const progress& one) { return one.over; });
}

void slice_merger::take_in_drained(cell& last) {
    for (const auto& [where, drained] : open_) {
        add_part(last.all, drained.all);
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
            if (drained.has_part[rank]) last.has_part[rank] = true;
    }
    open_.clear();
}

// The last one was handed on before it was known to be the last, and ended no interval.
std::optional<stats::time_slice> slice_merger::take_end() {
    if (!all_over() || handed_on_until_ <= interval_start_) return std::nullopt;
    stats::time_slice none(phases_);
    none.workers.resize(first_worker_.back());
    none.ranks = handed_on_ranks_;
    none.start_s = none.end_s = base::seconds_of(handed_on_until_);
    none.draining = handed_on_until_ > stopped_at_;
    none.in_warmup = std::min(handed_on_until_, stopped_at_) <= times_.warmup;
    none.closes_interval = none.partial = true;
    interval_start_ = handed_on_until_;
    return none;
}

std::optional<stats::time_slice> slice_merger::take() {
    if (open_.empty()) return take_end();
    if (!complete(open_.begin()->first)) return std::nullopt;
    const slot where = open_.begin()->first;
    const nanoseconds start = handed_on_until_;
    const nanoseconds cut = times_.next_cut(where.begin);
    nanoseconds end = std::max(from_seconds(open_.begin()->second.all.end_s), start);
    if (cut != nanoseconds::max() && end + rounding >= cut) end = std::max(cut, start);

    auto first = open_.extract(open_.begin());
    const bool last =
        !where.draining && !open_.empty() && all_stopped() && only_drained_before(end);
    if (last && !all_over()) {
        open_.insert(std::move(first));  // who drains will count on, or end
        return std::nullopt;
    }
    if (last) take_in_drained(first.mapped());
    const std::vector<bool>& has_part = first.mapped().has_part;
    handed_on_ranks_ = static_cast<unsigned>(std::count(has_part.begin(), has_part.end(), true));
    std::optional<stats::time_slice> taken(std::move(first.mapped().all));
    taken->ranks = handed_on_ranks_;
    handed_on_until_ = end;

    const bool none_counts_on =
        all_stopped() && (open_.empty() || (open_.begin()->first.draining && !where.draining));
    taken->draining = where.draining;
    taken->start_s = base::seconds_of(start);
    taken->end_s = base::seconds_of(end);
    taken->in_warmup = (where.draining ? stopped_at_ : end) <= times_.warmup;
    if (!where.draining) stopped_at_ = end;
    const bool may_close = times_.ends_interval(end) || (!where.draining && none_counts_on);
    taken->closes_interval = (may_close && end > interval_start_) || (all_over() && open_.empty());
    taken->partial = where.draining || end - interval_start_ < times_.interval - whole_enough;
    if (taken->closes_interval) interval_start_ = end;
    return taken;
}

std::optional<slice_merger::straggler> slice_merger::slowest() const {
    std::optional<straggler> found;
    for (unsigned rank = 0; rank < ranks_.size(); ++rank) {
        const progress& way = ranks_[rank];
        if (way.over || (found && found->until <= way.until)) continue;
        found = straggler{rank, way.until};
    }
    return found;
}

}  // namespace postal::cluster
