// SPDX-License-Identifier: GPL-3.0-or-later
#include "cluster/leader.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "cluster/follower.hpp"

using namespace std::chrono_literals;
using namespace postal;
using namespace postal::cluster;
using std::chrono::steady_clock;

namespace {

constexpr std::size_t phases = 2;

// Where the parcels to each rank lie.
struct post {
    explicit post(unsigned ranks) : to(ranks) {}
    std::mutex mutex;
    std::vector<std::deque<parcel>> to;
};

class in_memory : public transport {
  public:
    in_memory(post& all, unsigned rank) : all_(all), rank_(rank) {}
    unsigned rank() const noexcept override { return rank_; }
    unsigned ranks() const noexcept override { return static_cast<unsigned>(all_.to.size()); }
    void send(unsigned to, std::string octets) override {
        const std::scoped_lock lock(all_.mutex);
        all_.to.at(to).push_back({rank_, std::move(octets)});
    }
    std::optional<parcel> receive() override {
        const std::scoped_lock lock(all_.mutex);
        auto& ours = all_.to[rank_];
        if (ours.empty()) return std::nullopt;
        parcel one = std::move(ours.front());
        ours.pop_front();
        return one;
    }
    std::size_t unsent() override { return 0; }
    void close(bool) override {}

  private:
    post& all_;
    unsigned rank_;
};

hello ready(const std::string& load = "rate 5\nworkers 1") {
    hello made;
    made.host = "host";
    made.workers = made.sessions = 1;
    made.load = load;
    return made;
}

// Three ranks: each of the others says what it is told to, in a thread of its own.
struct three {
    post all{3};
    in_memory ways[3] = {{all, 0}, {all, 1}, {all, 2}};
    std::unique_ptr<follower> followers[2];
    std::optional<base::expected<std::variant<start, refused>>> verdicts[2];
    leader led{ways[0], welcome{"1.0.0", 42, 7}};
    std::vector<std::string> said;
    std::vector<stats::time_slice> merged;
    std::vector<stop> stops;

    base::expected<start> assemble(const hello& one, const hello& other) {
        const hello* hellos[] = {&one, &other};
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < 2; ++i) {
            threads.emplace_back([this, i, mine = *hellos[i]] {
                followers[i] = std::make_unique<follower>(ways[i + 1]);
                if (followers[i]->hear_welcome()) verdicts[i] = followers[i]->say_hello(mine);
            });
        }
        auto when = led.assemble(ready(), 10s, std::nullopt);
        for (auto& thread : threads)
            thread.join();
        return when;
    }

    void begin() {
        REQUIRE(assemble(ready(), ready()).has_value());
        load::timetable times;
        times.start = steady_clock::now();
        times.first_interval = times.interval = 10s;
        leader_events events;
        events.on_time_slice = [this](const stats::time_slice& one) { merged.push_back(one); };
        events.on_stop = [this](const stop& one) { stops.push_back(one); };
        events.say = [this](const std::string& line) { said.push_back(line); };
        led.begin(times, phases, std::move(events));
    }
};

stats::time_slice part(double start_s, double end_s, std::uint64_t messages) {
    stats::time_slice made(phases);
    made.start_s = start_s;
    made.end_s = end_s;
    made.workers.resize(1);
    made.counts.started = made.counts.messages = messages;
    return made;
}

ended an_end(std::uint64_t messages) {
    ended made;
    made.lasted = 10s;
    made.why = stats::run_ending::complete;
    made.totals.messages = made.totals_with_warmup.messages = messages;
    return made;
}

}  // namespace

TEST_CASE("all ranks are told one time to begin, each by its own clock") {
    three run;
    const auto before = steady_clock::now().time_since_epoch();
    const auto when = run.assemble(ready(), ready());
    REQUIRE(when.has_value());
    CHECK(when->first_interval == 10s);
    CHECK(when->at > before);
    const auto shares = run.led.shares();
    for (unsigned i = 0; i < 2; ++i) {
        REQUIRE(run.verdicts[i]->has_value());
        const auto* theirs = std::get_if<start>(&**run.verdicts[i]);
        REQUIRE(theirs != nullptr);
        CHECK(theirs->first_interval == 10s);
        // They share our clock, so that the offset is all error.
        const double apart = std::chrono::duration<double>(theirs->at - when->at).count();
        REQUIRE(shares[i + 1].clock_bound_s);
        CHECK(std::abs(apart) <= *shares[i + 1].clock_bound_s + 1e-6);
        // Each may drift by 500 ppm or more, from the measurement to the start.
        CHECK(shares[i + 1].clock_drift_limit.value_or(0) >= 0.001);
        CHECK(shares[i + 1].clock_steps + shares[i + 1].wall_steps == 0);
    }
}

TEST_CASE("a rank that cannot begin is named, and nobody begins") {
    three run;
    hello refusing = ready();
    refusing.refusal = "users: no such file";
    refusing.status = 2;
    const auto when = run.assemble(ready(), refusing);
    REQUIRE_FALSE(when.has_value());
    CHECK(when.error().message == "rank 2 on host: users: no such file");
    for (const auto& verdict : run.verdicts)
        CHECK(std::holds_alternative<refused>(verdict->value()));
}

