// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/ranks.hpp"

#include <algorithm>
#include <thread>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <unistd.h>
#include <csignal>

#include "base/random.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "cluster/follower.hpp"
#include "cluster/launcher.hpp"
#include "cluster/leader.hpp"
#include "cluster/transport.hpp"
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

// ---- alone ----

class solo final : public ranks {
  public:
    explicit solo(std::string_view program, const base::expected<void>& joined = {})
        : program_(program) {
        joined_ = joined;
    }

    bool alone() const noexcept override { return true; }
    bool leads() const noexcept override { return true; }
    run_identity identity() const override { return fresh_identity(); }
    std::string name() const override { return {}; }
    exit_status refuse(const base::failure& why, exit_status status) override {
        return cli::refuse(program_, why, status);
    }
    exit_status leave(exit_status status) override { return status; }
    stats::run_description own(const stats::run_description& whole) const override { return whole; }
    std::string own_file(const std::string& file) const override { return file; }
    std::optional<refusal> agree(const stats::run_description&, std::uint64_t,
                                 load::worker_pool_plan&) override {
        return std::nullopt;
    }
    load::run_watcher& attend(load::worker_pool& pool, const load::worker_pool_plan&, run_console*,
                              load::run_watcher& own) override {
        pool_ = &pool;
        return own;
    }
    void begin_trial(const load::trial& next) override { pool_->begin_trial(next); }
    void end(load::run_ending why) override {
        pool_->stop(load::stop_kind::gently, why, nanoseconds::max());
    }
    std::optional<outcome> finish(const stats::run_report&, exit_status) override {
        return std::nullopt;
    }
    exit_status leave_after_all(exit_status status) override { return status; }

  private:
    const std::string program_;
    load::worker_pool* pool_ = nullptr;
};

// ---- one of many ----

// What every rank does; and between its own reports and those of all.
class one_of_many : public ranks, protected load::run_watcher {
  public:
    one_of_many(std::string_view program, std::unique_ptr<cluster::transport> way)
        : program_(program),
          way_(std::move(way)),
          name_(fmt::format("rank {} on {}", way_->rank(), os::describe_host().name)) {}

    bool alone() const noexcept final { return false; }
    run_identity identity() const final {
        return {.seed = common_.seed, .run = common_.run, .share = {way_->rank(), way_->ranks()}};
    }
    std::string name() const final { return name_; }
    exit_status leave(exit_status status) final {
        close(!any_gone(), status);
        return status;
    }
    stats::run_description own(const stats::run_description& whole) const final {
        return describe_share(whole, identity().share);
    }
    std::string own_file(const std::string& file) const final;
    std::optional<refusal> agree(const stats::run_description& whole, std::uint64_t sessions,
                                 load::worker_pool_plan& into) final;
    load::run_watcher& attend(load::worker_pool& pool, const load::worker_pool_plan& plan,
                              run_console* merged, load::run_watcher& own) final;
    void begin_trial(const load::trial& next) final {
        tell_trial(next);
        pool_->begin_trial(next);
    }
    void end(load::run_ending why) final;
    std::optional<outcome> finish(const stats::run_report& own, exit_status status) final;

  protected:
    // ---- what a leader and a follower do each in their way ----

    virtual bool any_gone() const = 0;
    // Says that we are ready; when to begin, or why not.
    virtual std::optional<refusal> hear_start(const cluster::hello& mine,
                                              const load::worker_pool_plan& plan,
                                              cluster::start& when) = 0;
    virtual void begin(const load::worker_pool_plan& plan, run_console* merged) = 0;
    virtual void began(nanoseconds late) = 0;
    virtual void poll_others() = 0;
    virtual void tell_stop(const cluster::stop& why) = 0;
    virtual void tell_trial(const load::trial& next) = 0;
    virtual void count(const stats::time_slice& slice) = 0;
    virtual void show(const stats::live_state& state) = 0;
    virtual void tell_first(const stats::first_error& what) = 0;
    // Blocks until all have ended.
    virtual std::optional<outcome> tell_end(const cluster::ended& mine) = 0;
    // There is little time, and `since` that long.
    virtual void hurried(nanoseconds) {}

