// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/leading_rank.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "base/version.hpp"
#include "cluster/leader.hpp"
#include "program/one_of_many.hpp"

namespace postal::program {
namespace {

using cli::exit_status;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Who has not ended by then is waited for no longer, or there would be no record.
constexpr auto hasty_end = std::chrono::milliseconds(700);

// Which rank 0's clock decides.
nanoseconds first_interval_of(const load::worker_pool_plan& plan) {
    const auto start = plan.start_at.value_or(steady_clock::now());
    const auto ahead = std::chrono::duration_cast<std::chrono::system_clock::duration>(
        start - steady_clock::now());
    return timetable_of(plan, start, std::chrono::system_clock::now() + ahead).first_interval;
}

class leading_rank final : public one_of_many {
  public:
    leading_rank(std::string_view program, std::unique_ptr<cluster::transport> way)
        : one_of_many(program, std::move(way)),
          leader_(*link_, common_ = {std::string(base::build_version), base::fresh_entropy() >> 11U,
                                     base::fresh_entropy()}) {}
    ~leading_rank() override { link_.close(false, exit_status::system_error); }

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
            leader_.tell_stop({.now = true, .why = load::run_ending::failure});
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

}  // namespace

std::unique_ptr<ranks> lead(std::string_view program, std::unique_ptr<cluster::transport> others) {
    return std::make_unique<leading_rank>(program, std::move(others));
}

}  // namespace postal::program
