// SPDX-License-Identifier: GPL-3.0-or-later
#include "shrink.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "scenario_text.hpp"

namespace simulation {

namespace {

using step = std::function<void(scenario&)>;

// As it is by default.
template <class Value>
step plain(Value scenario::*which) {
    return [which](scenario& one) { one.*which = scenario().*which; };
}

template <class Number>
step halve(Number scenario::*which) {
    return [which](scenario& one) {
        if (one.*which > 1) one.*which = (one.*which + 1) / 2;
    };
}

template <class Number>
step less(Number scenario::*which) {
    return [which](scenario& one) {
        if (one.*which > 1) --(one.*which);
    };
}

const std::vector<step>& options() {
    static const std::vector<step> all{plain(&scenario::stop_now),
                                       plain(&scenario::stop_gently),
                                       plain(&scenario::servers_stop),
                                       halve(&scenario::sessions),
                                       less(&scenario::sessions),
                                       halve(&scenario::messages),
                                       less(&scenario::messages),
                                       plain(&scenario::open_loop),
                                       plain(&scenario::rate),
                                       plain(&scenario::chops),
                                       plain(&scenario::jitter),
                                       plain(&scenario::room),
                                       plain(&scenario::latency),
                                       plain(&scenario::kind_of_messages),
                                       plain(&scenario::in_flight),
                                       less(&scenario::in_flight),
                                       plain(&scenario::chunking),
                                       plain(&scenario::pipelining),
                                       plain(&scenario::offers_chunking),
                                       plain(&scenario::offers_pipelining),
                                       plain(&scenario::offers_8bit),
                                       plain(&scenario::poisson),
                                       plain(&scenario::agents),
                                       plain(&scenario::tight_limits),
                                       plain(&scenario::lmtp),
                                       plain(&scenario::least_recipients),
                                       less(&scenario::most_recipients),
                                       plain(&scenario::messages_a_connection),
                                       plain(&scenario::client_timeout),
                                       plain(&scenario::server_timeout),
                                       plain(&scenario::message_time),
                                       plain(&scenario::min_data_rate),
                                       plain(&scenario::max_recipients)};
    return all;
}

bool makes_sense(const scenario& one) {
    return one.most_recipients >= one.least_recipients && (one.rate > 0 || !one.open_loop) &&
           (one.rate > 0 || !one.poisson) && (one.lmtp || !one.agents);
}

class shrinking {
  public:
    shrinking(scenario failing, const std::function<bool(const scenario&)>& fails)
        : best_(std::move(failing)), fails_(fails) {}

    scenario all() {
        do {
            changed_ = false;
            take_away(&scenario::losses);
            take_away(&scenario::refusals);
            take_away(&scenario::lies);
            take_away(&scenario::harms);
            take_away(&scenario::agent_faults);
            take_away(&scenario::visits);
            for (const step& one : options()) {
                scenario smaller = best_;
                one(smaller);
                try_it(std::move(smaller));
            }
        } while (changed_);
        return best_;
    }

  private:
    template <class Fault>
    void take_away(std::vector<Fault> scenario::*which) {
        for (std::size_t i = 0; i < (best_.*which).size();) {
            scenario smaller = best_;
            auto& faults = smaller.*which;
            faults.erase(faults.begin() + static_cast<std::ptrdiff_t>(i));
            if (!try_it(std::move(smaller))) ++i;
        }
    }

    // What is as it was tells nothing.
    bool try_it(scenario&& smaller) {
        if (!makes_sense(smaller) || text(smaller) == text(best_) || !fails_(smaller)) return false;
        best_ = std::move(smaller);
        return changed_ = true;
    }

    scenario best_;
    const std::function<bool(const scenario&)>& fails_;
    bool changed_ = false;
};

}  // namespace

scenario shrink(scenario failing, const std::function<bool(const scenario&)>& fails) {
    return shrinking(std::move(failing), fails).all();
}

}  // namespace simulation
