// SPDX-License-Identifier: GPL-3.0-or-later
#include "load/worker.hpp"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace postal::load {

namespace {

using std::chrono::nanoseconds;

constexpr auto tick_length = std::chrono::milliseconds(100);
constexpr unsigned ticks_a_census = 5;  // ten thousand sessions take a while to ask
// To be woken takes some 80 us; a worker is up before its start, and waits for that awake.
constexpr auto up_before_start = std::chrono::microseconds(200);

// The scheduler keeps its lock, so that the resolver and other threads may post; sockets and timers
// are this thread's alone and need none.
constexpr int one_thread = BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO;

}  // namespace

nanoseconds timetable::interval_begin(nanoseconds when) const noexcept {
    if (when < first_interval) return nanoseconds(0);
    return first_interval + (when - first_interval) / interval * interval;
}

nanoseconds timetable::last_cut(nanoseconds when) const noexcept {
    nanoseconds last = interval_begin(when);
    if (slice.count() > 0) last += (when - last) / slice * slice;
    return warmup > last && warmup <= when ? warmup : last;
}

nanoseconds timetable::next_cut(nanoseconds after) const noexcept {
    const nanoseconds begin = interval_begin(after);
    nanoseconds next = after < first_interval ? first_interval : begin + interval;
    if (slice.count() > 0) next = std::min(next, begin + ((after - begin) / slice + 1) * slice);
    if (warmup > after && warmup < next) next = warmup;
    return duration.count() > 0 && next >= duration ? nanoseconds::max() : next;
}

bool timetable::ends_interval(nanoseconds cut) const noexcept {
    return cut >= first_interval && (cut - first_interval) % interval == nanoseconds(0);
}

worker::worker(settings wanted, deposit where_to, alarm failed, news told)
    : settings_(wanted),
      deposit_(std::move(where_to)),
      failed_(std::move(failed)),
      told_of_(std::move(told)),
      context_(one_thread),
      starter_(context_),
      ticker_(context_),
      cutter_(context_),
      tally_(wanted.phases) {
    if (!told_of_) return;
    tally_.errors.on_new_kind(
        [this](const auto& what, std::string_view peer) { on_new_error(what, peer); });
}

// Each time slice has its first errors anew; a person wants the run's. What we broke off ourselves
// is news to nobody.
void worker::on_new_error(const stats::error_entry& what, std::string_view peer) {
    if (what.detail == stats::stopped_reason || !errors_seen_.add(what)) return;
    told_of_({what, std::string(peer)});
}

void worker::run(const timetable& times, const std::function<void(worker&)>& begin) {
    times_ = times;
    own_time_.begin();
    const steady_time up = times_.start - up_before_start;
    if (std::chrono::steady_clock::now() >= up) {
        begin_run(begin);
    } else {
        starter_.expires_at(up);
        starter_.async_wait([&](const boost::system::error_code& error) {
            if (!error && !finished_) begin_run(begin);
        });
    }
    context_.run();
    cut(std::chrono::steady_clock::now() - times_.start, true);
}

void worker::begin_run(const std::function<void(worker&)>& begin) {
    steady_time now;
    while ((now = std::chrono::steady_clock::now()) < times_.start)
        continue;
    began_late_.store((now - times_.start).count(), std::memory_order_relaxed);
    own_time_.begin(now);
    arm_ticker();
    arm_cut();
    connected_until_ = now;
    begin(*this);
    if (active_ == 0 && !settings_.serves) finish();
}

void worker::spawn(asio::awaitable<void> session) {
    ++active_;
    try {
        asio::co_spawn(context_, std::move(session),
                       [this](std::exception_ptr problem) { session_ended(std::move(problem)); });
    } catch (...) {
        --active_;
        throw;
    }
}

void worker::session_ended(std::exception_ptr problem) {
    if (problem && !failure_) {
        try {
            std::rethrow_exception(std::move(problem));
        } catch (const std::bad_alloc&) {
            failure_ = "out of memory";
        } catch (const std::exception& what) {
            failure_ = what.what();
        } catch (...) {
            failure_ = "unknown exception";
        }
        failed_();
    }
    --active_;
    if (active_ == 0 && (stopping_ || !settings_.serves)) finish();
}

void worker::finish() {
    finished_ = true;
    starter_.cancel();
    ticker_.cancel();
    cutter_.cancel();
    context_.stop();  // a name look-up that nobody waits for any more must not hold the run up
}

void worker::begin_trial(const trial& next) {
    asio::post(context_, [this, next] {
        if (!next.only_ends) tally_.trial.begin(next.times, next.promises, times_.start);
        for (watched& one : watched_)
            one.on_trial(next);
    });
}

