// SPDX-License-Identifier: GPL-3.0-or-later
// What rank 0 of a run of many ranks pays for being rank 0: every second each other rank sends what
// it has counted, and rank 0 decodes and merges it, hands one time slice on, and judges thresholds
// in the end.
//
//     cmake --build --preset release --target bench_merging
//     build/release/bin/bench_merging [RANKS [PHASES [SECONDS [ROUND_TRIP_US]]]]      64 8 20 50
//
// The leader is the real one, and time is real; only the way to the others is in memory, so that
// what MPI itself needs is not in the figures. A question about a clock is answered after the round
// trip, the first of a burst when the other rank next looks. The other ranks' words are made by a
// second thread, whose time is not rank 0's. What the naps between two looks cost is shown apart: a
// wake-up is 3 us of a processor or 50, as the machine has it, whatever there is to merge.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <deque>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <unistd.h>

#include "cluster/leader.hpp"
#include "stats/interval_log.hpp"
#include "stats/threshold.hpp"

namespace {

using namespace std::chrono_literals;
using namespace postal;
using namespace postal::cluster;
using std::chrono::steady_clock;

constexpr std::size_t workers_each = 8;
constexpr std::uint64_t messages_each = 2000;  // a rank and second
constexpr int beats_a_second = 2;
constexpr auto poll_period = 5ms;  // as program/ranks.cpp has it

struct setting {
    unsigned ranks = 64;
    unsigned phases = 8;
    unsigned seconds = 20;
    unsigned round_trip_us = 50;
};

nanoseconds thread_time() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + nanoseconds(used.tv_nsec);
}

// Answers for all other ranks, and holds what they send until it is received.
class in_memory final : public transport {
  public:
    in_memory(unsigned ranks, nanoseconds round_trip) : ranks_(ranks), round_trip_(round_trip) {}

    unsigned rank() const noexcept override { return 0; }
    unsigned ranks() const noexcept override { return ranks_; }
    void send(unsigned to, std::string octets) override {
        const auto said = decode(octets, 0);
        if (!said) return;
        if (const auto* question = std::get_if<ping>(&*said)) {
            const nanoseconds now = steady_clock::now().time_since_epoch();
            answer_ = {to, encode(pong{question->number, now, now})};
            answered_at_ = steady_clock::now() + round_trip_;
            if (!hot_) answered_at_ += nanoseconds(napping_(random_));
            hot_ = question->more;
            waits_ = true;
            asked_used_ = thread_time();
            only_waits_ = true;
        }
    }
    std::optional<parcel> receive() override {
        if (waits_ && steady_clock::now() >= answered_at_) {
            waits_ = false;
            if (only_waits_) clocks_used_ += thread_time() - asked_used_;
            return std::move(answer_);
        }
        const std::scoped_lock lock(mutex_);
        if (come_.empty()) return std::nullopt;
        only_waits_ = false;
        parcel one = std::move(come_.front());
        come_.pop_front();
        return one;
    }
    std::size_t unsent() override { return 0; }
    void close(bool) override {}

    // By waiting for answers while nothing else came.
    nanoseconds clocks_used() const noexcept { return clocks_used_; }

    void comes(parcel one) {
        const std::scoped_lock lock(mutex_);
        come_.push_back(std::move(one));
    }

  private:
    const unsigned ranks_;
    const nanoseconds round_trip_;
    parcel answer_;
    steady_clock::time_point answered_at_{};
    bool waits_ = false;
    bool hot_ = false;  // the other rank waits for the next question
    bool only_waits_ = false;
    nanoseconds asked_used_{}, clocks_used_{};
    std::mt19937_64 random_{3};
    std::uniform_int_distribution<nanoseconds::rep> napping_{0, nanoseconds(poll_period).count()};
    std::mutex mutex_;
    std::deque<parcel> come_;
};

double kilobytes_resident() {
    std::ifstream file("/proc/self/statm");
    double all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1024;
}

