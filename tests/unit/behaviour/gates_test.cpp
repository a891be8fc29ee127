// SPDX-License-Identifier: GPL-3.0-or-later
#include "behaviour/gates.hpp"

#include "behaviour/situation.hpp"
#include "rules.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace postal::behaviour;
using namespace std::chrono_literals;

namespace {

// How many tokens were there in `length`, when they were asked for at random moments, `per_second`
// times in each second on average.
int taken(const token_bucket& how, nanoseconds length, double per_second) {
    token_buckets buckets(how);
    postal::base::random_source random(17);
    int count = 0;
    double at = 0;
    const double end = std::chrono::duration<double>(length).count();
    while (at < end) {
        const nanoseconds now{static_cast<std::int64_t>(at * 1e9)};
        if (buckets.take("", now)) ++count;
        at += random.exponential() / per_second;
    }
    return count;
}

}  // namespace

TEST_CASE("token bucket: over 1000 s the rate is right to 0.1 %") {
    struct row {
        double per_second;
        std::uint64_t most;
        std::string_view reason;
    };
    const row rows[] = {
        {10, 10, "a second's worth at once"},
        {7.3, 8, "a rate that has no exact binary number"},
        {1.0 / 3, 5, "less than one a second"},
        {50, 200, "more at once than a second's worth"},
    };
    for (const row& one : rows) {
        CAPTURE(one.per_second, one.most, one.reason);
        const int all = taken({one.per_second, one.most}, 1000s, one.per_second * 10);
        const double wanted = one.per_second * 1000;
        const double got = all - static_cast<double>(one.most);
        CHECK(got == Approx(wanted).margin(wanted * 0.001 + 1));
    }
}

