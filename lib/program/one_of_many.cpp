// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/one_of_many.hpp"

#include <algorithm>
#include <cstdint>

#include <unistd.h>
#include <csignal>

namespace postal::program {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Words are looked for so often: half of it, on average, is how late one is heard.
constexpr auto poll_period = std::chrono::milliseconds(5);

std::uint64_t machine_processors() {
    const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? static_cast<std::uint64_t>(online) : 1;
}

}  // namespace

std::optional<ranks::refusal> one_of_many::agree(const stats::run_description& whole,
                                                 std::uint64_t sessions,
                                                 load::worker_pool_plan& into) {
    cluster::hello mine = introduction(whole.host.name);
    mine.workers = into.workers;
    mine.sessions = sessions;
    mine.processors = os::usable_cpus();
    mine.machine_processors = std::max<std::uint64_t>(machine_processors(), mine.processors);
    mine.load = load_of(whole);
    said_hello_ = true;
    cluster::start when;
    if (auto refused = hear_start(mine, into, when)) return refused;
    into.start_at = load::steady_time(when.at);
    into.first_interval = when.first_interval;
    return std::nullopt;
}

load::run_watcher& one_of_many::attend(load::worker_pool& pool, const load::worker_pool_plan& plan,
                                       run_console* merged, load::run_watcher& own) {
    pool_ = &pool;
    own_ = &own;
    pool.on_signal([this](int number) { return on_signal(number); });
    pool.every(poll_period, [this] { poll(); });
    begin(plan, merged);
    return *this;
}

nanoseconds one_of_many::since_start() const {
    return steady_clock::now() - pool_->times().start;
}

void one_of_many::poll() {
    if (!began_ && since_start().count() > 0) {
        if (const auto late = pool_->start_late()) {
            began_ = true;
            began(*late);
        }
    }
    const auto now = steady_clock::now();
    if (haste_.cuts_short(now))
        pool_->stop(load::stop_kind::now, load::run_ending::signal, since_start());
    if (const auto since = haste_.since(now)) hurried(*since);
    poll_others();
}

// A signal of ours: the others hear of it. A launcher sends the same one to all, so that the first
// here, behind another rank's word of it, is not the second.
bool one_of_many::on_signal(int number) {
    const bool ends = pool_->ended_by() != load::run_ending::complete;
    const bool again = std::exchange(signalled_, true);
    const cluster::stop said{.now = again || (ends && !stop_told_),
                             .hasty = number == SIGTERM,
                             .when = since_start(),
                             .why = load::run_ending::signal};
    if (said.hasty) haste_.begin(steady_clock::now());
    tell_stop(said);
    stop_pool(said);
    return false;
}

void one_of_many::stop_pool(const cluster::stop& why) {
    using load::run_ending;
    const auto how = why.now ? load::stop_kind::now : load::stop_kind::gently;
    pool_->stop(how, why.why == run_ending::unknown ? run_ending::signal : why.why, why.when);
}

void one_of_many::end(load::run_ending why) {
    const cluster::stop said{.when = since_start(), .why = why};
    tell_stop(said);
    stop_pool(said);
}

std::optional<ranks::outcome> one_of_many::finish(const stats::run_report& own,
                                                  cli::exit_status status) {
    const stats::run_end& end = own.end();
    const auto to_nanoseconds = [](double seconds) {
        return std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(seconds));
    };
    cluster::ended mine;
    mine.lasted = to_nanoseconds(end.duration_s);
    mine.why = end.why;
    mine.cpu_user_s = end.cpu_user_s;
    mine.cpu_system_s = end.cpu_system_s;
    mine.max_rss_bytes = end.max_rss_bytes;
    mine.status = static_cast<std::uint64_t>(status);
    const stats::generator_summary judged = own.generator();
    mine.verdict = judged.verdict;
    mine.reason = judged.reason;
    mine.worker_busy = judged.worker_busy;
    mine.totals = own.totals().counted();
    mine.totals_with_warmup = own.totals_with_warmup().counted();
    const auto latency = stats::figures_of(own.latency(own.description().message_phase));
    mine.p50 = latency.p50;
    mine.p99 = latency.p99;
    // Alone it would have been the end of the run, too.
    if (mine.why == load::run_ending::failure && !stop_told_)
        tell_stop({.when = mine.lasted, .why = mine.why});
    return tell_end(mine);
}

}  // namespace postal::program
