// What bhm's sessions of one worker share beside a server's room: the plan and spare checkers.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "bhm/plan.hpp"
#include "mail/message_checker.hpp"
#include "serve/room.hpp"

namespace postal::bhm {

struct room : serve::room {
    room(const plan& run, serve::reception& front, load::worker& worker)
        : serve::room(run.rules, front, worker), of_run(run) {}

    // Checkers are lent from the beginning of a message to its end, so that an idle session holds
    // none.
    std::unique_ptr<mail::message_checker> lend_checker() {
        if (spare_.empty()) return std::make_unique<mail::message_checker>();
        auto one = std::move(spare_.back());
        spare_.pop_back();
        return one;
    }
    void take_back(std::unique_ptr<mail::message_checker> one) {
        one->reset();
        spare_.push_back(std::move(one));
    }

    const plan& of_run;

  private:
    std::vector<std::unique_ptr<mail::message_checker>> spare_;
};

}  // namespace postal::bhm
