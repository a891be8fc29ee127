// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/following_rank.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <unistd.h>

#include "base/version.hpp"
#include "cluster/follower.hpp"
#include "os/host.hpp"
#include "program/one_of_many.hpp"

namespace postal::program {
namespace {

using cli::exit_status;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Rank 0 alone has something to say on standard output.
void silence_standard_output() {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    ::dup2(nowhere, STDOUT_FILENO);
    ::close(nowhere);
}

class following_rank final : public one_of_many {
  public:
    following_rank(std::string_view program, std::unique_ptr<cluster::transport> way)
        : one_of_many(program, std::move(way)), follower_(*link_) {
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
    ~following_rank() override { link_.close(false, exit_status::system_error); }

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

std::unique_ptr<ranks> follow(std::string_view program,
                              std::unique_ptr<cluster::transport> others) {
    return std::make_unique<following_rank>(program, std::move(others));
}

}  // namespace postal::program