void worker::stop(stop_kind how, nanoseconds when) {
    asio::post(context_, [this, how, when] { on_stop(how, when); });
}

// Sessions may end, and so leave the list, while they are told.
void worker::on_stop(stop_kind how, nanoseconds when) {
    if (finished_) return;
    const bool first = !std::exchange(told_, true);
    if (first) stopped_at_ = times_.start + when;
    stopping_ = stopping_ || how != stop_kind::finish_due;
    for (auto one = watched_.begin(); one != watched_.end();) {
        watched& session = *one++;
        session.on_stop(how);
    }
    // What was never begun has been counted now. A worker that comes late to the stop has cut
    // behind it already.
    while (first && cut_at_ <= when) {
        cut(cut_at_);
        cut_at_ = times_.next_cut(last_cut_);
    }
    if (first && last_cut_ < when) cut(when);
    if (active_ == 0) return finish();
    if (first) arm_cut();
}

void worker::arm_ticker() {
    ticker_.expires_after(tick_length);
    const auto on_tick = [this](const boost::system::error_code& error) {
        if (error || finished_) return;
        tick();
        arm_ticker();
    };
    ticker_.async_wait(asio::bind_allocator(tick_memory_.allocator(), on_tick));
}

// A tick that comes late by more than one has missed others, which count as late as they are by
// now.
void worker::note_lateness(steady_time now) {
    nanoseconds late = now - ticker_.expiry();
    do {
        tally_.loop_late.record(late);
        late -= tick_length;
    } while (late > nanoseconds(0));
}

void worker::tick() {
    const steady_time now = std::chrono::steady_clock::now();
    note_lateness(now);
    own_time_.look(now, tick_length);
    std::uint64_t waiting = 0;
    for (auto one = watched_.begin(); one != watched_.end();) {
        watched& session = *one++;
        if (session.deadline() != steady_time::max()) ++waiting;
        if (session.deadline() > now) continue;
        session.clear_deadline();
        session.on_deadline();
    }
    gauges_.messages.store(messages_before_ + tally_.messages, std::memory_order_relaxed);
    gauges_.started.store(started_before_ + tally_.started, std::memory_order_relaxed);
    gauges_.appended.store(appended_before_ + tally_.appended, std::memory_order_relaxed);
    gauges_.errors.store(errors_before_ + tally_.errors.total(), std::memory_order_relaxed);
    gauges_.open_connections.store(open_connections_, std::memory_order_relaxed);
    gauges_.progress.store(progress_, std::memory_order_relaxed);
    gauges_.heard.store(heard_, std::memory_order_relaxed);
    gauges_.waiting.store(waiting, std::memory_order_relaxed);
    if (++ticks_ % ticks_a_census == 0) show_states();
}

void worker::show_states() noexcept {
    std::array<std::uint64_t, stats::most_session_states> now{};
    for (const watched& one : watched_)
        if (const auto state = one.session_state(); state && *state < now.size()) ++now[*state];
    for (std::size_t i = 0; i < now.size(); ++i)
        gauges_.sessions[i].store(now[i], std::memory_order_relaxed);
}

void worker::count_connected(steady_time until) noexcept {
    if (until <= connected_until_) return;
    const std::chrono::duration<double> passed = until - std::exchange(connected_until_, until);
    tally_.connected_s += static_cast<double>(open_connections_) * passed.count();
}

void worker::connection_opened() noexcept {
    count_connected(std::chrono::steady_clock::now());
    ++open_connections_;
}

void worker::connection_closed() noexcept {
    count_connected(std::chrono::steady_clock::now());
    --open_connections_;
}

void worker::arm_cut() {
    cut_at_ = times_.next_cut(last_cut_);
    if (cut_at_ == nanoseconds::max()) return;
    cutter_.expires_at(times_.start + cut_at_);
    cutter_.async_wait([this, due = cut_at_](const boost::system::error_code& error) {
        if (error || finished_ || due != cut_at_) return;
        cut(due);
        arm_cut();
    });
}

void worker::cut(nanoseconds until, bool last) {
    // Until now, however late that is: the thread's clocks went on, too.
    own_time_.look(std::chrono::steady_clock::now(), tick_length);
    static_cast<base::thread_time&>(tally_) = own_time_.take();
    // Not what has passed since: a cut that comes late would have more open than there were.
    count_connected(times_.start + until);
    messages_before_ += tally_.messages;
    started_before_ += tally_.started;
    appended_before_ += tally_.appended;
    errors_before_ += tally_.errors.total();
    if (tally_.first_accepted) *tally_.first_accepted -= times_.start.time_since_epoch();
    deposit_(*this, until, tally_, last);
    tally_.clear();
    last_cut_ = until;
}

}  // namespace postal::load