// What a rank counted in a second: latencies of a long tail, and some errors.
stats::time_slice second_of(unsigned phases, unsigned number, std::mt19937_64& random) {
    stats::time_slice made(phases);
    made.start_s = number;
    made.end_s = number + 1;
    made.workers.resize(workers_each, {800ms, 1s, 1ms});
    made.machine = {8, 1, 0, 0.1};
    stats::tally& counted = made.counts;
    counted.started = counted.messages = counted.recipients = messages_each;
    counted.bytes = messages_each * 5120;
    const auto fill = [&](stats::histogram& into, double median_us, std::uint64_t count) {
        std::lognormal_distribution<double> time(std::log(median_us), 0.6);
        for (; count > 0; --count)
            into.record(nanoseconds(std::llround(time(random) * 1e3)));
    };
    for (unsigned phase = 0; phase < phases; ++phase)
        fill(counted.latency[phase], 200.0 * (phase + 1), messages_each);
    fill(counted.loop_late, 60, 10 * workers_each);
    fill(counted.slip, 30, messages_each / 2);
    for (int kind = 0; kind < 5; ++kind)
        counted.errors.add("rcpt", 450 + kind, "4.2.1", "4.2.1 try again later");
    return made;
}

hello hello_of(unsigned rank) {
    hello made;
    made.host = fmt::format("generator-{}.example.com", rank);
    made.workers = made.processors = made.machine_processors = workers_each;
    made.sessions = 100;
    made.load = "--rate 128000/s\n";
    return made;
}

struct cost_of_words {
    std::uint64_t words = 0, octets = 0;
    nanoseconds cpu{};
};

// The other ranks, while the run goes on: all speak at the same moment.
cost_of_words be_the_others(const setting& wanted, in_memory& way, steady_clock::time_point start) {
    std::mt19937_64 random(1);
    cost_of_words cost;
    std::vector<counted> slices;
    for (unsigned number = 0; number < wanted.seconds; ++number) {
        slices.clear();
        for (unsigned rank = 1; rank < wanted.ranks; ++rank) {
            counted one(wanted.phases);
            one.slice = second_of(wanted.phases, number, random);
            slices.push_back(std::move(one));
        }
        for (int half = 1; half <= beats_a_second; ++half) {
            std::this_thread::sleep_until(start + number * 1s + half * 1s / beats_a_second);
            const auto now = std::chrono::duration_cast<nanoseconds>(steady_clock::now() - start);
            for (unsigned rank = 1; rank < wanted.ranks; ++rank) {
                beat lives;
                lives.live.elapsed = now;
                lives.started = lives.live.messages = (number + 1) * messages_each;
                way.comes({rank, encode(lives)});
            }
        }
        for (unsigned rank = 1; rank < wanted.ranks; ++rank) {
            const auto before = thread_time();
            std::string octets = encode(slices[rank - 1]);
            cost.cpu += thread_time() - before;
            ++cost.words;
            cost.octets += octets.size();
            way.comes({rank, std::move(octets)});
        }
    }
    return cost;
}

stats::run_description description_of(const setting& wanted) {
    stats::run_description run;
    run.program = "postal";
    for (unsigned phase = 0; phase + 1 < wanted.phases; ++phase)
        run.phases.push_back(fmt::format("phase{}", phase));
    run.phases.emplace_back("message");
    run.message_phase = wanted.phases - 1;
    run.interval = 1s;
    run.ranks = wanted.ranks;
    return run;
}

// The report that rank 0 makes of all.
struct merged_report {
    explicit merged_report(const setting& wanted)
        : report(description_of(wanted)), log(nowhere, {}, report.description()) {}
    ~merged_report() { std::fclose(nowhere); }
    merged_report(const merged_report&) = delete;
    merged_report& operator=(const merged_report&) = delete;

    void add(const stats::time_slice& one) {
        ++slices;
        if (const auto closed = report.add_time_slice(one)) (void)log.write(closed->row);
    }
    void judge(const leader& led) {
        const auto thresholds =
            stats::parse_thresholds({"p99(message)<1s", "failed<1%"}, report.description().phases);
        report.set_ranks(led.shares());
        stats::check_thresholds(thresholds.value(), report);
    }

    std::FILE* nowhere = std::fopen("/dev/null", "w");
    stats::run_report report;
    stats::interval_log log;
    unsigned slices = 0;
};

struct cost_of_leading {
    nanoseconds all{};    // with the naps
    nanoseconds polls{};  // of that, between two naps
    nanoseconds longest{};
    double resident = 0, growth = 0;  // KiB
};

