// What the sessions of one worker share: buffers, checkers, and the plan.
//
// One thread's own; nothing in it is locked but the reception behind it. The buffers hold what
// belongs to the session that runs at the moment and are empty whenever one suspends, so that ten
// thousand idle sessions need no more of them than one.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "bhm/plan.hpp"
#include "bhm/reception.hpp"
#include "load/worker.hpp"
#include "mail/message_checker.hpp"
#include "net/connection.hpp"

namespace postal::bhm {

struct room {
    static constexpr std::size_t input_size = 64 * 1024;

    room(const plan& run, reception& front, load::worker& worker)
        : of_run(run), entry(front), own(worker) {}

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
    reception& entry;
    load::worker& own;
    std::array<char, input_size> input{};
    std::string output;
    net::gather gather;
    std::vector<load::steady_time> answered;  // when the messages answered in `output` were begun

  private:
    std::vector<std::unique_ptr<mail::message_checker>> spare_;
};

}  // namespace postal::bhm
