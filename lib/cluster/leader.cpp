// SPDX-License-Identifier: GPL-3.0-or-later
#include "cluster/leader.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/overloaded.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cluster/wait.hpp"

namespace postal::cluster {

namespace {

using std::chrono::steady_clock;

// Before the start a rank's clock is asked so often, and in the run again and again.
constexpr unsigned first_burst = 60;
constexpr unsigned next_burst = 12;
// From telling the ranks to the start itself: more than the slowest way.
constexpr auto lead_time = std::chrono::milliseconds(150);
constexpr auto first_answer_nap = std::chrono::microseconds(500);

// The first line in which two ranks' loads differ, as a refusal has it.
std::string first_difference(std::string_view theirs, std::string_view ours) {
    const auto next_line = [](std::string_view& text) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        return line;
    };
    while (!theirs.empty() || !ours.empty()) {
        const auto one = next_line(theirs), other = next_line(ours);
        if (one != other)
            return fmt::format("{} in place of {}", one.empty() ? "nothing" : one,
                               other.empty() ? "nothing" : other);
    }
    return "nothing";
}

// What people are shown of another rank's texts.
constexpr std::size_t most_name = 64;
constexpr std::size_t most_line = 1000;

}  // namespace

leader::leader(transport& way, const welcome& common) : way_(way), members_(way.ranks()) {
    tell_others(common);
}

// A lost one, too: it may only have slept, and would go on.
void leader::tell_others(const word& what) {
    const std::string octets = encode(what);
    for (unsigned rank = 1; rank < members_.size(); ++rank)
        way_.send(rank, octets);
}

std::string leader::name_of(unsigned rank) const {
    const std::string& host = members_[rank].said.host;
    return host.empty() ? fmt::format("rank {}", rank) : fmt::format("rank {} on {}", rank, host);
}

// ---- before the start ----

base::expected<void> leader::everybody_is_ready(const hello& mine) {
    members_[0].said = mine;
    members_[0].greeted = true;
    const auto all_greeted = [this] {
        hear_all();
        return std::all_of(members_.begin(), members_.end(),
                           [](const member& one) { return one.greeted; });
    };
    wait_for(answers_within, all_greeted);
    if (const auto silent = lose_who_did_not_greet())
        return base::fail("rank {} has said nothing for {} s; is it the same program?", *silent,
                          answers_within.count());
    for (unsigned rank = 1; rank < members_.size(); ++rank) {
        const hello& said = members_[rank].said;
        if (!said.refusal.empty()) return base::fail("{}: {}", name_of(rank), said.refusal);
        if (said.workers > most_workers)
            return base::fail("{} says that it has {} workers", name_of(rank), said.workers);
        if (said.load != mine.load)
            return base::fail("{} has {} of rank 0; all ranks need the same load", name_of(rank),
                              first_difference(said.load, mine.load));
    }
    return {};
}

// The first of them.
std::optional<unsigned> leader::lose_who_did_not_greet() {
    std::optional<unsigned> first;
    for (unsigned rank = 1; rank < members_.size(); ++rank) {
        if (members_[rank].greeted) continue;
        lose(rank, "said nothing");
        if (!first) first = rank;
    }
    return first;
}

base::expected<void> leader::know_clocks() {
    for (unsigned rank = 1; rank < members_.size(); ++rank) {
        if (measure(rank, first_burst, answers_within)) continue;
        lose(rank, "does not answer");
        return base::fail("{} does not answer questions about its clock", name_of(rank));
    }
    return {};
}

base::expected<start> leader::assemble(const hello& mine, nanoseconds first_interval,
                                       std::optional<nanoseconds> start_at) {
    auto ready = everybody_is_ready(mine);
    if (ready) ready = know_clocks();
    if (!ready) {
        tell_last(refused{1});
        return ready.error();
    }
    const nanoseconds now = steady_clock::now().time_since_epoch();
    const nanoseconds at = std::max(now + lead_time, start_at.value_or(nanoseconds(0)));
    for (unsigned rank = 1; rank < members_.size(); ++rank)
        tell(rank, start{members_[rank].clocks.tell_start(at), first_interval});
    way_.unsent();  // moves them along
    return start{at, first_interval};
}

std::vector<std::string> leader::refuse(const std::string& why, std::uint64_t status) {
    wait_for(answers_within, [this] {
        hear_all();
        return std::all_of(members_.begin() + 1, members_.end(),
                           [](const member& one) { return one.greeted; });
    });
    lose_who_did_not_greet();
    tell_last(refused{status});
    std::vector<std::string> others;
    for (unsigned rank = 1; rank < members_.size(); ++rank) {
        const std::string& theirs = members_[rank].said.refusal;
        if (!theirs.empty() && theirs != why) others.push_back(name_of(rank) + ": " + theirs);
    }
    return others;
}

