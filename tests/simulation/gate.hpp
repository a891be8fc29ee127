// SPDX-License-Identifier: GPL-3.0-or-later
// Who may begin a message, and when: load::admission under the simulated clock, as load::turnstile
// has it under the real one, for the sessions of one worker.
#pragma once

#include <cstdint>

#include "load/admission.hpp"
#include "postal/plan.hpp"
#include "stats/tally.hpp"
#include "timeline.hpp"

namespace simulation {

class gate final : public actor {
  public:
    struct waiter : postal::load::admission::place {
        actor* who = nullptr;
    };

    gate(timeline& time, postal::sender::plan& of, postal::stats::tally& counts)
        : time_(time),
          counts_(counts),
          rules_(of.load.tickets, timeline::start(), of.load.pacing()) {}

    postal::load::ticket try_pass(std::uint64_t wanted) {
        return rules_.try_pass(time_.now(), wanted);
    }
    // `who` acts when it is let through, or nobody will be any more: it is in no queue then.
    void wait(waiter& who) {
        who.got = {};
        rules_.wait(who);
        arm();
    }
    void use(std::uint64_t messages) {
        rules_.use(messages);
        if (rules_.has_schedule()) counts_.due += messages;
        serve();
    }
    void give_back(const postal::load::ticket& unused) {
        if (!rules_.give_back(unused)) {
            for (std::size_t i = 0; i < unused.each.size(); ++i)
                counts_.unserved.record(time_.now() - unused.each[i]);
            never_begun(unused.each.size());
        }
        serve();
    }
    [[nodiscard]] bool over() const noexcept { return rules_.over(); }
    // Of an open loop what is due by now is begun, and nothing else.
    void finish_due() {
        rules_.finish_due(time_.now());
        serve();
    }
    void stop() {
        never_begun(rules_.stop(time_.now(), counts_.unserved));
        serve();
    }

    void act() override { serve(); }

  private:
    void serve() {
        while (postal::load::admission::place* const next = rules_.let_through(time_.now()))
            time_.wake(*static_cast<waiter*>(next)->who);
        arm();
    }
    void arm() {
        const steady_time at = rules_.look_at(time_.now());
        if (at != steady_time::max()) time_.wake(*this, at);
    }
    void never_begun(std::uint64_t messages) noexcept {
        counts_.not_started += messages;
        counts_.due += messages;
    }

    timeline& time_;
    postal::stats::tally& counts_;
    postal::load::admission rules_;
};

}  // namespace simulation
