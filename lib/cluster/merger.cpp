#include "cluster/merger.hpp"

#include <algorithm>
#include <cmath>

namespace postal::cluster {

namespace {

using std::chrono::nanoseconds;

// Times have travelled as seconds; one of a slice is never so near to another.
constexpr auto rounding = std::chrono::microseconds(1);
// As in load::worker_pool: an interval that is shorter by less than this is whole.
constexpr auto whole_enough = std::chrono::milliseconds(5);

nanoseconds of_seconds(double seconds) {
    return nanoseconds(std::llround(seconds * 1e9));
}

double seconds(nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

}  // namespace

slice_merger::slice_merger(const load::timetable& times, std::size_t phases,
                           const std::vector<std::size_t>& workers)
    : times_(times), phases_(phases), ranks_(workers.size()) {
    std::size_t before = 0;
    for (const std::size_t more : workers) {
        first_worker_.push_back(before);
        before += more;
    }
}

// Where the time slice begins that this moment is in.
nanoseconds slice_merger::slot_of(nanoseconds when) const noexcept {
    nanoseconds begin{};
    if (when + rounding >= times_.first_interval && times_.interval.count() > 0) {
        const nanoseconds into = when + rounding - times_.first_interval;
        begin = times_.first_interval + into / times_.interval * times_.interval;
    }
    return when + rounding >= times_.warmup ? std::max(begin, times_.warmup) : begin;
}

bool slice_merger::add(unsigned rank, stats::time_slice slice) {
    progress& of = ranks_[rank];
    if (of.over) return false;
    const nanoseconds start = of_seconds(slice.start_s);
    part& into = open_.try_emplace({slice.draining, slot_of(start)}, phases_).first->second;
    of.until = std::max(of.until, of_seconds(slice.end_s));
    of.draining = of.draining || slice.draining;
    into.end = std::max(into.end, of_seconds(slice.end_s));
    if (slice.machine.pressure_s)
        into.pressure_s = std::max(into.pressure_s.value_or(0), *slice.machine.pressure_s);
    slice.workers.insert(slice.workers.begin(), first_worker_[rank], {});
    into.sum.merge(slice);
    into.sum.in_warmup =
        into.sum.ranks == 0 ? slice.in_warmup : into.sum.in_warmup && slice.in_warmup;
    ++into.sum.ranks;
    return true;
}

bool slice_merger::all_over() const noexcept {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const progress& one) { return one.over; });
}

bool slice_merger::complete(bool draining, nanoseconds end) const noexcept {
    return std::all_of(ranks_.begin(), ranks_.end(), [&](const progress& one) {
        const bool beyond = one.until + rounding >= end;
        return one.over || (draining ? one.draining && beyond : one.draining || beyond);
    });
}

std::optional<stats::time_slice> slice_merger::take() {
    if (open_.empty()) return std::nullopt;
    const auto first = open_.begin();
    const auto [draining, begin] = first->first;
    const nanoseconds boundary = times_.next_cut(begin);
    if (!complete(draining, boundary)) return std::nullopt;
    part& got = first->second;
    stats::time_slice& made = got.sum;
    const nanoseconds end = std::max(got.end, taken_until_);
    const bool reaches = end + rounding >= boundary;
    const bool last = all_over() && open_.size() == 1;
    made.start_s = seconds(taken_until_);
    made.end_s = seconds(end);
    made.draining = draining;
    made.machine.pressure_s = got.pressure_s;
    made.closes_interval = last || !reaches || times_.ends_interval(boundary);
    made.partial = draining || end - interval_start_ < times_.interval - whole_enough;
    taken_until_ = end;
    if (made.closes_interval) interval_start_ = end;
    std::optional<stats::time_slice> result(std::move(made));
    open_.erase(first);
    return result;
}

}  // namespace postal::cluster