TEST_CASE("token bucket: who keeps to the rate exactly is never refused") {
    token_buckets buckets({10, 1});
    for (int i = 0; i < 100'000; ++i)
        REQUIRE(buckets.take("", i * 100ms));
    // Who asks each millisecond fills the bucket by parts that are no exact binary numbers.
    token_buckets filled_slowly({10, 1});
    int count = 0;
    for (int i = 0; i < 100'000; ++i)
        count += filled_slowly.take("", i * 1ms) ? 1 : 0;
    CHECK(count == 1'000);
}

TEST_CASE("token bucket: begins full, and holds no more than it may") {
    token_buckets buckets({1, 3});
    for (int i = 0; i < 3; ++i)
        CHECK(buckets.take("", 5s));
    CHECK_FALSE(buckets.take("", 5s));
    CHECK_FALSE(buckets.take("", 5s + 999ms));
    CHECK(buckets.take("", 6s));
    for (int i = 0; i < 3; ++i)
        CHECK(buckets.take("", 1h));
    CHECK_FALSE(buckets.take("", 1h));
}

TEST_CASE("token bucket: without a refill it is a limit for ever") {
    token_buckets buckets({0, 2});
    CHECK(buckets.take("", 0s));
    CHECK(buckets.take("", 0s));
    CHECK_FALSE(buckets.take("", 0s));
    CHECK_FALSE(buckets.take("", 10'000h));
    token_buckets none({10, 0});
    CHECK_FALSE(none.take("", 1h));
}

TEST_CASE("token bucket: time that goes backwards gives nothing and takes nothing") {
    token_buckets buckets({1, 1});
    CHECK(buckets.take("", 10s));
    CHECK_FALSE(buckets.take("", 5s));
    CHECK_FALSE(buckets.take("", 10s));
    CHECK_FALSE(buckets.take("", 10s + 500ms));
    CHECK(buckets.take("", 11s));
}

TEST_CASE("token bucket: each key has its own; beyond the most the longest idle is forgotten") {
    token_buckets buckets({0, 1}, 3);
    CHECK(buckets.take("a", 1s));
    CHECK(buckets.take("b", 2s));
    CHECK(buckets.take("c", 3s));
    CHECK_FALSE(buckets.take("a", 4s));
    CHECK(buckets.take("d", 5s));
    CHECK(buckets.size() == 3);
    CHECK_FALSE(buckets.take("a", 6s));
    CHECK_FALSE(buckets.take("c", 6s));
    CHECK(buckets.take("b", 7s));  // begins anew
    CHECK(buckets.size() == 3);
    for (int i = 0; i < 10'000; ++i)
        (void)buckets.take(std::to_string(i), 8s);
    CHECK(buckets.size() == 3);
}

TEST_CASE("token bucket: workers that race get as many tokens as there are") {
    token_buckets buckets({0, 1000});
    std::atomic<int> count = 0;
    {
        std::vector<std::jthread> workers;
        for (int worker = 0; worker < 4; ++worker) {
            workers.emplace_back([&] {
                for (int i = 0; i < 1000; ++i)
                    if (buckets.take("", i * 1us)) ++count;
            });
        }
    }
    CHECK(count == 1000);
}

TEST_CASE("greylist: what becomes of a triplet, by when it comes") {
    const greylist how{5min, 4h, 240h};
    struct visit {
        nanoseconds at;
        grey_verdict wanted;
        std::string_view reason;
    };
    const std::vector<std::vector<visit>> histories = {
        {{0s, grey_verdict::first, "never seen"},
         {1min, grey_verdict::early, "before the wait is over"},
         {5min - 1ns, grey_verdict::early, "just before; an early one does not begin anew"},
         {5min, grey_verdict::passes, "the wait is over"},
         {6min, grey_verdict::passes, "and stays so"},
         {200h, grey_verdict::passes, "idle for less than the lifetime"},
         {400h, grey_verdict::passes, "which runs from the last time"},
         {640h, grey_verdict::first, "idle for the lifetime: forgotten"},
         {640h + 1min, grey_verdict::early, "waits again"}},
        {{1h, grey_verdict::first, "never seen"},
         {5h, grey_verdict::passes, "at the end of the window"}},
        {{1h, grey_verdict::first, "never seen"},
         {5h + 1ns, grey_verdict::late, "behind the window"},
         {5h + 2min, grey_verdict::early, "began anew with the late one"},
         {5h + 6min, grey_verdict::passes, "and came in time"}},
        {{10s, grey_verdict::first, "never seen"},
         {9s, grey_verdict::early, "time that goes backwards stands still"},
         {10s + 5min, grey_verdict::passes, "and the first time stays"}},
    };
    for (const auto& history : histories) {
        greylists lists(how);
        for (const visit& one : history) {
            CAPTURE(one.at, one.reason);
            CHECK(lists.judge("a triplet", one.at) == one.wanted);
        }
    }
}

TEST_CASE("greylist: triplets are told apart, and no more than the most are remembered") {
    greylists lists({1min, 1h, 24h}, 2);
    CHECK(lists.judge("a", 0s) == grey_verdict::first);
    CHECK(lists.judge("b", 1s) == grey_verdict::first);
    CHECK(lists.judge("a", 2s) == grey_verdict::early);
    CHECK(lists.judge("c", 3s) == grey_verdict::first);
    CHECK(lists.size() == 2);
    CHECK(lists.judge("a", 1min) == grey_verdict::passes);
    CHECK(lists.judge("b", 2min) == grey_verdict::first);
    for (int i = 0; i < 10'000; ++i)
        (void)lists.judge(std::to_string(i), 3min);
    CHECK(lists.size() == 2);
}

TEST_CASE("gates: what they are kept by") {
    rules_of_tests::envelope v4("Ann@Example.ORG", "\"Bob\"@Example.com", "198.51.100.7");
    v4.here.helo = "MX.example.org";
    v4.here.session = 12;
    struct row {
        key per;
        std::string_view wanted;
    };
    const row rows[] = {
        {key::all, ""},
        {key::listener, "127.0.0.1:2525"},
        {key::client, "198.51.100.7"},
        {key::helo, "mx.example.org"},
        {key::sender, "ann@example.org"},
        {key::recipient, "bob@example.com"},
        {key::domain, "example.com"},
        {key::session, "12"},
    };
    for (const row& one : rows)
        CHECK(key_text(one.per, v4.here) == one.wanted);
    CHECK(triplet_text(v4.here) == "198.51.100.0\nann@example.org\nbob@example.com");

    const rules_of_tests::envelope v6("<>", "bob@example.com", "2001:db8:1:2:3:4:5:6");
    CHECK(key_text(key::client, v6.here) == "2001:db8:1:2::");
    CHECK(key_text(key::sender, v6.here) == "<>");
    CHECK(triplet_text(v6.here) == "2001:db8:1:2::\n<>\nbob@example.com");

    const situation nothing;
    for (const row& one : rows) {
        if (one.per != key::session) CHECK(key_text(one.per, nothing).empty());
    }
    CHECK(triplet_text(nothing) == "\n\n");
}
