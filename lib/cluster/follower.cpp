// SPDX-License-Identifier: GPL-3.0-or-later
#include "cluster/follower.hpp"

#include <thread>
#include <utility>

#include "cluster/rank_clocks.hpp"
#include "cluster/wait.hpp"
#include "os/host.hpp"

namespace postal::cluster {

namespace {

using std::chrono::steady_clock;

// How long the next question of a burst is waited for without a nap.
constexpr auto burst_patience = std::chrono::milliseconds(2);

}  // namespace

void follower::answer(const ping& question) {
    const auto read = rank_clocks::now();
    pong answer{question.number, read.at.time_since_epoch(), read.wall, {}};
    if (!question.more)
        if (const auto kernel = os::clock_state()) answer.most_drift = kernel->most_drift();
    tell(answer);
}

std::optional<word> follower::hear() {
    auto hot_until = steady_clock::time_point::min();
    for (;;) {
        const auto got = way_.receive();
        const auto now = steady_clock::now();
        if (!got) {
            if (now >= hot_until) return std::nullopt;
            std::this_thread::yield();
            continue;
        }
        heard_ = now;
        auto said = decode(got->octets, 0);
        if (!said) continue;  // of another version, which its welcome has said
        const auto* question = std::get_if<ping>(&*said);
        if (question == nullptr) return std::move(*said);
        answer(*question);
        hot_until = question->more ? now + burst_patience : steady_clock::time_point::min();
    }
}

base::expected<welcome> follower::hear_welcome() {
    std::optional<word> said;
    const bool heard = wait_for(answers_within, [&] {
        said = hear();
        return said && std::holds_alternative<welcome>(*said);
    });
    if (!heard)
        return base::fail("rank 0 has said nothing for {} s; are all ranks the same program?",
                          answers_within.count());
    return std::get<welcome>(*said);
}

base::expected<std::variant<start, refused>> follower::say_hello(const hello& mine) {
    tell(mine);
    std::variant<start, refused> verdict;
    const bool heard = wait_for(answers_within, [&] {
        const auto said = hear();
        if (!said) return false;
        if (const auto* when = std::get_if<start>(&*said)) return verdict = *when, true;
        if (const auto* not_at_all = std::get_if<refused>(&*said))
            return verdict = *not_at_all, true;
        return false;
    });
    if (!heard)
        return base::fail("rank 0 does not say when to begin: lost after {} s",
                          answers_within.count());
    return verdict;
}

void follower::add(const stats::time_slice& ours) {
    counted said(0);
    said.slice = ours;
    tell(said);
}

void follower::poll() {
    while (const auto said = hear()) {
        if (const auto* asked = std::get_if<stop>(&*said); asked != nullptr && told_) told_(*asked);
        if (const auto* next = std::get_if<next_trial>(&*said); next != nullptr && trial_told_)
            trial_told_(next->what);
        if (const auto* all = std::get_if<cluster::over>(&*said)) over_ = *all;
    }
}

bool follower::leader_is_lost() const {
    return steady_clock::now() - heard_ > leader_lost_after;
}

}  // namespace postal::cluster
