// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/ranks.hpp"

#include <utility>

#include "cluster/launcher.hpp"
#include "cluster/transport.hpp"
#include "program/following_rank.hpp"
#include "program/leading_rank.hpp"

namespace postal::program {
namespace {

using cli::exit_status;
using std::chrono::nanoseconds;

// A program that runs alone.
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
    if ((*way)->rank() == 0) return lead(program, std::move(*way));
    return follow(program, std::move(*way));
}

}  // namespace postal::program