cost_of_leading lead(const setting& wanted, leader& led, merged_report& merged,
                     const load::timetable& times) {
    constexpr unsigned warm = 3;
    cost_of_leading cost;
    std::mt19937_64 random(2);
    unsigned number = 0;
    stats::time_slice ours = second_of(wanted.phases, number, random);
    std::this_thread::sleep_until(times.start);
    const nanoseconds begun = thread_time();
    nanoseconds making{};  // which is the workers' part
    for (auto next = times.start; merged.slices < wanted.seconds; next += poll_period) {
        std::this_thread::sleep_until(next);
        const nanoseconds before = thread_time();
        const auto awake = steady_clock::now();
        const bool counted = number < wanted.seconds && awake >= times.start + (number + 1) * 1s;
        if (counted) led.add(ours);
        led.poll();
        cost.longest = std::max(cost.longest, nanoseconds(steady_clock::now() - awake));
        const nanoseconds after = thread_time();
        cost.polls += after - before;
        if (!counted) continue;
        if (++number == warm) cost.growth = -kilobytes_resident();
        ours = second_of(wanted.phases, number, random);
        making += thread_time() - after;
    }
    cost.resident = kilobytes_resident();
    cost.growth += cost.resident;
    const nanoseconds before = thread_time();
    merged.judge(led);
    cost.polls += thread_time() - before;
    cost.all = thread_time() - begun - making;
    return cost;
}

void show(const setting& wanted, const cost_of_leading& cost, nanoseconds clocks,
          const cost_of_words& others) {
    const auto share = [&](nanoseconds of) {
        return 100 * static_cast<double>(of.count()) / (1e9 * wanted.seconds);
    };
    const auto microseconds = [](nanoseconds time) {
        return static_cast<double>(time.count()) / 1e3;
    };
    const auto words = static_cast<double>(others.words);
    std::printf("%u ranks, %u phases, %u s, round trip %u us\n", wanted.ranks, wanted.phases,
                wanted.seconds, wanted.round_trip_us);
    std::printf("merging  %6.2f %% of a core, the longest poll %.1f ms\n",
                share(cost.polls - clocks), microseconds(cost.longest) / 1e3);
    std::printf("clocks   %6.2f %%\n", share(clocks));
    std::printf("naps     %6.2f %%\n", share(cost.all - cost.polls));
    std::printf("memory   %6.0f KiB, %+.0f KiB from the third second to the last\n", cost.resident,
                cost.growth);
    std::printf("a word   %6.0f octets, encoded in %.0f us by its rank\n",
                static_cast<double>(others.octets) / words, microseconds(others.cpu) / words);
}

int measure(const setting& wanted) {
    in_memory way(wanted.ranks, wanted.round_trip_us * 1us);
    leader led(way, {"1.0.0", 1, 1});
    for (unsigned rank = 1; rank < wanted.ranks; ++rank)
        way.comes({rank, encode(hello_of(rank))});
    const auto when = led.assemble(hello_of(0), 1s, std::nullopt);
    if (!when) return std::fprintf(stderr, "%s\n", when.error().message.c_str()), 1;

    load::timetable times;
    times.start = steady_clock::time_point(when->at);
    times.first_interval = times.interval = 1s;
    merged_report merged(wanted);
    led.begin(times, wanted.phases,
              {.on_time_slice = [&](const stats::time_slice& one) { merged.add(one); },
               .on_stop = [](const stop&) {},
               .say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }});
    const nanoseconds clocks_before = way.clocks_used();
    cost_of_words others;
    std::thread rest([&] { others = be_the_others(wanted, way, times.start); });
    const cost_of_leading cost = lead(wanted, led, merged, times);
    rest.join();
    show(wanted, cost, way.clocks_used() - clocks_before, others);

    const std::uint64_t sent = std::uint64_t{wanted.ranks} * wanted.seconds * messages_each;
    const std::uint64_t counted = merged.report.totals().messages;
    if (counted == sent) return 0;
    return std::fprintf(stderr, "%lu messages in place of %lu\n", counted, sent), 1;
}

}  // namespace

int main(int count, char** words) {
    setting wanted;
    unsigned* const numbers[] = {&wanted.ranks, &wanted.phases, &wanted.seconds,
                                 &wanted.round_trip_us};
    for (int i = 1; i < count; ++i) {
        const std::string_view word(words[i]);
        const bool fits =
            i <= static_cast<int>(std::size(numbers)) &&
            std::from_chars(word.data(), word.data() + word.size(), *numbers[i - 1]).ptr ==
                word.data() + word.size();
        if (!fits || wanted.ranks < 2 || wanted.phases == 0 || wanted.seconds < 4)
            return std::fprintf(stderr,
                                "usage: bench_merging [RANKS [PHASES [SECONDS [ROUND_TRIP_US]]]], "
                                "from 2 ranks and 4 seconds on\n"),
                   1;
    }
    return measure(wanted);
}