    void told_to_stop(const cluster::stop& why) {
        stop_told_ = true;
        if (why.hasty) hurry();
        stop_pool(why);
    }
    void close(bool together, exit_status status) {
        if (std::exchange(left_, true)) return;
        if (together) end_in_time(status);
        way_->close(together);
    }
    cluster::hello introduction(const std::string& host) const {
        cluster::hello mine;
        mine.host = host;
        return mine;
    }

    void on_time_slice(const stats::time_slice& slice) final {
        own_->on_time_slice(slice);
        count(slice);
    }
    void on_live(const stats::live_state& state) final {
        own_->on_live(state);
        show(state);
    }
    void on_gave_up() final { own_->on_gave_up(); }
    // Rank 0 tells people; one rank's many workers are one.
    void on_first_error(const stats::first_error& what) final {
        if (told_errors_.add(what.what)) tell_first(what);
    }

    const std::string program_;
    const std::unique_ptr<cluster::transport> way_;
    const std::string name_;
    cluster::welcome common_;
    load::worker_pool* pool_ = nullptr;
    load::run_watcher* own_ = nullptr;
    bool said_hello_ = false;
    bool stop_told_ = false;  // by another rank

  private:
    void poll();
    bool on_signal(int number);
    void stop_pool(const cluster::stop& why);
    // From now on there is little time.
    void hurry() noexcept {
        if (!hurried_at_) hurried_at_ = steady_clock::now();
    }
    nanoseconds since_start() const { return steady_clock::now() - pool_->times().start; }

    bool left_ = false;
    bool began_ = false;
    bool signalled_ = false;
    std::optional<load::steady_time> hurried_at_;
    bool cut_short_ = false;  // what was in flight
    stats::first_errors told_errors_;
};

std::string one_of_many::own_file(const std::string& file) const {
    if (file.empty()) return file;
    if (file == "-") return {};
    const std::size_t folder = file.rfind('/');
    const std::size_t dot = file.rfind('.');
    const bool has_extension = dot != file.npos && (folder == file.npos || dot > folder + 1);
    const std::size_t at = has_extension ? dot : file.size();
    return fmt::format("{}.rank-{}{}", file.substr(0, at), way_->rank(), file.substr(at));
}

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

void one_of_many::poll() {
    if (!began_ && since_start().count() > 0) {
        if (const auto late = pool_->start_late()) {
            began_ = true;
            began(*late);
        }
    }
    if (hurried_at_) {
        const auto since = steady_clock::now() - *hurried_at_;
        if (since >= hasty_grace && !std::exchange(cut_short_, true))
            pool_->stop(load::stop_kind::now, load::run_ending::signal, since_start());
        hurried(since);
    }
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
                             .why = std::string(to_text(load::run_ending::signal))};
    if (said.hasty) hurry();
    tell_stop(said);
    stop_pool(said);
    return false;
}

void one_of_many::stop_pool(const cluster::stop& why) {
    using load::run_ending;
    const auto how = why.now ? load::stop_kind::now : load::stop_kind::gently;
    pool_->stop(how, load::parse_run_ending(why.why).value_or(run_ending::signal), why.when);
}

void one_of_many::end(load::run_ending why) {
    const cluster::stop said{.when = since_start(), .why = std::string(to_text(why))};
    tell_stop(said);
    stop_pool(said);
}

std::optional<ranks::outcome> one_of_many::finish(const stats::run_report& own,
                                                  exit_status status) {
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
    mine.verdict = to_text(judged.verdict);
    mine.reason = judged.reason;
    mine.worker_busy = judged.worker_busy;
    mine.totals = own.totals().counted();
    mine.totals_with_warmup = own.totals_with_warmup().counted();
    const auto latency = stats::figures_of(own.latency(own.description().message_phase));
    mine.p50 = latency.p50;
    mine.p99 = latency.p99;
    // Alone it would have been the end of the run, too.
    if (mine.why == to_text(load::run_ending::failure) && !stop_told_)
        tell_stop({.when = mine.lasted, .why = mine.why});
    return tell_end(mine);
}

