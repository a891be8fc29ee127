#include "program/ranks.hpp"

#include <algorithm>
#include <thread>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <unistd.h>
#include <csignal>

#include "base/random.hpp"
#include "base/version.hpp"
#include "cluster/launcher.hpp"
#include "os/host.hpp"

namespace postal::program {

using std::chrono::nanoseconds;

namespace {

using cli::exit_status;
using std::chrono::steady_clock;

// Words are looked for so often: half of it, on average, is how late one is heard.
constexpr auto poll_period = std::chrono::milliseconds(5);
// A launcher that ends a run kills whoever is there a second later.
constexpr auto hasty_grace = std::chrono::milliseconds(400);
// For MPI to end at all ranks.
constexpr auto leave_patience = std::chrono::seconds(10);
// Who has not ended by then is waited for no longer, or there would be no record.
constexpr auto hasty_end = std::chrono::milliseconds(700);

// Options that may differ from rank to rank.
constexpr std::string_view own_options[] = {"config",        "force",      "ledger",
                                            "local-address", "log-format", "progress",
                                            "record",        "threshold",  "workers"};

std::string text_of(const stats::option_value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
    std::string all;
    for (const std::string& one : std::get<std::vector<std::string>>(value))
        all += (all.empty() ? "" : " ") + one;
    return all;
}

// Which rank 0's clock decides.
nanoseconds first_interval_of(const load::worker_pool_plan& plan) {
    const auto start = plan.start_at.value_or(steady_clock::now());
    const auto ahead = std::chrono::duration_cast<std::chrono::system_clock::duration>(
        start - steady_clock::now());
    return timetable_of(plan, start, std::chrono::system_clock::now() + ahead).first_interval;
}

// What must be the same at all ranks, a line each.
std::string load_of(const stats::run_description& run) {
    std::string text = fmt::format("--seed {}\n", run.seed);
    for (const auto& [name, value] : run.options) {
        if (std::find(std::begin(own_options), std::end(own_options), name) !=
            std::end(own_options))
            continue;
        text += fmt::format("--{} {}\n", name, text_of(value));
    }
    return text;
}

// Rank 0 alone has something to say on standard output.
void silence_standard_output() {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    ::dup2(nowhere, STDOUT_FILENO);
    ::close(nowhere);
}

// Everything is written. A rank that dies now would keep those that leave together for ever.
void end_in_time(exit_status status) {
    std::thread([status] {
        std::this_thread::sleep_for(leave_patience);
        ::_exit(static_cast<int>(status));
    }).detach();
}

std::uint64_t machine_processors() {
    const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? static_cast<std::uint64_t>(online) : 1;
}

}  // namespace

ranks::~ranks() {
    close(false, exit_status::system_error);
}

void ranks::close(bool together, exit_status status) {
    if (!way_) return;
    if (together) end_in_time(status);
    way_->close(together);
    leader_.reset();
    follower_.reset();
    way_.reset();
}

base::expected<void> ranks::join() {
    const auto launched = cluster::launched_here();
    if (!launched || launched->ranks < 2) return {};
    auto way = cluster::open_transport();
    if (!way) return way.error();
    way_ = std::move(*way);
    if (way_->ranks() < 2) {
        way_->close(true);
        way_.reset();
        return {};
    }
    const std::string host = os::describe_host().name;
    name_ = fmt::format("rank {} on {}", way_->rank(), host);
    if (way_->rank() == 0) {
        common_ = {std::string(base::build_version), base::fresh_entropy() >> 11U,
                   base::fresh_entropy()};
        leader_ = std::make_unique<cluster::leader>(*way_, common_);
        return {};
    }
    silence_standard_output();
    follower_ = std::make_unique<cluster::follower>(*way_);
    auto heard = follower_->hear_welcome();
    if (!heard) {
        lost_leader_ = said_hello_ = true;  // nobody would hear ours
        return heard.error();
    }
    common_ = std::move(*heard);
    if (common_.version == base::build_version) return {};
    return base::fail("{} is version {}, rank 0 is {}; all ranks need the same", name_,
                      base::build_version, common_.version);
}

run_identity ranks::identity() const {
    if (alone()) return fresh_identity();
    return {.seed = common_.seed, .run = common_.run, .share = {way_->rank(), way_->ranks()}};
}

exit_status ranks::refuse(const base::failure& why, exit_status status) {
    const auto number = static_cast<std::uint64_t>(status);
    if (leader_ && !said_hello_) {
        said_hello_ = true;
        cli::complain(program_, why.message);
        for (const std::string& other : leader_->refuse(why.message, number))
            cli::complain(program_, other);
    } else if (follower_ && !said_hello_) {
        said_hello_ = true;
        cluster::hello mine;
        mine.host = os::describe_host().name;
        mine.refusal = why.message;
        mine.status = number;
        lost_leader_ = !follower_->say_hello(mine);
        if (lost_leader_) cli::complain(program_, name_ + ": " + why.message);
    } else if (!why.message.empty()) {
        cli::complain(program_, leads() ? why.message : name_ + ": " + why.message);
    }
    // The others have begun.
    if (leader_ && agreed_) {
        leader_->tell_stop({.now = true, .why = std::string(to_text(load::run_ending::failure))});
        leader_->release();
    }
    return leave(status);
}

// Together only where nobody is gone: who was lost would be waited for for ever.
exit_status ranks::leave(exit_status status) {
    const bool any_gone =
        leader_ ? any_lost() : lost_leader_ || (follower_ && follower_->any_lost());
    close(!any_gone, status);
    return status;
}

stats::run_description ranks::own(const stats::run_description& whole) const {
    if (alone()) return whole;
    return describe_share(whole, identity().share);
}

stats::run_description ranks::whole(stats::run_description of) const {
    of.ranks = way_->ranks();
    return of;
}

std::string ranks::own_file(const std::string& name) const {
    if (alone() || name.empty()) return name;
    if (name == "-") return {};
    const std::size_t folder = name.rfind('/');
    const std::size_t dot = name.rfind('.');
    const bool has_extension = dot != name.npos && (folder == name.npos || dot > folder + 1);
    const std::size_t at = has_extension ? dot : name.size();
    return fmt::format("{}.rank-{}{}", name.substr(0, at), way_->rank(), name.substr(at));
}

std::optional<ranks::refusal> ranks::agree(const stats::run_description& whole,
                                           std::uint64_t sessions, load::worker_pool_plan& into) {
    if (alone()) return std::nullopt;
    cluster::hello mine;
    mine.host = whole.host.name;
    mine.workers = into.workers;
    mine.sessions = sessions;
    mine.processors = os::usable_cpus();
    mine.machine_processors = std::max<std::uint64_t>(machine_processors(), mine.processors);
    mine.load = load_of(whole);
    said_hello_ = true;
    cluster::start when;
    if (leader_) {
        std::optional<cluster::nanoseconds> start_at;
        if (into.start_at) start_at = into.start_at->time_since_epoch();
        auto agreed = leader_->assemble(mine, first_interval_of(into), start_at);
        if (!agreed) return refusal{agreed.error().message};
        when = *agreed;
    } else {
        auto agreed = follower_->say_hello(mine);
        if (!agreed) {
            lost_leader_ = true;
            return refusal{agreed.error().message, exit_status::system_error};
        }
        if (const auto* not_at_all = std::get_if<cluster::refused>(&*agreed))
            return refusal{{}, static_cast<exit_status>(not_at_all->status)};
        when = std::get<cluster::start>(*agreed);
    }
    into.start_at = load::steady_time(when.at);
    into.first_interval = when.first_interval;
    agreed_ = true;
    return std::nullopt;
}

nanoseconds ranks::since_start() const {
    return steady_clock::now() - pool_->times().start;
}

void ranks::attend(load::worker_pool& pool, const load::worker_pool_plan& plan,
                   run_console* merged) {
    pool_ = &pool;
    merged_ = merged;
    if (alone()) return;
    pool.on_signal([this](int number) { return on_signal(number); });
    pool.every(poll_period, [this] { poll(); });
    if (!leader_)
        return follower_->on_stop([this](const cluster::stop& why) { told_to_stop(why); });
    leader_->begin(timetable_of(plan, *plan.start_at, {}), plan.phases,
                   {.on_time_slice = [this](const auto& slice) { merged_->on_time_slice(slice); },
                    .on_stop = [this](const auto& why) { told_to_stop(why); },
                    .on_first_error = [this](const auto& rank,
                                             const auto& what) { merged_->tell_first(what, rank); },
                    .say = [this](const auto& line) { merged_->say(line); }});
    if (const auto bound = leader_->bound_ranks()) merged_->say(*bound);
}

void ranks::poll() {
    if (!began_ && since_start().count() > 0) {
        if (const auto late = pool_->start_late()) {
            began_ = true;
            leader_ ? leader_->began(*late) : follower_->began(*late);
        }
    }
    if (hurried_at_) {
        const auto since = steady_clock::now() - *hurried_at_;
        if (since >= hasty_grace && !std::exchange(cut_short_, true))
            pool_->stop(load::stop_kind::now, load::run_ending::signal, since_start());
        if (since >= hasty_end && leader_) leader_->hurry();
    }
    if (leader_) return leader_->poll();
    follower_->poll();
    // Without us: we slept, and were lost.
    if (follower_->over() && !std::exchange(stop_told_, true))
        pool_->stop(load::stop_kind::gently, load::run_ending::signal, since_start());
}

// From now on there is little time.
void ranks::hurry() noexcept {
    if (!hurried_at_) hurried_at_ = steady_clock::now();
}

// A signal of ours: the others hear of it. A launcher sends the same one to all, so that the first
// here, behind another rank's word of it, is not the second.
bool ranks::on_signal(int number) {
    const bool ends = pool_->ended_by() != load::run_ending::complete;
    const bool again = std::exchange(signalled_, true);
    const cluster::stop said{.now = again || (ends && !stop_told_),
                             .hasty = number == SIGTERM,
                             .when = since_start(),
                             .why = std::string(to_text(load::run_ending::signal))};
    if (said.hasty) hurry();
    tell_stop(said);
    stop_pool(said);
    return false;
}

void ranks::told_to_stop(const cluster::stop& why) {
    stop_told_ = true;
    if (why.hasty) hurry();
    stop_pool(why);
}

void ranks::tell_stop(const cluster::stop& why) {
    leader_ ? leader_->tell_stop(why) : follower_->tell_stop(why);
}

void ranks::stop_pool(const cluster::stop& why) {
    using load::run_ending;
    const auto how = why.now ? load::stop_kind::now : load::stop_kind::gently;
    pool_->stop(how, load::parse_run_ending(why.why).value_or(run_ending::signal), why.when);
}

void ranks::on_time_slice(const stats::time_slice& slice) {
    leader_ ? leader_->add(slice) : follower_->add(slice);
}

void ranks::on_live(const stats::live_state& state) {
    if (follower_) return follower_->beat(state, state.started);
    if (merged_ != nullptr) merged_->on_live(leader_->live(state));
}

// Rank 0 tells people; one rank's many workers are one.
void ranks::on_first_error(const stats::first_error& what) {
    if (!told_errors_.add(what.what)) return;
    if (follower_) return follower_->tell_first_error(what);
    if (merged_ != nullptr) merged_->tell_first(what, name_);
}

void ranks::end(load::run_ending why) {
    const cluster::stop said{.when = since_start(), .why = std::string(to_text(why))};
    tell_stop(said);
    stop_pool(said);
}

void ranks::on_interrupt(const stats::live_state& now, nanoseconds grace) {
    if (merged_ != nullptr) merged_->on_interrupt(leader_->live(now), grace);
}

void ranks::on_cut_short() {
    if (merged_ != nullptr) merged_->on_cut_short();
}

void ranks::finish(const stats::run_report& own, exit_status status) {
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
    mine.generator = own.generator();
    mine.totals = own.totals().counted();
    mine.totals_with_warmup = own.totals_with_warmup().counted();
    const auto latency = own.latency(own.description().message_phase);
    const auto known = [&](double q) -> std::optional<nanoseconds> {
        if (stats::support_of(q, latency.count()) == stats::support::none) return std::nullopt;
        const stats::percentile found = latency.quantile(q);
        if (!found.reached) return std::nullopt;
        return found.value;
    };
    mine.p50 = known(0.5);
    mine.p99 = known(0.99);
    // Alone it would have been the end of the run, too.
    if (mine.why == to_text(load::run_ending::failure) && !stop_told_)
        tell_stop({.when = mine.lasted, .why = mine.why});
    if (leader_) {
        leader_->end(mine);
        pool_->linger([this] { return leader_->over(); });
        return;
    }
    follower_->end(mine);
    pool_->linger([this] { return follower_->over() || follower_->leader_is_lost(); });
    lost_leader_ = !follower_->over();
}

exit_status ranks::leave_after_all(exit_status status) {
    if (leader_) leader_->release();
    if (lost_leader_) {
        cli::complain(program_, name_ + ": rank 0 is lost; this rank's own record is complete");
        status = exit_status::system_error;
    }
    return leave(status);
}

}  // namespace postal::program
