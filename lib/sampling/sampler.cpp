// SPDX-License-Identifier: GPL-3.0-or-later
#include "sampling/sampler.hpp"

#include "base/file_descriptor.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "os/child.hpp"
#include "sampling/command.hpp"
#include "sampling/mail_queue.hpp"
#include "sampling/printed_numbers.hpp"

#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace postal::sampling {

using base::expected;
using stats::sampled_value;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

namespace {

// A count of a queue takes a processor's time from those who send, and from the server.
constexpr int most_share_of_time = 10;

using sample_values = expected<std::vector<sampled_value>>;

// Signals are the main thread's.
void block_signals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

// One that is sampled, with its thread.
class sampler::source {
  public:
    struct plan {
        std::string option;  // "--queue postfix"
        std::string text;
        std::string name;
        std::string description;
        nanoseconds every;
        bool is_queue = false;
        // `hurry` becomes readable at the run's end.
        std::function<sample_values(int hurry)> take;
    };
    explicit source(plan what)
        : plan_(std::move(what)), history_(plan_.text, plan_.name, base::seconds_of(plan_.every)) {}
    ~source() { end(ending::at_once); }

    void begin(steady_clock::time_point when) {
        epoch_ = when;
        thread_ = std::thread([this] { run(); });
    }
    std::vector<sampled_value> now() const {
        const std::lock_guard lock(mutex_);
        return newest_;
    }
    bool is_queue() const noexcept { return plan_.is_queue; }
    // Of its newest sample; nothing before the first.
    std::optional<queue_level> queued() const {
        const std::lock_guard lock(mutex_);
        for (const sampled_value& one : newest_)
            if (one.waiting) return queue_level{one.value, newest_began_};
        return std::nullopt;
    }
    std::vector<std::string> take_troubles() {
        const std::lock_guard lock(mutex_);
        return std::exchange(troubles_, {});
    }
    void ask_to_end() { tell(ending::with_a_sample); }
    stats::sampled_source finish(double start_s) {
        end(ending::with_a_sample);
        return std::move(history_).take(start_s);
    }
    const std::string& description() const noexcept { return plan_.description; }

  private:
    enum class ending : std::uint8_t { none, with_a_sample, at_once };

    void tell(ending how) {
        const std::lock_guard lock(mutex_);
        ending_ = std::max(ending_, how);
        static_cast<void>(::eventfd_write(over_.get(), 1));
        changed_.notify_all();
    }
    void end(ending how) {
        tell(how);
        if (thread_.joinable()) thread_.join();
    }
    // False when it is over before that.
    bool wait_until(steady_clock::time_point when) {
        std::unique_lock lock(mutex_);
        return !changed_.wait_until(lock, when, [this] { return ending_ != ending::none; });
    }
    bool wants_a_last_one() const {
        const std::lock_guard lock(mutex_);
        return ending_ == ending::with_a_sample;
    }
    void run();
    bool sample();
    sample_values take();
    steady_clock::time_point next_after(steady_clock::time_point began) const;