TEST_CASE("who cannot be understood is told that nobody begins") {
    three run;
    run.ways[1].send(0, encode(ready()));
    run.ways[2].send(0, "\x07garbage");
    const auto when = run.led.assemble(ready(), 10s, std::nullopt);
    REQUIRE_FALSE(when.has_value());
    CHECK(when.error().message.find("rank 2: ") == 0);
    CHECK(run.led.lost() == 1);
    for (unsigned rank : {1, 2}) {
        std::optional<parcel> last;
        while (auto next = run.ways[rank].receive())
            last = std::move(next);
        REQUIRE(last);
        CHECK(std::holds_alternative<refused>(decode(last->octets, phases).value()));
    }
}

TEST_CASE("another load is refused with the first difference") {
    three run;
    const auto when = run.assemble(ready("rate 6\nworkers 1"), ready());
    REQUIRE_FALSE(when.has_value());
    CHECK(when.error().message ==
          "rank 1 on host has rate 6 in place of rate 5 of rank 0; all ranks need the same load");
    for (const auto& verdict : run.verdicts)
        CHECK(std::holds_alternative<refused>(verdict->value()));
}

TEST_CASE("a stop of one rank reaches all, with its reason") {
    three run;
    run.begin();
    std::vector<stop> heard;
    for (auto& one : run.followers)
        one->on_stop([&heard](const stop& what) { heard.push_back(what); });
    run.followers[1]->tell_stop({true, false, 3s, stats::run_ending::signal});
    run.led.poll();
    REQUIRE(run.stops.size() == 1);
    CHECK(run.stops[0].why == stats::run_ending::signal);
    CHECK(run.stops[0].now);
    for (auto& one : run.followers)
        one->poll();
    REQUIRE(heard.size() == 2);
    CHECK(heard[0].when == 3s);
}

TEST_CASE("who is silent is not waited for when there is no time left") {
    three run;
    run.begin();
    run.followers[0]->end(an_end(0));
    run.led.end(an_end(0));
    std::this_thread::sleep_for(leader::hastily_lost_after + 10ms);
    run.led.poll();
    CHECK_FALSE(run.led.over());
    run.led.hurry();
    run.led.poll();
    CHECK(run.led.over());
    CHECK(run.led.lost() == 1);
    REQUIRE(run.said.size() == 1);
    CHECK(run.said[0].find("rank 2 on host is lost: silent for ") == 0);
}

TEST_CASE("a rank that speaks as if it led is lost, the others go on") {
    three run;
    run.begin();
    run.ways[2].send(0, encode(over{}));
    run.led.poll();
    CHECK(run.led.lost() == 1);
    REQUIRE(run.said.size() == 1);
    CHECK(run.said[0] ==
          "rank 2 on host is lost: it speaks as if it led the others; the others go on");
}

TEST_CASE("a rank that sends garbage is lost, the others go on to the end") {
    three run;
    run.begin();
    run.followers[0]->add(part(0, 10, 4));
    run.followers[1]->add(part(0, 10, 8));
    run.led.add(part(0, 10, 2));
    run.led.poll();
    REQUIRE(run.merged.size() == 1);
    CHECK(run.merged[0].counts.messages == 14);

    stats::live_state live;
    live.messages = 8;
    live.open_connections = 5;
    live.sessions[3] = 4;
    live.messages_per_second = 16;
    run.followers[1]->beat(live, 11);
    run.led.poll();
    live.sessions = {0, 0, 0, 3};
    CHECK(run.led.live(live).sessions[3] == 7);
    run.ways[2].send(0, "\x07garbage");
    run.followers[1]->add(part(10, 20, 100));
    run.led.poll();
    CHECK(run.led.lost() == 1);
    REQUIRE(run.said.size() == 1);
    CHECK(run.said[0].find("rank 2 on host is lost: ") == 0);
    CHECK(run.led.live({}).messages == 8);
    CHECK(run.led.live({}).open_connections == 0);
    CHECK(run.led.live({}).sessions[3] == 0);
    CHECK(run.led.live({}).messages_per_second == 0);

    run.followers[0]->add(part(10, 12, 3));
    run.followers[0]->end(an_end(7));
    run.led.add(part(10, 12, 1));
    run.led.poll();
    CHECK_FALSE(run.led.over());
    run.led.end(an_end(3));
    CHECK(run.led.over());

    const auto shares = run.led.shares();
    REQUIRE(shares.size() == 3);
    CHECK(shares[0].messages == std::vector<std::uint64_t>{2, 1});
    CHECK(shares[1].messages == std::vector<std::uint64_t>{4, 3});
    CHECK(shares[2].messages == std::vector<std::uint64_t>{8, 0});
    CHECK(shares[1].totals.messages == 7);
    CHECK(shares[1].ended == stats::run_ending::complete);
    CHECK_FALSE(shares[1].lost_s);
    CHECK(shares[2].lost_s);
    CHECK(shares[2].ended == stats::run_ending::unknown);
    CHECK(shares[2].totals.messages == 8);
    CHECK(shares[2].unaccounted == 3);
    run.led.release();
    run.followers[0]->poll();
    CHECK(run.followers[0]->over());
    CHECK(run.followers[0]->any_lost());
}
