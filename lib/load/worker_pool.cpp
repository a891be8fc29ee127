// SPDX-License-Identifier: GPL-3.0-or-later
#include "load/worker_pool.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <csignal>

#include "base/units.hpp"
#include "load/loop_check.hpp"

namespace postal::load {

namespace {

using std::chrono::nanoseconds;

constexpr auto live_period = std::chrono::milliseconds(500);
// Who has failed tries again sooner; who does not has something else to wait for than a peer.
constexpr auto longest_pause = std::chrono::seconds(10);
// An interval that is shorter than it should be by less than this is whole.
constexpr auto whole_enough = std::chrono::milliseconds(5);

// From now to the wall clock's next multiple of the interval.
nanoseconds until_aligned(std::chrono::system_clock::time_point now, nanoseconds interval) {
    const nanoseconds into = now.time_since_epoch() % interval;
    return interval - into;
}

}  // namespace

timetable timetable_of(const worker_pool_plan& plan, steady_time start,
                       std::chrono::system_clock::time_point started) noexcept {
    const nanoseconds first =
        plan.align_minutes ? until_aligned(started, plan.interval) : plan.interval;
    return {start,         plan.first_interval.value_or(first),
            plan.interval, plan.warmup,
            plan.duration, plan.slice};
}

worker_pool::worker_pool(worker_pool_plan plan)
    : plan_(plan),
      main_(1),
      signals_(main_, [this](int signal) { on_signal(signal); }),
      start_(main_),
      duration_end_(main_),
      grace_end_(main_),
      live_(main_),
      counted_until_(plan.workers) {
    check_loop(main_);
    const auto deposit = [this](worker& from, nanoseconds until, const stats::tally& counts,
                                bool last) { take(from, until, counts, last); };
    const auto tell = [this](stats::first_error what) {
        asio::post(main_, [this, what = std::move(what)] { watcher_->on_first_error(what); });
    };
    for (unsigned index = 0; index < plan_.workers; ++index) {
        const worker::settings settings{index, plan_.workers, plan_.phases, plan_.serves};
        workers_.push_back(std::make_unique<worker>(
            settings, deposit, [this] { stop(stop_kind::now); }, tell));
        check_loop(workers_.back()->context());
    }
}

worker_pool::~worker_pool() {
    for (auto& one : workers_) {
        one->stop(stop_kind::now, nanoseconds(0));
    }
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

bool worker_pool::looks_up() const noexcept {
    return std::any_of(workers_.begin(), workers_.end(),
                       [](const auto& one) { return one->looks_up(); });
}

base::expected<void> worker_pool::run(const std::function<void(worker&)>& begin,
                                      run_watcher& watcher) {
    watcher_ = &watcher;
    plan_times();
    run_threads(begin);
    lasted_ = std::max(since_start(), nanoseconds(0));
    hand_on();
    for (auto& one : workers_) {
        if (one->failure()) return base::fail("a session ended with: {}", *one->failure());
    }
    return {};
}

// An exception, which is want of memory, must not leave: it would destroy what the threads work
// with. As one in their own, it ends the process.
void worker_pool::run_threads(const std::function<void(worker&)>& begin) noexcept {
    for (auto& one : workers_) {
        threads_.emplace_back([&own = *one, &begin, this] { own.run(times_, begin); });
    }
    wait_for_start();
    if (plan_.duration.count() > 0) {
        duration_end_.expires_at(times_.start + plan_.duration);
        duration_end_.async_wait([this](const boost::system::error_code& error) {
            if (!error) end(stop_kind::gently, plan_.duration, run_ending::duration);
        });
    }
    if (last_signal_ != 0) on_signal(last_signal_);
    while (!main_.stopped())
        turn(signal_watch::look_again);
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void worker_pool::plan_times() {
    machine_ = {};
    watch_own_time();
    const auto now = std::chrono::steady_clock::now();
    const steady_time start = plan_.start_at.value_or(now);
    started_ = std::chrono::system_clock::now() +
               std::chrono::duration_cast<std::chrono::system_clock::duration>(start - now);
    times_ = timetable_of(plan_, start, started_);
}

nanoseconds worker_pool::since_start() const noexcept {
    return std::chrono::steady_clock::now() - times_.start;
}

void worker_pool::wait_for_start() {
    start_.expires_at(times_.start);
    start_.async_wait([this](const boost::system::error_code& error) {
        if (error) return;
        machine_ = {};
        main_time_.begin();
        ledger_time_.look(std::chrono::steady_clock::now());
        static_cast<void>(ledger_time_.take());
        show_live();
    });
}

std::optional<nanoseconds> worker_pool::start_late() const noexcept {
    nanoseconds latest{0};
    for (const auto& one : workers_) {
        const auto late = one->began_late();
        if (!late) return std::nullopt;
        latest = std::max(latest, *late);
    }
    return latest;
}

void worker_pool::on_signal(std::function<bool(int)> hook) {
    signals_.add(SIGUSR1);
    hook_ = std::move(hook);
}

void worker_pool::every(nanoseconds period, std::function<void()> what) {
    repeat(repeated_.emplace_back(repetition{asio::steady_timer(main_), period, std::move(what)}));
}

void worker_pool::repeat(repetition& one) {
    one.timer.expires_after(one.period);
    one.timer.async_wait([this, &one](const boost::system::error_code& error) {
        if (error) return;
        one.what();
        repeat(one);
    });
}

void worker_pool::linger(const std::function<bool()>& done) {
    constexpr auto look = std::chrono::milliseconds(20);
    main_.restart();
    while (!done())
        turn(look);
}

void worker_pool::turn(nanoseconds longest) {
    main_.run_one_for(longest);
    signals_.look();
}

// One that comes before run() has its effect there.
void worker_pool::on_signal(int signal) {
    last_signal_ = signal;
    if (watcher_ == nullptr) return;
    if (hook_ && !hook_(signal)) return;
    end(stopped_at_ ? stop_kind::now : stop_kind::gently, since_start(), run_ending::signal);
}

void worker_pool::stop(stop_kind how) {
    stop(how, run_ending::failure);
}

void worker_pool::stop(stop_kind how, run_ending why) {
    asio::post(main_, [this, how, why] { end(how, since_start(), why); });
}

void worker_pool::stop(stop_kind how, run_ending why, nanoseconds when) {
    asio::post(main_, [this, how, why, when] { end(how, std::min(when, since_start()), why); });
}

void worker_pool::begin_trial(const trial& next) {
    for (auto& one : workers_)
        one->begin_trial(next);
}

// Gently only once.
void worker_pool::end(stop_kind how, nanoseconds when, run_ending why) {
    if (how == stop_kind::gently) {
        if (stopped_at_) return;
        grace_end_.expires_after(plan_.grace);
        grace_end_.async_wait([this](const boost::system::error_code& error) {
            if (!error) end(stop_kind::now, *stopped_at_, ended_by_);
        });
    }
    if (!stopped_at_) {
        stopped_at_ = when;
        ended_by_ = why;
    }
    if (ended_by_ == run_ending::signal) note_interrupt(how, when);
    // A run that is no good ends without what was due.
    const bool no_good = why == run_ending::gave_up || why == run_ending::first_error ||
                         why == run_ending::threshold;
    const bool due_first = how == stop_kind::gently && plan_.finishes_due && !no_good;
    for (auto& one : workers_)
        one->stop(due_first ? stop_kind::finish_due : how, *stopped_at_);
}

void worker_pool::note_interrupt(stop_kind how, nanoseconds when) {
    if (!interrupted_) {
        interrupted_ = {.signal = last_signal_,
                        .at = when,
                        .early = plan_.bounded || plan_.duration.count() > 0};
        const bool waits = how != stop_kind::now && plan_.grace.count() > 0;
        if (waits && when.count() > 0) return watcher_->on_interrupt(live_state(), plan_.grace);
    }
    if (how != stop_kind::now || std::exchange(interrupted_->cut_short, true)) return;
    watcher_->on_cut_short();
}

stats::live_state worker_pool::live_state() const {
    stats::live_state state;
    state.elapsed = since_start();
    for (const auto& one : workers_) {
        const gauges& shown = one->shown();
        state.messages += shown.messages.load(std::memory_order_relaxed);
        state.started += shown.started.load(std::memory_order_relaxed);
        state.appended += shown.appended.load(std::memory_order_relaxed);
        state.heard = state.heard || shown.heard.load(std::memory_order_relaxed);
        state.errors += shown.errors.load(std::memory_order_relaxed);
        for (std::size_t i = 0; i < state.sessions.size(); ++i)
            state.sessions[i] += shown.sessions[i].load(std::memory_order_relaxed);
        state.open_connections += shown.open_connections.load(std::memory_order_relaxed);
    }
    return state;
}

void worker_pool::show_live() {
    live_.expires_after(live_period);
    live_.async_wait([this](const boost::system::error_code& error) {
        if (error) return;
        stats::live_state state = live_state();
        state.messages_per_second =
            static_cast<double>(state.messages - std::min(state.messages, messages_shown_)) /
            base::seconds_of(live_period);
        messages_shown_ = state.messages;
        watcher_->on_live(state);
        look_for_progress(state.elapsed, state.errors);
        show_live();
    });
}

// Pauses, and waiting for what is due, are neither progress nor a want of it.
void worker_pool::look_for_progress(nanoseconds now, std::uint64_t errors) {
    const bool is_over = lasted_.count() > 0;  // who lingers waits for no peer
    if (plan_.give_up.count() == 0 || stopped_at_ || is_over) return;
    bool tried = std::exchange(errors_seen_, errors) != errors;
    std::uint64_t progress = 0;
    for (auto& one : workers_) {
        tried = tried || one->shown().waiting.load(std::memory_order_relaxed) > 0;
        progress += one->shown().progress.load(std::memory_order_relaxed);
    }
    const bool moves = std::exchange(progress_seen_, progress) != progress;
    if (tried) last_tried_ = now;
    if (moves || now - last_tried_ > longest_pause) {
        stuck_since_.reset();
    } else if (tried && !stuck_since_) {
        stuck_since_ = now - live_period;
    }
    if (!stuck_since_ || now - *stuck_since_ < plan_.give_up) return;
    watcher_->on_gave_up();
    end(stop_kind::gently, now, run_ending::gave_up);
}

// In a worker's thread.
void worker_pool::take(const worker& from, nanoseconds until, const stats::tally& counts,
                       bool last) {
    const std::scoped_lock lock(mutex_);
    nanoseconds& counted_until = counted_until_[from.index()];
    stats::time_slice& into = slices_.try_emplace(counted_until, plan_.phases).first->second;
    into.workers.resize(workers_.size());
    into.add_worker(from.index(), counts);
    counted_until = last ? nanoseconds::max() : until;
    asio::post(main_, [this] { hand_on(); });
    // Not by cancelling each timer: one that has just fired would start itself anew. What was
    // posted and is left behind by this is a hand_on(), which run() does once more.
    if (all_have_counted_until(nanoseconds::max())) asio::post(main_, [this] { main_.stop(); });
}

bool worker_pool::all_have_counted_until(nanoseconds when) const noexcept {
    return std::all_of(counted_until_.begin(), counted_until_.end(),
                       [when](nanoseconds until) { return until >= when; });
}

// Hands every complete time slice to the watcher, in order; in the main thread. Not under the lock:
// a watcher that waits, for whoever reads the log, must not stop the workers.
void worker_pool::hand_on() {
    for (;;) {
        std::optional<stats::time_slice> time_slice;
        bool final = false;
        {
            const std::scoped_lock lock(mutex_);
            time_slice = take_complete(final);
        }
        if (!time_slice) return;
        hand_on(*time_slice, final);
    }
}

// Where the next time slice that is handed on ends, unless the run ends before.
nanoseconds worker_pool::next_boundary() const noexcept {
    const nanoseconds cut = times_.next_cut(handed_on_until_);
    return stopped_at_ && *stopped_at_ > handed_on_until_ ? std::min(*stopped_at_, cut) : cut;
}

// The next time slice, if all workers have counted until its end. A worker that came late to the
// stop has counted on behind it; that belongs to where it began.
std::optional<stats::time_slice> worker_pool::take_complete(bool& final) {
    const nanoseconds end = next_boundary();
    if (slices_.empty() || !all_have_counted_until(end)) return std::nullopt;
    final = all_have_counted_until(nanoseconds::max()) && slices_.rbegin()->first < end;
    // The end of the last one is known when the threads have ended.
    if (final && lasted_.count() == 0) return std::nullopt;
    std::optional<stats::time_slice> taken(plan_.phases);
    while (!slices_.empty() && slices_.begin()->first < end) {
        taken->merge(slices_.begin()->second);
        slices_.erase(slices_.begin());
    }
    return taken;
}

void worker_pool::hand_on(stats::time_slice& time_slice, bool final) {
    const nanoseconds start = handed_on_until_;
    const nanoseconds end = final ? std::max(lasted_, start) : next_boundary();
    handed_on_until_ = end;
    time_slice.draining = stopped_at_ && start >= *stopped_at_;
    const bool brief = start.count() > 0 && end - start < whole_enough;
    const bool nothing_open = interval_start_ == start;
    if (final && nothing_open && (brief || time_slice.draining) && time_slice.counts.empty())
        return;
    const bool stops = stopped_at_ == end;
    time_slice.start_s = base::seconds_of(start);
    time_slice.end_s = base::seconds_of(end);
    time_slice.in_warmup = (time_slice.draining ? *stopped_at_ : end) <= times_.warmup;
    time_slice.closes_interval = final || stops || times_.ends_interval(end);
    time_slice.partial =
        time_slice.draining || end - interval_start_ < plan_.interval - whole_enough;
    if (time_slice.closes_interval) interval_start_ = end;
    add_own_times(time_slice);
    watcher_->on_time_slice(time_slice);
}

}  // namespace postal::load
