// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks of a run together do what one process would: the same messages, at the same times.
#include "load/run_share.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "admission_play.hpp"

using namespace admission_play;
using load::run_share;

namespace {

constexpr std::uint64_t rank_counts[] = {1, 2, 3, 5, 8};

pacing of_rank(pacing whole, const run_share& part) {
    whole.part = part;
    return whole;
}

// When what was begun until `end` was due, as it is looked after every 10 ms from `from` on.
std::vector<steady_time> begun_by(workers& of, std::chrono::nanoseconds from,
                                  std::chrono::nanoseconds end) {
    std::vector<steady_time> result;
    for (auto now = from; now <= end; now += 10ms) {
        for (ticket got; (got = of.ask(0, now)).what == pass::go; of[0].use())
            result.push_back(got.due);
    }
    return result;
}

}  // namespace

TEST_CASE("run_share: each number is one rank's, and the parts add up") {
    for (const std::uint64_t of : rank_counts) {
        for (const std::uint64_t all : {0ULL, 1ULL, 2ULL, 7ULL, 64ULL, 1001ULL}) {
            std::set<std::uint64_t> numbers;
            for (std::uint64_t rank = 0; rank < of; ++rank) {
                const run_share part{rank, of};
                for (std::uint64_t own = 0; own < part.part_of(all); ++own)
                    numbers.insert(part.number(own));
                CHECK(part.number(part.part_of(all)) >= all);
            }
            CHECK(numbers.size() == all);
            CHECK((all == 0 || *numbers.rbegin() == all - 1));
        }
    }
}

TEST_CASE("run_share: parts of what grows without steps add up, and grow one after the other") {
    CHECK(run_share{0, 4}.part_of_curve(0.5) == 0.5);
    CHECK(run_share{1, 4}.part_of_curve(0.5) == 0);
    CHECK(run_share{1, 4}.part_of_curve(5.75) == 1.75);
    for (const std::uint64_t of : rank_counts) {
        for (const double all : {0.0, 0.3, 1.0, 6.5, 1000.0, 123456.789}) {
            double sum = 0;
            for (std::uint64_t rank = 0; rank < of; ++rank)
                sum += run_share{rank, of}.part_of_curve(all);
            CHECK(sum == Approx(all).margin(1e-9));
        }
    }
    CHECK(run_share{2, 3}.part_of_curve(8.0) == 2);
    CHECK(run_share{1, 3}.part_of_curve(8.0) == 3);
}

TEST_CASE("admission: ranks together begin what one process would, when it would") {
    const auto ramp = pacing{load::schedule(
        rate_curve::ramp({5}, {{base::rate{200}, 2s}, {base::rate{0}, 1s}}), arrival::poisson, 7)};
    const std::optional<std::uint64_t> limits[] = {std::nullopt, 1, 100, 101};
    for (const pacing& closed : {constant(100), poisson(100), ramp}) {
        for (const pacing& how : {closed, open_loop(closed)}) {
            for (const auto limit : limits) {
                workers alone(limit, how);
                const auto wanted = begun_by(alone, 0s, 5s);
                for (const std::uint64_t of : rank_counts) {
                    std::vector<steady_time> begun;
                    for (std::uint64_t rank = 0; rank < of; ++rank) {
                        const run_share part{rank, of};
                        workers one(limit ? std::optional(part.part_of(*limit)) : limit,
                                    of_rank(how, part));
                        const auto own = begun_by(one, 0s, 5s);
                        begun.insert(begun.end(), own.begin(), own.end());
                        CHECK(one[0].over() == limit.has_value());
                    }
                    std::sort(begun.begin(), begun.end());
                    CHECK(begun == wanted);
                }
            }
        }
    }
}

TEST_CASE("admission: each rank of a cap makes up for its share of the last second") {
    for (const std::uint64_t of : rank_counts) {
        std::size_t together = 0;
        for (std::uint64_t rank = 0; rank < of; ++rank) {
            workers one(std::nullopt, of_rank(constant(1000), {rank, of}));
            together += begun_by(one, 10s, 10s).size();
        }
        CHECK(together >= 1000);
        CHECK(together <= 1000 + of);
    }
}

TEST_CASE("admission: ranks of an open loop leave behind what one process would") {
    for (const pacing& how : {open_loop(constant(100)), open_loop(poisson(100))}) {
        workers alone(std::nullopt, how);
        stats::histogram wanted;
        const std::uint64_t all = alone[0].stop(start + 3s, wanted);
        workers finished(std::nullopt, how);
        finished[0].finish_due(start + 2s);
        const auto due = begun_by(finished, 10s, 10s);
        for (const std::uint64_t of : rank_counts) {
            std::uint64_t left = 0;
            stats::histogram waited;
            std::vector<steady_time> begun;
            for (std::uint64_t rank = 0; rank < of; ++rank) {
                workers one(std::nullopt, of_rank(how, {rank, of}));
                left += one[0].stop(start + 3s, waited);
                workers finishes(std::nullopt, of_rank(how, {rank, of}));
                finishes[0].finish_due(start + 2s);
                const auto own = begun_by(finishes, 10s, 10s);
                begun.insert(begun.end(), own.begin(), own.end());
            }
            std::sort(begun.begin(), begun.end());
            CHECK(left == all);
            CHECK(waited.mean_us() == wanted.mean_us());
            CHECK(waited.max() == wanted.max());
            CHECK(begun == due);
        }
    }
}