// ---- rank 0 ----

class leading final : public one_of_many {
  public:
    leading(std::string_view program, std::unique_ptr<cluster::transport> way)
        : one_of_many(program, std::move(way)),
          leader_(*way_, common_ = {std::string(base::build_version), base::fresh_entropy() >> 11U,
                                    base::fresh_entropy()}) {}
    ~leading() override { close(false, exit_status::system_error); }

    bool leads() const noexcept override { return true; }
    exit_status refuse(const base::failure& why, exit_status status) override {
        if (!why.message.empty()) cli::complain(program_, why.message);
        if (!std::exchange(said_hello_, true)) {
            for (const std::string& other :
                 leader_.refuse(why.message, static_cast<std::uint64_t>(status)))
                cli::complain(program_, other);
        }
        // The others have begun.
        if (agreed_) {
            leader_.tell_stop(
                {.now = true, .why = std::string(to_text(load::run_ending::failure))});
            leader_.release();
        }
        return leave(status);
    }
    exit_status leave_after_all(exit_status status) override {
        leader_.release();
        return leave(status);
    }

  private:
    bool any_gone() const override { return leader_.lost() > 0; }
    std::optional<refusal> hear_start(const cluster::hello& mine,
                                      const load::worker_pool_plan& plan,
                                      cluster::start& when) override {
        std::optional<cluster::nanoseconds> start_at;
        if (plan.start_at) start_at = plan.start_at->time_since_epoch();
        const auto agreed = leader_.assemble(mine, first_interval_of(plan), start_at);
        if (!agreed) return refusal{agreed.error().message};
        when = *agreed;
        agreed_ = true;
        return std::nullopt;
    }
    void begin(const load::worker_pool_plan& plan, run_console* merged) override {
        merged_ = merged;
        leader_.begin(
            timetable_of(plan, *plan.start_at, {}), plan.phases,
            {.on_time_slice = [this](const auto& slice) { merged_->on_time_slice(slice); },
             .on_stop = [this](const auto& why) { told_to_stop(why); },
             .on_first_error = [this](const auto& rank,
                                      const auto& what) { merged_->tell_first(what, rank); },
             .say = [this](const auto& line) { merged_->say(line); }});
        if (const auto bound = leader_.bound_ranks()) merged_->say(*bound);
    }
    void began(nanoseconds late) override { leader_.began(late); }
    void poll_others() override { leader_.poll(); }
    void hurried(nanoseconds since) override {
        if (since >= hasty_end) leader_.hurry();
    }
    void tell_stop(const cluster::stop& why) override { leader_.tell_stop(why); }
    void tell_trial(const load::trial& next) override { leader_.tell_trial(next); }
    void count(const stats::time_slice& slice) override { leader_.add(slice); }
    void show(const stats::live_state& state) override { merged_->on_live(leader_.live(state)); }
    void tell_first(const stats::first_error& what) override { merged_->tell_first(what, name_); }
    void on_interrupt(const stats::live_state& now, nanoseconds grace) override {
        merged_->on_interrupt(leader_.live(now), grace);
    }
    void on_cut_short() override { merged_->on_cut_short(); }
    std::optional<outcome> tell_end(const cluster::ended& mine) override {
        leader_.end(mine);
        pool_->linger([this] { return leader_.over(); });
        return outcome{leader_.all_ended(), leader_.shares(), any_gone()};
    }

    cluster::leader leader_;
    run_console* merged_ = nullptr;
    bool agreed_ = false;
};

// ---- any other ----

