// SPDX-License-Identifier: GPL-3.0-or-later
// Servers whose truth is known, on a clock of their own, and what a generator would see of them.
#pragma once

#include "base/random.hpp"
#include "stats/capacity/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace simulated {

inline constexpr double never = std::numeric_limits<double>::infinity();

// Messages are taken in order by so many places; each takes the same time. The rest makes it less
// kind.
struct server {
    std::size_t places = 1;
    double service_s = 0.0025;
    bool poisson = false;         // arrivals; otherwise the schedule's even steps
    double changes_at_s = never;  // from then on its capacity is multiplied
    double changes_by = 1;
    double pauses_every_s = 0;   // on the average, a fifth more or less
    bool random_pauses = false;  // or independent of each other
    double pause_s = 0.2;
    double tail_share = 0;           // of messages that take longer, without keeping a place
    double tail_s = 0;               // by an exponential time of this mean
    double error_share = 0;          // of messages that fail at once
    double tokens_a_second = never;  // who finds none fails at once
    double most_tokens = 1;
    double warm_up_s = 0;           // in which it is half as fast
    double generator_most = never;  // loads above it are not generated
    double machine_most = never;    // or fill the machine
    bool keeps_queue = false;       // nothing is waited for between trials
    bool deaf = false;              // nothing is ever finished
    bool relays = false;  // replies at once; what waits for a place is its queue, and counted

    postal::base::random_source random{1};
    double now_s = 0;
    std::vector<double> free_at{};
    double next_pause_s = -1;
    double tokens = never;
    double tokens_at_s = 0;
};

inline bool is_refused(server& of, double due_s) {
    if (of.tokens_a_second == never) return false;
    of.tokens += (due_s - of.tokens_at_s) * of.tokens_a_second;
    of.tokens = std::min(of.tokens, of.most_tokens);
    of.tokens_at_s = due_s;
    if (of.tokens < 1) return true;
    of.tokens -= 1;
    return false;
}

inline double pause_gap(server& of) {
    if (of.random_pauses) return of.pauses_every_s * of.random.exponential();
    return of.pauses_every_s * (0.8 + 0.4 * of.random.uniform());
}

inline double pause_end(server& of, double start_s) {
    if (of.pauses_every_s <= 0) return start_s;
    if (of.next_pause_s < 0) of.next_pause_s = pause_gap(of);
    while (of.next_pause_s + of.pause_s < start_s)
        of.next_pause_s += of.pause_s + pause_gap(of);
    return start_s >= of.next_pause_s ? of.next_pause_s + of.pause_s : start_s;
}

// When a message that is due then is finished.
inline double finish_of(server& of, double due_s) {
    auto place = std::min_element(of.free_at.begin(), of.free_at.end());
    const double start_s = pause_end(of, std::max(due_s, *place));
    double takes_s = of.service_s;
    if (start_s >= of.changes_at_s) takes_s /= of.changes_by;
    if (start_s < of.warm_up_s) takes_s *= 2;
    *place = start_s + takes_s;
    if (of.tail_share > 0 && of.random.uniform() < of.tail_share)
        return *place + of.tail_s * of.random.exponential();
    return *place;
}

// A goal's bound on the response time; an error is lost for all of them.
using bounds_s = std::vector<double>;

inline postal::capacity::trial_output perform(server& of,
                                              const postal::capacity::trial_input& asked,
                                              const bounds_s& goals) {
    using namespace postal::capacity;
    trial_output seen;
    of.free_at.resize(of.places, 0);
    const double start_s = of.now_s + asked.settle_s;
    const double end_s = start_s + asked.duration_s;
    const double cut_s = end_s + asked.drain_s;  // what has not begun then is not started any more
    const double batch_s = asked.duration_s / static_cast<double>(asked.batches);
    seen.duration_s = asked.duration_s;
    seen.began_with_backlog = *std::max_element(of.free_at.begin(), of.free_at.end()) > of.now_s;
    if (asked.load > of.generator_most) seen.validity = trial_validity::generator_limited;
    if (asked.load > of.machine_most) seen.validity = trial_validity::machine_full;
    seen.goals.resize(goals.size());
    seen.batches.resize(asked.batches);
    for (auto& one : seen.batches)
        one.lost.resize(goals.size());
    for (auto& one : seen.batches)
        one.near.resize(goals.size());

    const auto batch_of = [&](double at_s) {
        return std::min(asked.batches - 1, static_cast<std::size_t>((at_s - start_s) / batch_s));
    };
    std::vector<std::int64_t> open(asked.batches +
                                   1);  // begun less finished, by batch; first: before
    double due_s = of.now_s, last_s = of.now_s;
    for (std::uint64_t n = 0;; ++n) {
        due_s = of.poisson ? due_s + of.random.exponential() / asked.load
                           : of.now_s + static_cast<double>(n) / asked.load;
        if (due_s >= end_s) break;
        const bool error =
            is_refused(of, due_s) || (of.error_share > 0 && of.random.uniform() < of.error_share);
        const bool never_begun =
            !error && !of.relays && *std::min_element(of.free_at.begin(), of.free_at.end()) > cut_s;
        const double done_s = error         ? due_s
                              : never_begun ? cut_s
                              : of.deaf     ? due_s + 1000
                                            : finish_of(of, due_s);
        last_s = std::max(last_s, done_s);
        ++open[due_s < start_s ? 0 : batch_of(due_s) + 1];
        if (done_s < end_s) --open[done_s < start_s ? 0 : batch_of(done_s) + 1];
        if (due_s < start_s) continue;
        trial_batch& batch = seen.batches[batch_of(due_s)];
        ++batch.due;
        for (std::size_t i = 0; i < goals.size(); ++i) {
            const double took_s = of.relays ? 0 : done_s - due_s;
            const bool late = took_s > goals[i] + 1e-9;
            goal_losses& sum = seen.goals[i];
            ++(error ? sum.errors : never_begun ? sum.not_started : late ? sum.late : sum.on_time);
            const bool lost = error || late || never_begun;
            batch.lost[i] += lost ? 1 : 0;
            batch.near[i] += !lost && took_s > goals[i] / 2 ? 1 : 0;
        }
    }
    std::int64_t backlog = open[0];
    seen.backlog_start = static_cast<std::uint64_t>(backlog);
    for (std::size_t i = 0; i < asked.batches; ++i) {
        backlog += open[i + 1];
        seen.batches[i].backlog = static_cast<std::uint64_t>(backlog);
    }
    seen.intended = seen.goals[0].due();
    const double rest_s = of.deaf ? asked.patience_s : asked.rest_s;
    const double most_drain_s = of.keeps_queue ? 0.0 : asked.drain_s + rest_s;
    const double drained_s = std::clamp(last_s, end_s, end_s + most_drain_s);
    seen.took_s = drained_s - of.now_s;
    of.now_s = drained_s;
    return seen;
}

