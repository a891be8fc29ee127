// SPDX-License-Identifier: GPL-3.0-or-later
#include "sampling/sampler.hpp"
#include "../temporary_file.hpp"
#include "base/units.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

using namespace postal;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

std::unique_ptr<sampling::sampler> sampler_of(const std::vector<std::string>& commands,
                                              std::chrono::nanoseconds every = 100ms) {
    sampling::choice chosen;
    chosen.every = every;
    for (const std::string& one : commands)
        REQUIRE(sampling::add(chosen, *sampling::parse_sample(one)).has_value());
    auto opened = sampling::sampler::open(chosen);
    REQUIRE(opened.has_value());
    return std::move(*opened);
}

bool wait_for(const std::function<bool()>& holds) {
    for (int i = 0; i < 400; ++i) {
        if (holds()) return true;
        std::this_thread::sleep_for(25ms);
    }
    return false;
}

}  // namespace

TEST_CASE("sampler: samples until it is told to end, and once more then") {
    const auto samples = sampler_of({"n=echo 12"});
    const auto start = steady_clock::now();
    samples->begin(start);
    CHECK(wait_for([&] { return !samples->now().empty(); }));
    std::this_thread::sleep_for(250ms);
    const auto before = steady_clock::now();
    const auto all = samples->finish(start);
    REQUIRE(all.size() == 1);
    CHECK(all[0].name == "n");
    CHECK(all[0].source == "n=echo 12");
    CHECK(all[0].every_s == 0.1);
    CHECK(all[0].missed == 0);
    CHECK(all[0].taken == all[0].t_s.size());
    CHECK(all[0].taken >= 2);
    REQUIRE(all[0].series.size() == 1);
    CHECK(all[0].series[0].last() == 12.0);
    CHECK(all[0].t_s.back() >= base::seconds_of(before - start));
}

TEST_CASE("sampler: what waits in all queues, and since when that is known") {
    CHECK_FALSE(sampler_of({"n=echo 12"})->queued());
    namespace fs = std::filesystem;
    const test::temporary_file some("");
    const fs::path folder = fs::path(some.path()).parent_path();
    for (const char* const message :
         {"one/queue/a0/a0b1c2d3", "one/queue/a0/a0b1c2d4", "two/queue/ff/ff000001"})
        fs::create_directories(folder / message);
    sampling::choice chosen;
    chosen.every = 100ms;
    for (const char* const one : {"/one", "/two"})
        REQUIRE(sampling::add(chosen, *sampling::parse_queue("opensmtpd:" + folder.string() + one))
                    .has_value());
    auto opened = sampling::sampler::open(chosen);
    REQUIRE(opened.has_value());
    CHECK_FALSE((*opened)->queued());  // nothing before it begins
    const auto start = steady_clock::now();
    (*opened)->begin(start);
    CHECK(wait_for([&] { return (*opened)->queued().has_value(); }));
    const auto first = (*opened)->queued();
    CHECK(first->messages == 3);
    CHECK(first->counted >= start);
    fs::remove_all(folder / "one/queue/a0");
    CHECK(wait_for([&] { return (*opened)->queued()->messages == 1; }));
    CHECK((*opened)->queued()->counted > first->counted);
}

TEST_CASE("sampler: what fails is missed and told once for each reason") {
    const auto samples = sampler_of({"bad=echo x", "good=echo 1"});
    const auto start = steady_clock::now();
    samples->begin(start);
    std::vector<std::string> told;
    std::size_t good = 0;
    CHECK(wait_for([&] {
        for (auto& one : samples->take_troubles())
            told.push_back(std::move(one));
        good += samples->now().empty() ? 0 : 1;
        return good > 20;
    }));
    const auto all = samples->finish(start);
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0],
               Catch::Contains("--sample-command bad: a sample is missed: it printed \"x\""));
    CHECK(all[0].missed >= 2);
    CHECK(all[0].taken == 0);
    CHECK_THAT(all[0].missed_why, Catch::Contains("\"x\""));
    CHECK(all[1].missed == 0);
    CHECK(all[1].taken >= 2);
}

TEST_CASE("sampler: nothing is sampled before the run begins, and an end before that is one") {
    const auto samples = sampler_of({"n=echo 12"});
    const auto start = steady_clock::now() + 1h;
    samples->begin(start);
    std::this_thread::sleep_for(300ms);
    CHECK(samples->now().empty());
    const auto all = samples->finish(steady_clock::now());
    CHECK(all[0].taken == 1);
    CHECK(all[0].t_s.front() < 10);
}

TEST_CASE("sampler: what cannot be sampled is refused with its option") {
    sampling::choice chosen;
    REQUIRE(sampling::add(chosen, *sampling::parse_sample("n=no-such-program-here")).has_value());
    CHECK_THAT(sampling::sampler::open(chosen).error().message,
               Catch::StartsWith("--sample-command n: there is no program"));
    chosen = {};
    REQUIRE(sampling::add(chosen, *sampling::parse_queue("exim:/no/such/place")).has_value());
    CHECK_THAT(sampling::sampler::open(chosen).error().message,
               Catch::StartsWith("--queue exim: /no/such/place/input: No such file"));
}

TEST_CASE("sampler: without an end it ends at once") {
    const auto began = steady_clock::now();
    {
        const auto samples = sampler_of({"n=echo 12"}, 1h);
        samples->begin(steady_clock::now());
    }
    CHECK(steady_clock::now() - began < 10s);
}