class following final : public one_of_many {
  public:
    following(std::string_view program, std::unique_ptr<cluster::transport> way)
        : one_of_many(program, std::move(way)), follower_(*way_) {
        silence_standard_output();
        auto heard = follower_.hear_welcome();
        if (!heard) {
            lost_leader_ = said_hello_ = true;  // nobody would hear ours
            joined_ = heard.error();
            return;
        }
        common_ = std::move(*heard);
        if (common_.version == base::build_version) return;
        joined_ = base::fail("{} is version {}, rank 0 is {}; all ranks need the same", name_,
                             base::build_version, common_.version);
    }
    ~following() override { close(false, exit_status::system_error); }

    bool leads() const noexcept override { return false; }
    exit_status refuse(const base::failure& why, exit_status status) override {
        bool told = why.message.empty();
        if (!std::exchange(said_hello_, true)) {
            cluster::hello mine = introduction(os::describe_host().name);
            mine.refusal = why.message;
            mine.status = static_cast<std::uint64_t>(status);
            told = follower_.say_hello(mine).has_value();
            lost_leader_ = !told;
        }
        if (!told) cli::complain(program_, name_ + ": " + why.message);
        return leave(status);
    }
    exit_status leave_after_all(exit_status status) override {
        if (!lost_leader_) return leave(status);
        cli::complain(program_, name_ + ": rank 0 is lost; this rank's own record is complete");
        return leave(exit_status::system_error);
    }

  private:
    bool any_gone() const override { return lost_leader_ || follower_.any_lost(); }
    std::optional<refusal> hear_start(const cluster::hello& mine, const load::worker_pool_plan&,
                                      cluster::start& when) override {
        const auto agreed = follower_.say_hello(mine);
        if (!agreed) {
            lost_leader_ = true;
            return refusal{agreed.error().message, exit_status::system_error};
        }
        if (const auto* not_at_all = std::get_if<cluster::refused>(&*agreed))
            return refusal{{}, static_cast<exit_status>(not_at_all->status)};
        when = std::get<cluster::start>(*agreed);
        return std::nullopt;
    }
    void begin(const load::worker_pool_plan&, run_console*) override {
        follower_.on_stop([this](const cluster::stop& why) { told_to_stop(why); });
        follower_.on_trial([this](const load::trial& next) { pool_->begin_trial(next); });
    }
    void began(nanoseconds late) override { follower_.began(late); }
    // Without us, where it is over: we slept, and were lost.
    void poll_others() override {
        follower_.poll();
        if (follower_.over() && !std::exchange(stop_told_, true))
            pool_->stop(load::stop_kind::gently, load::run_ending::signal,
                        steady_clock::now() - pool_->times().start);
    }
    void tell_stop(const cluster::stop& why) override { follower_.tell_stop(why); }
    void tell_trial(const load::trial&) override {}  // it is told
    void count(const stats::time_slice& slice) override { follower_.add(slice); }
    void show(const stats::live_state& state) override { follower_.beat(state, state.started); }
    void tell_first(const stats::first_error& what) override { follower_.tell_first_error(what); }
    void on_interrupt(const stats::live_state&, nanoseconds) override {}
    void on_cut_short() override {}
    std::optional<outcome> tell_end(const cluster::ended& mine) override {
        follower_.end(mine);
        pool_->linger([this] { return follower_.over() || follower_.leader_is_lost(); });
        lost_leader_ = !follower_.over();
        return std::nullopt;
    }

    cluster::follower follower_;
    bool lost_leader_ = false;
};

}  // namespace

std::unique_ptr<ranks> ranks::join(std::string_view program) {
    const auto launched = cluster::launched_here();
    if (!launched || launched->ranks < 2) return std::make_unique<solo>(program);
    auto way = cluster::open_transport();
    if (!way) return std::make_unique<solo>(program, way.error());
    if ((*way)->ranks() < 2) {
        (*way)->close(true);
        return std::make_unique<solo>(program);
    }
    if ((*way)->rank() == 0) return std::make_unique<leading>(program, std::move(*way));
    return std::make_unique<following>(program, std::move(*way));
}

}  // namespace postal::program