// Two programs' servers in one trial: `readers` have so much of the load, and the goals behind
// those of the first.
inline postal::capacity::trial_output perform_together(server& of, server& readers, double share,
                                                       const postal::capacity::trial_input& asked,
                                                       const bounds_s& goals,
                                                       const bounds_s& readers_goals) {
    using namespace postal::capacity;
    trial_input beside = asked;
    beside.load *= share;
    trial_output seen = perform(of, asked, goals);
    trial_output other = perform(readers, beside, readers_goals);
    for (trial_batch& one : seen.batches)
        for (auto* list : {&one.lost, &one.near})
            list->resize(goals.size() + readers_goals.size());
    for (trial_batch& one : other.batches)
        for (auto* list : {&one.lost, &one.near})
            list->insert(list->begin(), goals.size(), 0);
    seen.goals.insert(seen.goals.end(), other.goals.begin(), other.goals.end());
    seen.began_with_backlog = seen.began_with_backlog || other.began_with_backlog;
    seen.took_s = std::max(seen.took_s, other.took_s);
    of.now_s = readers.now_s = std::max(of.now_s, readers.now_s);
    if (seen.validity == trial_validity::valid) seen.validity = other.validity;
    seen.beside.push_back(other);
    return seen;
}

inline postal::capacity::goal p99(double width = 0.02) {
    postal::capacity::goal made;
    made.promise = "p99(message)<1s";
    made.metric = "p99(message)";
    made.width = width;
    return made;
}

inline postal::capacity::search_result run(postal::capacity::search& search, server& of,
                                           const bounds_s& goals) {
    while (search.next())
        search.add(perform(of, *search.next(), goals));
    return search.result();
}

// The share of messages of an M/D/c queue whose response time is above (steps + 1) * D. Exact but
// for rounding: the number in the system at times that are D apart is a Markov chain, n -> max(n -
// c, 0) and a Poisson number of arrivals, and who finds at most c * (steps + 1) - 1 others begins
// within steps * D (Crommelin 1932; Franx 2001).
inline double mdc_late(double load, double service_s, std::size_t c, std::size_t steps) {
    const double mean = load * service_s;  // arrivals in a step
    const std::size_t states = 3 * c * (steps + 1) + 100;
    std::vector<double> arrivals;
    double term = std::exp(-mean);
    for (std::size_t k = 0; arrivals.size() < 4 * c + 40; ++k) {
        arrivals.push_back(term);
        term *= mean / static_cast<double>(k + 1);
    }
    std::vector<double> now(states), next(states);
    now[0] = 1;
    double change = 1;
    while (change > 1e-9) {
        std::fill(next.begin(), next.end(), 0.0);
        for (std::size_t n = 0; n < states; ++n) {
            if (now[n] < 1e-15) continue;
            const std::size_t left = n > c ? n - c : 0;
            for (std::size_t k = 0; k < arrivals.size(); ++k)
                next[std::min(states - 1, left + k)] += now[n] * arrivals[k];
        }
        change = 0;
        for (std::size_t n = 0; n < states; ++n)
            change += std::abs(next[n] - now[n]);
        now.swap(next);
    }
    double within = 0;
    for (std::size_t n = 0; n < c * (steps + 1); ++n)
        within += now[n];
    return 1 - within;
}

// The load at which that share is `late`.
inline double mdc_capacity(double service_s, std::size_t c, std::size_t steps, double late) {
    double low = 0.5 * static_cast<double>(c) / service_s;
    double high = 0.9999 * static_cast<double>(c) / service_s;
    while (high - low > 1e-4 * low) {
        const double middle = (low + high) / 2;
        (mdc_late(middle, service_s, c, steps) > late ? high : low) = middle;
    }
    return low;
}

}  // namespace simulated
