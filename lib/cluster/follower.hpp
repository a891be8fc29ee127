// SPDX-License-Identifier: GPL-3.0-or-later
// The part of every rank but 0 in a run of many: it does what rank 0 says, and tells what it
// counts.
//
// Flow, in the main thread:
//   follower mine(way);
//   mine.hear_welcome()           blocks; what is one for the whole run
//   mine.say_hello(hello)         blocks; when to begin, or the status with which nobody does
//   while the run goes on: poll() every few milliseconds; began(), add(), beat(), tell_stop()
//   mine.end(ended)               when our own record is written
//   poll() until it is over(), or leader_is_lost()
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

#include "base/result.hpp"
#include "cluster/transport.hpp"
#include "cluster/words.hpp"

namespace postal::cluster {

class follower {
  public:
    static constexpr auto answers_within = std::chrono::seconds(120);
    static constexpr auto leader_lost_after = std::chrono::seconds(30);

    explicit follower(transport& way) : way_(way) {}

    base::expected<welcome> hear_welcome();
    // Either when to begin, or that nobody does. A hello that refuses is answered so, too.
    base::expected<std::variant<start, refused>> say_hello(const hello& mine);

    void on_stop(std::function<void(const stop&)> told) { told_ = std::move(told); }
    void on_trial(std::function<void(const load::trial&)> told) { trial_told_ = std::move(told); }
    void began(nanoseconds late) { tell(cluster::began{late}); }
    void add(const stats::time_slice& ours);
    void beat(const stats::live_state& ours, std::uint64_t started) {
        tell(cluster::beat{ours, started});
    }
    void tell_stop(const stop& why) { tell(why); }
    void tell_first_error(const stats::first_error& what) { tell(trouble{what}); }
    void poll();

    void end(const ended& ours) { tell(ours); }
    bool over() const noexcept { return over_.has_value(); }
    // Whether rank 0 said so when it was over.
    bool any_lost() const noexcept { return over_ && over_->any_lost; }
    // It has said nothing for so long, and will not any more.
    bool leader_is_lost() const;

  private:
    void tell(const word& what) { way_.send(0, encode(what)); }
    // What rank 0 has said since, but for questions about the clock, which are answered at once.
    std::optional<word> hear();
    void answer(const ping& question);

    transport& way_;
    std::function<void(const stop&)> told_;
    std::function<void(const load::trial&)> trial_told_;
    std::chrono::steady_clock::time_point heard_ = std::chrono::steady_clock::now();
    std::optional<cluster::over> over_;
};

}  // namespace postal::cluster
