#include "cluster/merger.hpp"

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

double seconds(nanoseconds time) {
    return std::chrono::duration<double>(time).count();
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
    nanoseconds begin{0};
    if (when >= times_.first_interval) {
        begin = times_.first_interval +
                (when - times_.first_interval) / times_.interval * times_.interval;
    }
    return times_.warmup > begin && times_.warmup <= when ? times_.warmup : begin;
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
    auto [found, fresh] = open_.try_emplace(where, phases_);
    stats::time_slice& into = found->second;
    if (fresh) {
        into.workers.resize(first_worker_.back());
        into.ranks = 0;
    }
    into.end_s = std::max(into.end_s, seconds(end));
    ++into.ranks;
    const std::size_t first = first_worker_[rank];
    slice.workers.resize(first_worker_[rank + 1] - first);
    slice.workers.insert(slice.workers.begin(), first, stats::worker_time{});
    // Time in which something waited is no sum.
    const auto pressure = std::max(into.machine.pressure_s, slice.machine.pressure_s);
    into.merge(slice);
    into.machine.pressure_s = pressure;
    return true;
}

void slice_merger::end(unsigned rank) {
    if (rank < ranks_.size()) ranks_[rank].over = true;
}

void slice_merger::lose(unsigned rank) {
    end(rank);
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

std::optional<stats::time_slice> slice_merger::take() {
    if (open_.empty() || !complete(open_.begin()->first)) return std::nullopt;
    const slot where = open_.begin()->first;
    std::optional<stats::time_slice> taken(std::move(open_.begin()->second));
    open_.erase(open_.begin());
    const nanoseconds start = handed_on_until_;
    const nanoseconds cut = times_.next_cut(where.begin);
    nanoseconds end = std::max(from_seconds(taken->end_s), start);
    if (cut != nanoseconds::max() && end + rounding >= cut) end = std::max(cut, start);
    handed_on_until_ = end;

    const bool none_counts_on =
        all_stopped() && (open_.empty() || (open_.begin()->first.draining && !where.draining));
    const bool all_over =
        std::all_of(ranks_.begin(), ranks_.end(), [](const progress& one) { return one.over; });
    taken->draining = where.draining;
    taken->start_s = seconds(start);
    taken->end_s = seconds(end);
    taken->in_warmup = (where.draining ? stopped_at_ : end) <= times_.warmup;
    if (!where.draining) stopped_at_ = end;
    taken->closes_interval = times_.ends_interval(end) || (!where.draining && none_counts_on) ||
                             (all_over && open_.empty());
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
