// SPDX-License-Identifier: GPL-3.0-or-later
// Rank 0's part in a run of many: it welcomes the others, measures their clocks, says when to
// start, merges what all have counted, hears who has gone silent, and says when it is over.
//
// Flow, in the main thread:
//   leader led(way, welcome);
//   led.assemble(hello)                 blocks; when to begin, or why nobody does
//   led.begin(times, phases, events)
//   while the run goes on: led.poll() every few milliseconds, led.add() for our own time slices,
//   led.stop() when a signal came here
//   led.end(ended); then led.poll() until led.over()
//   led.shares(); led.release()
//
// A rank that says nothing for lost_after is lost: what it had sent counts, what comes of it later
// does not. Nothing here throws at what another rank sends: what cannot be read is said, and the
// rank is lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cluster/merger.hpp"
#include "cluster/rank_books.hpp"
#include "cluster/rank_clocks.hpp"
#include "cluster/transport.hpp"
#include "cluster/words.hpp"
#include "load/worker.hpp"
#include "stats/rank_share.hpp"

namespace postal::cluster {

struct leader_events {
    std::function<void(const stats::time_slice&)> on_time_slice;  // of all ranks together, in order
    std::function<void(const stop&)> on_stop;                     // a rank has heard a signal
    // Of a rank, "rank 3 on HOST".
    std::function<void(const std::string&, const stats::first_error&)> on_first_error;
    std::function<void(const std::string&)> say;  // one line for people
};

class leader {
  public:
    static constexpr auto lost_after = std::chrono::seconds(10);
    // The same when a launcher is about to end us; more than from one beat to the next.
    static constexpr auto hastily_lost_after = std::chrono::milliseconds(600);
    static constexpr auto answers_within = std::chrono::seconds(60);  // hellos
    // So often each of the other ranks' clocks is measured. Of many ranks not more than five in a
    // second, but each before it takes us for lost.
    static constexpr auto measure_period = std::chrono::seconds(2);
    static constexpr auto longest_measure_period = std::chrono::seconds(15);
    static constexpr auto between_bursts = std::chrono::milliseconds(200);

    // Tells the others what is one for the whole run.
    leader(transport& way, const welcome& common);

    // Blocks until everybody is ready, their clocks are known and they have been told when to
    // begin; gives the same for this rank. Fails with one line when a rank cannot begin, has
    // another load, or says nothing; the others were told then.
    base::expected<start> assemble(const hello& mine, std::chrono::nanoseconds first_interval,
                                   std::optional<nanoseconds> start_at);
    // Of the ranks that are bound to fewer processors than their machines have, for people.
    std::optional<std::string> bound_ranks() const;

    // This rank cannot begin; tells the others. What they say of their own troubles is given, as
    // far as it differs.
    std::vector<std::string> refuse(const std::string& why, std::uint64_t status);

    void begin(const load::timetable& times, std::size_t phases, leader_events events);
    void began(nanoseconds late);
    void add(stats::time_slice ours) { add(0, std::move(ours)); }
    void poll();
    void tell_stop(const stop& why) { tell_others(why); }
    void tell_trial(const load::trial& next) { tell_others(next_trial{next}); }
    void end(const ended& ours);
    bool over() const;
    // From now on nobody is waited for who has been silent for hastily_lost_after.
    void hurry() noexcept { hurries_ = true; }
    // With what the others showed last.
    stats::live_state live(const stats::live_state& ours) const;

    // What became of the whole run, once it is over.
    std::vector<stats::rank_share> shares() const;
    std::size_t lost() const noexcept;
    // What the ranks ended with: the worst status, the longest time, the sum of processors' time.
    ended all_ended() const;

    // It is over; tells those who are there.
    void release();

  private:
    struct member {
        hello said{};
        bool greeted = false;
        rank_clocks clocks{};
        std::chrono::steady_clock::time_point heard{};
        std::optional<nanoseconds> late{};
        stats::live_state shown{};
        std::uint64_t started = 0;  // as its last beat said
        rank_books books{};
        std::optional<ended> done{};
        std::optional<double> lost_s{};
    };

    void add(unsigned rank, stats::time_slice slice);
    void hand_on();
    void lose(unsigned rank, const std::string& why);
    void lose_silent();
    void hear_all();
    void hear(const parcel& one);
    void hear(unsigned rank, word said);
    // Of a rank that cannot be understood: lost, and before the start a reason why nobody begins.
    void give_up(unsigned rank, const std::string& why);
    void on_pong(unsigned rank, const pong& answer);
    bool measure(unsigned rank, unsigned answers, nanoseconds patience);
    void measure_next();
    base::expected<void> everybody_is_ready(const hello& mine);
    std::optional<unsigned> lose_who_did_not_greet();
    base::expected<void> know_clocks();
    void tell(unsigned rank, const word& what) { way_.send(rank, encode(what)); }
    void tell_others(const word& what);
    void tell_last(const word& what);
    std::string name_of(unsigned rank) const;

    transport& way_;
    std::vector<member> members_;
    std::size_t phases_ = 0;
    std::chrono::steady_clock::time_point start_{};
    std::optional<slice_merger> merger_;
    leader_events events_;
    bool running_ = false;
    bool hurries_ = false;
    // The question that waits for its answer.
    struct {
        std::uint64_t number = 0;
        unsigned rank = 0;
        rank_clocks::moment when{};
        bool answered = true;
    } asked_;
    unsigned measured_next_ = 1;
    std::chrono::steady_clock::time_point measure_at_{};
};

}  // namespace postal::cluster
