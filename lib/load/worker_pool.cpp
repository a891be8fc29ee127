#include "load/worker_pool.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <csignal>

namespace postal::load {

namespace {

namespace asio = boost::asio;
using std::chrono::nanoseconds;

constexpr auto live_period = std::chrono::milliseconds(500);
// An interval that is shorter than it should be by less than this is whole.
constexpr auto whole_enough = std::chrono::milliseconds(5);

double seconds(nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

// From now to the wall clock's next multiple of the interval.
nanoseconds until_aligned(std::chrono::system_clock::time_point now, nanoseconds interval) {
    const nanoseconds into = now.time_since_epoch() % interval;
    return interval - into;
}

}  // namespace

worker_pool::worker_pool(worker_pool_plan plan)
    : plan_(plan),
      main_(1),
      signals_(main_, SIGINT, SIGTERM),
      duration_end_(main_),
      grace_end_(main_),
      live_(main_) {
    const auto deposit = [this](worker& from, std::size_t time_slice, const stats::tally& counts,
                                bool last) { take(from, time_slice, counts, last); };
    for (unsigned index = 0; index < plan_.workers; ++index) {
        const worker::settings settings{index, plan_.workers, plan_.phases, plan_.serves};
        workers_.push_back(std::make_unique<worker>(settings, deposit));
    }
}

worker_pool::~worker_pool() {
    for (auto& one : workers_) {
        one->stop(stop_kind::now);
    }
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

base::expected<void> worker_pool::run(const std::function<void(worker&)>& begin,
                                      run_watcher& watcher) {
    watcher_ = &watcher;
    plan_times();
    for (auto& one : workers_) {
        threads_.emplace_back([&own = *one, &begin, this] { own.run(times_, begin); });
    }
    wait_for_signal();
    show_live();
    if (plan_.duration.count() > 0) {
        duration_end_.expires_at(times_.start + plan_.duration);
        duration_end_.async_wait([this](const boost::system::error_code& error) {
            if (!error) end_gently();
        });
    }
    main_.run();
    boost::system::error_code ignored;
    signals_.clear(ignored);  // from here on a signal ends the program, whatever it waits for
    for (std::thread& thread : threads_) {
        thread.join();
    }
    lasted_ = std::chrono::steady_clock::now() - times_.start;
    hand_on();
    for (auto& one : workers_) {
        if (one->failure()) return base::fail("a session ended with: {}", *one->failure());
    }
    return {};
}

void worker_pool::plan_times() {
    started_ = std::chrono::system_clock::now();
    times_.start = std::chrono::steady_clock::now();
    times_.interval = plan_.interval;
    times_.first_interval =
        plan_.align_minutes ? until_aligned(started_, plan_.interval) : plan_.interval;
    times_.warmup = plan_.warmup;
    times_.duration = plan_.duration;
}

void worker_pool::wait_for_signal() {
    signals_.async_wait([this](const boost::system::error_code& error, int) {
        if (error) return;
        if (ending_) {
            end_now();
        } else {
            end_gently();
        }
        wait_for_signal();
    });
}

void worker_pool::stop(stop_kind how) {
    asio::post(main_, [this, how] {
        if (how == stop_kind::now) {
            end_now();
        } else {
            end_gently();
        }
    });
}

void worker_pool::end_gently() {
    if (ending_) return;
    ending_ = true;
    for (auto& one : workers_) {
        one->stop(stop_kind::gently);
    }
    grace_end_.expires_after(plan_.grace);
    grace_end_.async_wait([this](const boost::system::error_code& error) {
        if (!error) end_now();
    });
}

void worker_pool::end_now() {
    ending_ = true;
    for (auto& one : workers_) {
        one->stop(stop_kind::now);
    }
}

void worker_pool::show_live() {
    live_.expires_after(live_period);
    live_.async_wait([this](const boost::system::error_code& error) {
        if (error) return;
        stats::live_state state;
        state.elapsed = std::chrono::steady_clock::now() - times_.start;
        for (auto& one : workers_) {
            state.messages += one->shown().messages.load(std::memory_order_relaxed);
            state.errors += one->shown().errors.load(std::memory_order_relaxed);
            state.open_connections += one->shown().open_connections.load(std::memory_order_relaxed);
        }
        state.messages_per_second =
            static_cast<double>(state.messages - std::min(state.messages, messages_shown_)) /
            seconds(live_period);
        messages_shown_ = state.messages;
        watcher_->on_live(state);
        show_live();
    });
}

// In a worker's thread.
void worker_pool::take(const worker& from, std::size_t time_slice, const stats::tally& counts,
                       bool last) {
    const std::scoped_lock lock(mutex_);
    collected& into = slices_.try_emplace(time_slice, plan_.phases).first->second;
    into.time_slice.workers.resize(workers_.size());
    into.time_slice.add_worker(from.index(), counts);
    ++into.contributions;
    if (last) {
        // It adds nothing to the time slices that come after.
        ended_after_.push_back(time_slice);
    }
    asio::post(main_, [this] { hand_on(); });
    if (ended_after_.size() == workers_.size()) asio::post(main_, [this] { all_ended(); });
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

// The next time slice, if all workers have deposited theirs.
std::optional<stats::time_slice> worker_pool::take_complete(bool& final) {
    const auto one = slices_.find(next_slice_);
    if (one == slices_.end()) return std::nullopt;
    const auto ended = std::count_if(ended_after_.begin(), ended_after_.end(),
                                     [this](std::size_t last) { return last < next_slice_; });
    collected& got = one->second;
    if (got.contributions + static_cast<std::size_t>(ended) < workers_.size()) return std::nullopt;
    final = ended_after_.size() == workers_.size() && slices_.size() == 1;
    // The end of the last one is known when the threads have ended.
    if (final && lasted_.count() == 0) return std::nullopt;
    std::optional<stats::time_slice> taken(std::move(got.time_slice));
    slices_.erase(one);
    ++next_slice_;
    return taken;
}

void worker_pool::hand_on(stats::time_slice& time_slice, bool final) {
    const nanoseconds start = handed_on_until_;
    const nanoseconds cut = times_.next_cut(start);
    const nanoseconds end = final ? std::max(lasted_, start) : cut;
    handed_on_until_ = end;
    if (final && start.count() > 0 && end - start < whole_enough && time_slice.counts.empty())
        return;
    time_slice.start_s = seconds(start);
    time_slice.end_s = seconds(end);
    time_slice.in_warmup = end <= times_.warmup;
    time_slice.closes_interval = final || times_.ends_interval(cut);
    time_slice.partial = end - interval_start_ < plan_.interval - whole_enough;
    if (time_slice.closes_interval) interval_start_ = end;
    watcher_->on_time_slice(time_slice);
}

// Not by cancelling each timer: one that has just fired would start itself anew. What was posted
// and is left behind by this is a hand_on(), which run() does once more.
void worker_pool::all_ended() {
    main_.stop();
}

}  // namespace postal::load
