#include "load/fleet.hpp"

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

fleet::fleet(fleet_plan plan)
    : plan_(plan),
      main_(1),
      signals_(main_, SIGINT, SIGTERM),
      duration_end_(main_),
      grace_end_(main_),
      live_(main_) {
    const auto deposit = [this](worker& from, std::size_t piece, const stats::tally& counts,
                                bool last) { take(from, piece, counts, last); };
    for (unsigned index = 0; index < plan_.workers; ++index) {
        const worker::settings settings{index, plan_.workers, plan_.phases, plan_.serves};
        workers_.push_back(std::make_unique<worker>(settings, deposit));
    }
}

fleet::~fleet() {
    for (auto& one : workers_) {
        one->stop(stop_kind::now);
    }
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

base::expected<void> fleet::run(const std::function<void(worker&)>& begin, run_watcher& watcher) {
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

void fleet::plan_times() {
    started_ = std::chrono::system_clock::now();
    times_.start = std::chrono::steady_clock::now();
    times_.interval = plan_.interval;
    times_.first_interval =
        plan_.align_minutes ? until_aligned(started_, plan_.interval) : plan_.interval;
    times_.warmup = plan_.warmup;
    times_.duration = plan_.duration;
}

void fleet::wait_for_signal() {
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

void fleet::stop(stop_kind how) {
    asio::post(main_, [this, how] {
        if (how == stop_kind::now) {
            end_now();
        } else {
            end_gently();
        }
    });
}

void fleet::end_gently() {
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

void fleet::end_now() {
    ending_ = true;
    for (auto& one : workers_) {
        one->stop(stop_kind::now);
    }
}

void fleet::show_live() {
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
void fleet::take(const worker& from, std::size_t piece, const stats::tally& counts, bool last) {
    const std::scoped_lock lock(mutex_);
    collected& into = pieces_.try_emplace(piece, plan_.phases).first->second;
    into.piece.workers.resize(workers_.size());
    into.piece.add_worker(from.index(), counts);
    ++into.contributions;
    if (last) {
        // It adds nothing to the pieces that come after.
        ended_after_.push_back(piece);
    }
    asio::post(main_, [this] { hand_on(); });
    if (ended_after_.size() == workers_.size()) asio::post(main_, [this] { all_ended(); });
}

// Hands every complete piece to the watcher, in order; in the main thread. Not under the lock: a
// watcher that waits, for whoever reads the log, must not stop the workers.
void fleet::hand_on() {
    for (;;) {
        std::optional<stats::piece> piece;
        bool final = false;
        {
            const std::scoped_lock lock(mutex_);
            piece = take_complete(final);
        }
        if (!piece) return;
        hand_on(*piece, final);
    }
}

// The next piece, if all workers have deposited theirs.
std::optional<stats::piece> fleet::take_complete(bool& final) {
    const auto one = pieces_.find(next_piece_);
    if (one == pieces_.end()) return std::nullopt;
    const auto ended = std::count_if(ended_after_.begin(), ended_after_.end(),
                                     [this](std::size_t last) { return last < next_piece_; });
    collected& got = one->second;
    if (got.contributions + static_cast<std::size_t>(ended) < workers_.size()) return std::nullopt;
    final = ended_after_.size() == workers_.size() && pieces_.size() == 1;
    // The end of the last one is known when the threads have ended.
    if (final && lasted_.count() == 0) return std::nullopt;
    std::optional<stats::piece> taken(std::move(got.piece));
    pieces_.erase(one);
    ++next_piece_;
    return taken;
}

void fleet::hand_on(stats::piece& piece, bool final) {
    const nanoseconds start = handed_on_until_;
    const nanoseconds cut = times_.next_cut(start);
    const nanoseconds end = final ? std::max(lasted_, start) : cut;
    handed_on_until_ = end;
    if (final && start.count() > 0 && end - start < whole_enough && piece.counts.empty()) return;
    piece.start_s = seconds(start);
    piece.end_s = seconds(end);
    piece.in_warmup = end <= times_.warmup;
    piece.closes_interval = final || times_.ends_interval(cut);
    piece.partial = end - interval_start_ < plan_.interval - whole_enough;
    if (piece.closes_interval) interval_start_ = end;
    watcher_->on_piece(piece);
}

// Not by cancelling each timer: one that has just fired would start itself anew. What was posted
// and is left behind by this is a hand_on(), which run() does once more.
void fleet::all_ended() {
    main_.stop();
}

}  // namespace postal::load
