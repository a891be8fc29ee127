// Before the start, and what is needed again while the run goes on: who is there, and how their clocks
// go.
#include <algorithm>
#include <thread>

#include "cluster/leader.hpp"
#include "cluster/wait.hpp"
#include "os/host.hpp"

namespace postal::cluster {

namespace {

using std::chrono::steady_clock;
using std::chrono::system_clock;

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

}  // namespace

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
    start_told_ = at;
    for (unsigned rank = 1; rank < members_.size(); ++rank) {
        member& one = members_[rank];
        one.told_offset = one.steady.offset(at);
        one.told_bound = one.steady.bound(at);
        tell(rank, start{at + one.told_offset, first_interval});
    }
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

// By how much the instant that a rank was told may have been another: as was known then. What its
// clock says later makes it larger where that shows a step meanwhile, and never smaller: nobody knows
// how the clock went between.
nanoseconds leader::start_bound(const member& of) const {
    const nanoseconds wrong = std::chrono::abs(of.told_offset - of.steady.offset(start_told_));
    return std::max(of.told_bound, wrong + of.steady.bound(start_told_));
}

// What both clocks may do until the next burst, and did since the last, is what their kernels say now; of
// one that says nothing it is taken that nobody slews it.
void leader::end_burst(member& of) {
    const auto ours = os::clock_state();
    const double most =
        most_apart(ours ? ours->most_drift() : base::clock_state::most_frequency, of.most_drift);
    of.drift_limit = std::max(of.drift_limit, most);
    of.steady.end_burst(most);
    of.wall.end_burst(most);
}

// Asks a rank for its clock so often; whether it answered in time. What comes meanwhile is heard.
bool leader::measure(unsigned rank, unsigned answers, nanoseconds patience) {
    for (unsigned left = answers; left > 0; --left) {
        asked_ = rank;
        answered_ = false;
        ++asked_number_;
        // In this order: should something come between, the answer seems to take longer, not less.
        asked_at_ = steady_clock::now();
        asked_wall_ = wall_now();
        tell(rank, ping{asked_number_, left > 1});
        const auto until = asked_at_ + patience;
        while (!answered_ && !members_[rank].lost_s) {
            hear_all();
            const auto now = steady_clock::now();
            if (now > until) break;
            // The other side naps before the first of a burst, and waits for the rest.
            if (left == answers)
                std::this_thread::sleep_for(first_answer_nap);
            else
                std::this_thread::yield();
        }
        if (!answered_) return false;
    }
    end_burst(members_[rank]);
    return true;
}

void leader::on_pong(unsigned rank, const pong& answer) {
    if (answered_ || rank != asked_ || answer.number != asked_number_) return;
    answered_ = true;
    const auto heard = steady_clock::now();
    const nanoseconds asked = asked_at_.time_since_epoch();
    members_[rank].steady.add({asked, answer.steady, heard.time_since_epoch()});
    members_[rank].wall.add({asked_wall_, answer.wall, asked_wall_ + (heard - asked_at_)});
    members_[rank].most_drift = answer.most_drift.value_or(base::clock_state::most_frequency);
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

nanoseconds leader::wall_now() {
    return std::chrono::duration_cast<nanoseconds>(system_clock::now().time_since_epoch());
}

}  // namespace postal::cluster
