// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "judgements.hpp"
#include "postal/phases.hpp"
#include "timeline.hpp"

namespace simulation {

namespace {

void compare(std::string_view phase, const postal::stats::histogram& measured,
             std::vector<std::int64_t> truth, verdict& found) {
    if (measured.count() != truth.size())
        return found.wrong("{}: {} times were measured, of {}", phase, measured.count(),
                           truth.size());
    if (truth.empty()) return;
    constexpr std::int64_t most_below_all_buckets = 520;  // ns: histogram.hpp
    std::sort(truth.begin(), truth.end());
    if (measured.min().count() != truth.front() || measured.max().count() != truth.back()) {
        return found.wrong("{}: from {} to {} ns, and not from {} to {}", phase,
                           measured.min().count(), measured.max().count(), truth.front(),
                           truth.back());
    }
    for (const unsigned percent : {50U, 90U, 99U}) {
        const std::size_t rank = (percent * truth.size() + 99) / 100;
        const std::int64_t right = truth[rank - 1];
        const std::int64_t is = measured.quantile(percent / 100.0).count();
        if (std::abs(is - right) > right / 128 + most_below_all_buckets)
            found.wrong("{}: p{} is {} ns, and not {}", phase, percent, is, right);
    }
}

double sum_us(const postal::stats::histogram& of) {
    return of.mean_us() * static_cast<double>(of.count());
}

// What waited, added up, is from when the schedule wanted each message to when it ended, whichever
// of them took whose place.
void judge_waits(const evidence& what, const rows_by_message& rows, verdict& found) {
    const bool known = what.of.open_loop && !what.of.poisson && what.senders.not_started == 0;
    if (!known) return;
    double ended_us = 0;
    double messages = 0;
    for (const auto& [number, of_message] : rows) {
        double last_us = 0;
        for (const postal::ledger::sent_row* row : of_message) {
            const auto when_us = static_cast<double>(row->time_us - wall_us(timeline::start()));
            last_us = what.of.lmtp ? last_us + when_us : std::max(last_us, when_us);
        }
        ended_us += last_us;
        messages += what.of.lmtp ? static_cast<double>(of_message.size()) : 1;
    }
    const double due_us = messages * (messages - 1) / 2 / what.of.rate * 1e6;
    const double waited_us =
        sum_us(what.senders.latency[static_cast<std::size_t>(postal::sender::phase::message)]) +
        sum_us(what.senders.unserved);
    // The rows have whole microseconds.
    const double most_off = 2 * messages + 1e-6 * (ended_us + due_us);
    if (std::abs(ended_us - due_us - waited_us) > most_off)
        found.wrong("all waited for {:.3f} s, and not {:.3f}", waited_us / 1e6,
                    (ended_us - due_us) / 1e6);
}

}  // namespace

void judge_times(const evidence& what, const rows_by_message& rows,
                 const std::vector<std::int64_t>& service_ns, verdict& found) {
    judge_waits(what, rows, found);
    const bool lies = std::any_of(what.connections.begin(), what.connections.end(),
                                  [](const auto& one) { return one.lies; });
    if (lies) return;
    using postal::sender::phase;
    const auto& measured = what.senders.latency;
    const auto& service = measured[static_cast<std::size_t>(phase::service)];
    compare("service", service, service_ns, found);
    // Parts of it.
    for (const phase part : {phase::envelope, phase::data}) {
        if (measured[static_cast<std::size_t>(part)].max() > service.max())
            found.wrong("a part of a message took longer than the whole");
    }
    // In a closed loop a message is due when it begins.
    if (!what.of.open_loop)
        compare("message", measured[static_cast<std::size_t>(phase::message)], service_ns, found);
}

}  // namespace simulation