std::optional<std::string> leader::bound_ranks() const {
    const auto bound = [](const member& one) {
        return one.said.processors < one.said.machine_processors;
    };
    const auto first = std::find_if(members_.begin(), members_.end(), bound);
    if (first == members_.end()) return std::nullopt;
    return fmt::format(
        "{} of {} ranks may use some of their machine's processors only (rank {}: {} of {}); "
        "mpirun --bind-to none leaves them all",
        std::count_if(members_.begin(), members_.end(), bound), members_.size(),
        first - members_.begin(), first->said.processors, first->said.machine_processors);
}

// ---- clocks ----

// Asks a rank for its clock so often; whether it answered in time. What comes meanwhile is heard.
bool leader::measure(unsigned rank, unsigned answers, nanoseconds patience) {
    for (unsigned left = answers; left > 0; --left) {
        asked_ = {asked_.number + 1, rank, rank_clocks::now(), false};
        tell(rank, ping{asked_.number, left > 1});
        const auto until = asked_.when.at + patience;
        while (!asked_.answered && !members_[rank].lost_s) {
            hear_all();
            const auto now = steady_clock::now();
            if (now > until) break;
            // The other side naps before the first of a burst, and waits for the rest.
            if (left == answers)
                std::this_thread::sleep_for(first_answer_nap);
            else
                std::this_thread::yield();
        }
        if (!asked_.answered) return false;
    }
    members_[rank].clocks.end_burst();
    return true;
}

void leader::on_pong(unsigned rank, const pong& answer) {
    if (asked_.answered || rank != asked_.rank || answer.number != asked_.number) return;
    asked_.answered = true;
    members_[rank].clocks.add(asked_.when, answer);
}

// One rank after the other, so that no poll takes long; it also shows them that we live.
void leader::measure_next() {
    const auto now = steady_clock::now();
    if (members_.size() < 2 || now < measure_at_) return;
    const auto others = static_cast<nanoseconds::rep>(members_.size() - 1);
    const nanoseconds period =
        std::clamp<nanoseconds>(others * between_bursts, measure_period, longest_measure_period);
    measure_at_ = now + period / others;
    if (measured_next_ >= members_.size()) measured_next_ = 1;
    const unsigned rank = measured_next_++;
    const member& one = members_[rank];
    if (!one.lost_s && !one.done) measure(rank, next_burst, std::chrono::milliseconds(20));
}

// ---- while the run goes on ----

void leader::begin(const load::timetable& times, std::size_t phases, leader_events events) {
    std::vector<std::size_t> workers_of;
    for (member& one : members_) {
        workers_of.push_back(one.said.workers);
        one.heard = steady_clock::now();
    }
    phases_ = phases;
    start_ = times.start;
    merger_.emplace(times, phases, std::move(workers_of));
    events_ = std::move(events);
    measure_at_ = start_ + measure_period;
    running_ = true;
}

void leader::began(nanoseconds late) {
    members_[0].late = late;
}

void leader::poll() {
    members_[0].heard = steady_clock::now();
    hear_all();
    measure_next();
    lose_silent();
    hand_on();
}

void leader::lose_silent() {
    const auto now = steady_clock::now();
    const nanoseconds patience = hurries_ ? nanoseconds(hastily_lost_after) : lost_after;
    for (unsigned rank = 1; rank < members_.size(); ++rank) {
        const member& one = members_[rank];
        // Before the start nobody has much to say.
        const auto heard = hurries_ ? one.heard : std::max(one.heard, start_);
        if (one.done || one.lost_s || now - heard < patience) continue;
        lose(rank, "silent for " + base::format_duration(patience));
    }
}

void leader::lose(unsigned rank, const std::string& why) {
    member& one = members_[rank];
    if (one.lost_s) return;
    one.lost_s = running_ ? std::max(0.0, base::seconds_of(one.heard - start_)) : 0.0;
    if (merger_) merger_->end(rank);
    if (events_.say)
        events_.say(fmt::format("{} is lost: {}; the others go on", name_of(rank), why));
}

void leader::hear_all() {
    while (const auto one = way_.receive())
        hear(*one);
}

void leader::hear(const parcel& one) {
    if (one.from == 0 || one.from >= members_.size()) return;
    member& from = members_[one.from];
    from.heard = steady_clock::now();
    if (from.lost_s) return;
    auto said = decode(one.octets, phases_);
    if (said) return hear(one.from, std::move(*said));
    give_up(one.from, said.error().message);
}

void leader::give_up(unsigned rank, const std::string& why) {
    lose(rank, why);
    if (running_) return;
    members_[rank].greeted = true;
    members_[rank].said.refusal = why;
}

