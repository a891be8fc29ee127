// SPDX-License-Identifier: GPL-3.0-or-later
// The stock of a run under several threads at once.
#include "load/run_tickets.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

using namespace postal;
using namespace std::chrono_literals;
using load::run_tickets;
using load::steady_time;

namespace {

// Runs `work(share, index)` in so many threads and waits for all.
void in_threads(run_tickets& stock, std::size_t count,
                const std::function<void(run_tickets::share&, std::size_t)>& work) {
    std::deque<run_tickets::share> shares;
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < count; ++index)
        shares.emplace_back(stock);
    for (std::size_t index = 0; index < count; ++index)
        threads.emplace_back([&, index] { work(shares[index], index); });
    for (std::thread& each : threads)
        each.join();
}

}  // namespace

TEST_CASE("run_tickets: exactly as many are used, though many come back") {
    for (std::uint64_t most : {1ULL, 63ULL, 5'000ULL, 20'001ULL}) {
        run_tickets stock(most);
        std::atomic<std::uint64_t> used{0};
        in_threads(stock, 4, [&](run_tickets::share& mine, std::size_t index) {
            for (std::uint64_t turn = index; !stock.all_used(); ++turn) {
                if (!stock.take(mine)) {
                    std::this_thread::yield();
                } else if (turn % 5 == 0) {
                    stock.give_back(mine);
                } else {
                    ++used;
                    stock.use(mine);
                }
            }
        });
        CHECK(used == most);
    }
}

TEST_CASE("run_tickets: who has left takes no handful along") {
    run_tickets stock(10'000);
    std::vector<std::uint64_t> used(3, 0);
    in_threads(stock, 3, [&](run_tickets::share& mine, std::size_t index) {
        if (index == 0) {  // takes one, brings it back and never asks again
            if (stock.take(mine)) stock.give_back(mine);
            return;
        }
        while (!stock.all_used()) {
            if (!stock.take(mine)) continue;
            stock.use(mine);
            ++used[index];
        }
    });
    CHECK(used[1] + used[2] == 10'000);
}

TEST_CASE("run_tickets: by number each is taken once, in order") {
    constexpr std::uint64_t most = 20'000;
    run_tickets stock(most);
    std::vector<std::vector<std::uint64_t>> got(4);
    in_threads(stock, 4, [&](run_tickets::share&, std::size_t index) {
        for (std::uint64_t number = stock.next(); number != run_tickets::none;
             number = stock.next()) {
            if (stock.take(number)) got[index].push_back(number);
        }
    });
    std::vector<std::uint64_t> all;
    for (const auto& each : got) {
        CHECK(std::is_sorted(each.begin(), each.end()));
        all.insert(all.end(), each.begin(), each.end());
    }
    std::sort(all.begin(), all.end());
    std::vector<std::uint64_t> wanted(most);
    std::iota(wanted.begin(), wanted.end(), std::uint64_t{0});
    CHECK(all == wanted);
}

TEST_CASE(
    "run_tickets: a close finds each that was not begun, while others still take and bring back") {
    for (int round = 0; round < 20; ++round) {
        run_tickets stock(std::nullopt);
        std::atomic<std::uint64_t> begun{0};
        std::atomic<std::uint64_t> too_late{0};
        run_tickets::remainder left;
        in_threads(stock, 3, [&](run_tickets::share&, std::size_t index) {
            if (index == 0) {
                while (stock.next() < 2'000)
                    std::this_thread::yield();
                left = stock.close();
                return;
            }
            for (std::uint64_t number = stock.next(); number != run_tickets::none;
                 number = stock.next()) {
                const bool again = stock.take_returned().has_value();
                if (!again && !stock.take(number)) continue;
                if (again || number % 3 != 0) {
                    ++begun;
                } else if (!stock.give_back(
                               load::due_times(steady_time(std::chrono::seconds(number))))) {
                    ++too_late;
                }
            }
        });
        CHECK(left.next == begun + left.returned.size() + too_late);
        CHECK(stock.close().next == run_tickets::none);
    }
}

TEST_CASE("run_tickets: without a limit there is always one, and the run is never over") {
    run_tickets stock(std::nullopt);
    run_tickets::share mine(stock);
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(stock.take(mine));
        stock.use(mine);
    }
    CHECK_FALSE(stock.all_used());
}