    plan plan_;
    steady_clock::time_point epoch_{};
    nanoseconds took_{0};  // the last sample
    base::file_descriptor over_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::thread thread_;

    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    ending ending_ = ending::none;
    stats::sample_history history_;
    std::vector<sampled_value> newest_;
    steady_clock::time_point newest_began_{};
    std::vector<std::string> troubles_;
};

// The last sample is of what is left at the end; where one has failed, the end is not held up
// again.
void sampler::source::run() {
    block_signals();
    bool known = true;
    steady_clock::time_point next = epoch_;
    while (wait_until(next)) {
        const auto began = steady_clock::now();
        known = sample();
        next = next_after(began);
    }
    if (known && wants_a_last_one()) sample();
}

// On the grid that began with the run.
steady_clock::time_point sampler::source::next_after(steady_clock::time_point began) const {
    const nanoseconds rest = plan_.is_queue ? took_ * most_share_of_time : took_;
    const nanoseconds free = began + rest - epoch_;
    return epoch_ + (free / plan_.every + 1) * plan_.every;
}

sample_values sampler::source::take() {
    try {
        return plan_.take(over_.get());
    } catch (const std::bad_alloc&) {
        return base::fail("there is no memory for it");
    }
}

// Whether it could be taken.
bool sampler::source::sample() {
    const auto began = steady_clock::now();
    auto taken = take();
    took_ = steady_clock::now() - began;
    const double took_s = base::seconds_of(took_);
    try {
        const std::lock_guard lock(mutex_);
        if (taken) {
            const auto added = history_.add(base::seconds_of(began - epoch_), took_s, *taken);
            if (!added) taken = added.error();
        }
        if (taken) {
            newest_ = std::move(*taken);
            newest_began_ = began;
        } else if (history_.miss(took_s, taken.error().message)) {
            troubles_.push_back(
                fmt::format("{}: a sample is missed: {}", plan_.option, taken.error().message));
        }
    } catch (const std::bad_alloc&) {
        return false;
    }
    return taken.has_value();
}

sampler::sampler() = default;
sampler::~sampler() = default;

namespace {

// "postfix", or with its directory where several of the kind are sampled.
std::string name_of(const queue_choice& one, const choice& among) {
    const auto alike = std::count_if(among.queues.begin(), among.queues.end(),
                                     [&](const auto& other) { return other.kind == one.kind; });
    if (alike < 2 || one.directory.empty()) return std::string(one.server());
    return fmt::format("{} {}", one.server(), base::printable(one.directory, 200));
}

std::string every_text(nanoseconds every) {
    return "every " + base::format_duration(every);
}

}  // namespace

std::vector<stats::sampled_name> names_of(const choice& chosen) {
    std::vector<stats::sampled_name> made;
    if (chosen.queues.size() == 1) made.push_back({std::string(stats::only_queue)});
    for (const queue_choice& one : chosen.queues)
        for (std::string& each : mail_queue::figures(one.kind, name_of(one, chosen)))
            made.push_back({std::move(each)});
    for (const command_choice& one : chosen.commands)
        made.push_back({one.name, true});
    return made;
}

expected<std::unique_ptr<sampler>> sampler::open(const choice& chosen) {
    std::unique_ptr<sampler> made(new sampler);
    const auto ready = os::prepare_for_children();
    if (!ready) return ready.error();
    for (const queue_choice& one : chosen.queues) {
        const std::string name = name_of(one, chosen);
        auto queue = mail_queue::open(one, name, longest);
        if (!queue) return base::at("--queue " + std::string(one.server()), queue.error());
        const std::string place = queue->directory();
        made->sources_.push_back(std::make_unique<source>(source::plan{
            .option = "--queue " + std::string(one.server()),
            .text = fmt::format("{}:{}", one.server(), place),
            .name = name,
            .description = fmt::format("the queue of {} in {}, {}", one.server(),
                                       base::printable(place, 200), every_text(chosen.period())),
            .every = chosen.period(),
            .is_queue = true,
            .take = [queue = std::move(*queue)](int) { return queue.count(longest); }}));
    }
    for (const command_choice& one : chosen.commands) {
        auto runs = command::make(one.words);
        if (!runs) return base::at("--sample-command " + one.name, runs.error());
        auto kept = std::make_shared<command>(std::move(*runs));
        made->sources_.push_back(std::make_unique<source>(source::plan{
            .option = "--sample-command " + one.name,
            .text = one.text,
            .name = one.name,
            .description = fmt::format("{}: what {} prints, {}", one.name,
                                       base::printable(base::join(one.words, " "), 200),
                                       every_text(chosen.period())),
            .every = chosen.period(),
            .take = [kept, name = one.name](int hurry) -> sample_values {
                const auto printed = kept->run(longest, hurry);
                if (!printed) return printed.error();
                return read_numbers(*printed, name);
            }}));
    }
    return made;
}

void sampler::begin(steady_clock::time_point when) {
    begun_ = when;
    for (const auto& one : sources_)
        one->begin(when);
}

std::vector<sampled_value> sampler::now() const {
    std::vector<sampled_value> all;
    for (const auto& one : sources_)
        for (sampled_value& each : one->now())
            all.push_back(std::move(each));
    return all;
}

std::optional<queue_level> sampler::queued() const {
    std::optional<queue_level> all;
    for (const auto& one : sources_) {
        if (!one->is_queue()) continue;
        const auto level = one->queued();
        if (!level) return std::nullopt;
        if (!all) all.emplace(queue_level{0, level->counted});
        all->messages += level->messages;
        all->counted = std::min(all->counted, level->counted);
    }
    return all;
}

std::vector<std::string> sampler::take_troubles() {
    std::vector<std::string> all;
    for (const auto& one : sources_)
        for (std::string& each : one->take_troubles())
            all.push_back(std::move(each));
    return all;
}

std::vector<stats::sampled_source> sampler::finish(steady_clock::time_point start) {
    for (const auto& one : sources_)
        one->ask_to_end();
    std::vector<stats::sampled_source> all;
    for (const auto& one : sources_)
        all.push_back(one->finish(base::seconds_of(start - begun_)));
    return all;
}

std::vector<std::string> sampler::describe() const {
    std::vector<std::string> lines;
    for (const auto& one : sources_)
        lines.push_back(one->description());
    return lines;
}

}  // namespace postal::sampling