void leader::hear(unsigned rank, word said) {
    member& from = members_[rank];
    std::visit(base::overloaded{
                   [&](const pong& answer) { on_pong(rank, answer); },
                   [&](const hello& greeting) {
                       from.said = greeting;
                       from.said.host = base::printable(greeting.host, most_name);
                       from.said.refusal = base::printable(greeting.refusal, most_line);
                       from.greeted = true;
                   },
                   [&](const cluster::began& it) { from.late = it.late; },
                   [&](counted& part) {
                       if (running_) add(rank, std::move(part.slice));
                   },
                   [&](const beat& lives) {
                       from.shown = lives.live;
                       from.started = lives.started;
                   },
                   [&](const stop& asked) {
                       if (events_.on_stop) events_.on_stop(asked);
                       tell_others(asked);
                   },
                   [&](const trouble& met) {
                       if (events_.on_first_error) events_.on_first_error(name_of(rank), met.what);
                   },
                   [&](const ended& done) {
                       from.done = done;
                       if (merger_) merger_->end(rank);
                   },
                   // What only we say; no version of a follower ever did.
                   [&](const auto&) { give_up(rank, "it speaks as if it led the others"); },
               },
               said);
}

void leader::add(unsigned rank, stats::time_slice slice) {
    const rank_books::entry came(slice);
    if (!merger_->add(rank, std::move(slice))) return;
    members_[rank].books.add(came);
    if (rank == 0) hand_on();
}

void leader::hand_on() {
    while (auto merged = merger_->take()) {
        for (member& one : members_)
            one.books.hand_on(*merged);
        events_.on_time_slice(*merged);
    }
    if (merger_->slowest()) return;
    for (member& one : members_)  // all have ended
        one.books.close();
}

stats::live_state leader::live(const stats::live_state& ours) const {
    stats::live_state all = ours;
    for (unsigned rank = 1; rank < members_.size(); ++rank) {
        const stats::live_state& one = members_[rank].shown;
        all.messages += one.messages;
        all.appended += one.appended;
        all.errors += one.errors;
        if (members_[rank].lost_s) continue;
        all.open_connections += one.open_connections;
        for (std::size_t i = 0; i < all.sessions.size(); ++i)
            all.sessions[i] += one.sessions[i];
        all.messages_per_second += one.messages_per_second;
    }
    return all;
}

// ---- the end ----

void leader::end(const ended& ours) {
    members_[0].done = ours;
    merger_->end(0);
    hand_on();
}

bool leader::over() const {
    return std::all_of(members_.begin(), members_.end(),
                       [](const member& one) { return one.done || one.lost_s; });
}

std::size_t leader::lost() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(members_.begin(), members_.end(),
                      [](const member& one) { return one.lost_s.has_value(); }));
}

ended leader::all_ended() const {
    ended all = members_[0].done.value_or(ended{});
    for (unsigned rank = 1; rank < members_.size(); ++rank) {
        if (!members_[rank].done) continue;
        const ended& one = *members_[rank].done;
        all.lasted = std::max(all.lasted, one.lasted);
        all.cpu_user_s += one.cpu_user_s;
        all.cpu_system_s += one.cpu_system_s;
        all.max_rss_bytes = std::max(all.max_rss_bytes, one.max_rss_bytes);
        if (one.status == 2) all.status = 2;
    }
    return all;
}

std::vector<stats::rank_share> leader::shares() const {
    std::vector<stats::rank_share> made;
    for (unsigned rank = 0; rank < members_.size(); ++rank) {
        const member& one = members_[rank];
        stats::rank_share share;
        share.rank = rank;
        share.host = one.said.host;
        share.workers = one.said.workers;
        share.sessions = one.said.sessions;
        share.processors = one.said.processors;
        share.machine_processors = one.said.machine_processors;
        one.clocks.describe(share);
        if (rank == 0) share.clock_offset_s = share.wall_offset_s = share.clock_bound_s = 0;
        if (one.late) {
            share.start_late_s = base::seconds_of(*one.late);
            share.missed_start =
                *one.late > std::chrono::milliseconds(1) + one.clocks.start_bound();
        }
        one.books.describe(share);
        if (one.done) {
            share.totals = one.done->totals;
            share.totals_with_warmup = one.done->totals_with_warmup;
            if (one.done->p50) share.p50_us = base::seconds_of(*one.done->p50) * 1e6;
            if (one.done->p99) share.p99_us = base::seconds_of(*one.done->p99) * 1e6;
            share.ended = one.done->why;
            share.done_s = base::seconds_of(one.done->lasted);
            share.verdict = one.done->verdict;
            share.reason = one.done->reason;
            share.worker_busy = one.done->worker_busy;
        }
        share.lost_s = one.lost_s;
        if (one.lost_s) share.unaccounted = one.books.unaccounted(one.started);
        made.push_back(std::move(share));
    }
    return made;
}

void leader::release() {
    tell_last(cluster::over{.any_lost = lost() > 0});
}

// Until it has left, but for what a lost rank does not take.
void leader::tell_last(const word& what) {
    tell_others(what);
    wait_for(std::chrono::seconds(2), [this] {
        hear_all();
        return way_.unsent() == 0;
    });
}

}  // namespace postal::cluster
