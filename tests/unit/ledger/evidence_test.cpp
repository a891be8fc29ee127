// SPDX-License-Identifier: GPL-3.0-or-later
// Counts the memory of the whole test program, to hold that a message in hand takes little more
// than its size.
#include "ledger/evidence.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include <catch2/catch.hpp>

namespace {
std::atomic<std::size_t> in_use{0};
std::atomic<std::size_t> peak{0};
}  // namespace

namespace ledger_test {
thread_local unsigned allocations_to_fail = 0;
}

// The sanitizers have their own, and count nothing here.
#ifndef __SANITIZE_ADDRESS__
void* operator new(std::size_t octets) {
    if (ledger_test::allocations_to_fail > 0) {
        --ledger_test::allocations_to_fail;
        throw std::bad_alloc();
    }
    void* memory = std::malloc(octets == 0 ? 1 : octets);
    if (memory == nullptr) throw std::bad_alloc();
    const std::size_t now = in_use += malloc_usable_size(memory);
    if (now > peak) peak = now;
    return memory;
}
void operator delete(void* memory) noexcept {
    in_use -= malloc_usable_size(memory);
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}
#endif

namespace {

using postal::ledger::evidence;
using postal::ledger::evidence_memory;

constexpr std::size_t little = std::size_t{256} * 1024;  // beside the octets themselves

std::string octets(std::size_t count) {
    std::string all(count, '\0');
    for (std::size_t n = 0; n < count; ++n) {
        all[n] = static_cast<char>('a' + n % 23);
    }
    return all;
}

void feed(evidence& into, std::string_view all, std::size_t a_time) {
    while (!all.empty()) {
        const std::string_view piece = all.substr(0, a_time);
        into.feed(piece);
        all.remove_prefix(piece.size());
    }
}

}  // namespace

TEST_CASE("evidence: what is fed is kept, whatever the pieces") {
    const std::size_t size = GENERATE(0, 1, 5120, 32767, 32768, 32769, 65536, 1'000'000);
    const std::size_t a_time = GENERATE(997, 32768, 70'000);
    const std::string sent = octets(size);
    evidence_memory room;
    evidence kept(room);
    for (int round = 0; round < 2; ++round) {
        kept.begin();
        feed(kept, sent, a_time);
        CHECK(kept.whole());
        CHECK(kept.octets() == size);
        CHECK(room.left == evidence_memory{}.left - size);
        CHECK(kept.text() == sent);
        kept.end();
        CHECK(room.left == evidence_memory{}.left);
    }
}

TEST_CASE("evidence: a message takes little more memory than its octets, and gives it back") {
    const std::string large = octets(evidence::most_kept);
    evidence_memory room;
    evidence kept(room);
    const std::size_t before = in_use;
    SECTION("when it is done with") {
        kept.begin();
        peak = before;
        feed(kept, large, 8192);
        CHECK(kept.whole());
        CHECK(peak - before < large.size() + little);
        CHECK(kept.text() == large);
        kept.end();
    }
    SECTION("when it turns out to be too large") {
        kept.begin();
        peak = before;
        feed(kept, large, 8192);
        kept.feed("x");
        CHECK_FALSE(kept.whole());
        CHECK(peak - before < large.size() + little);
    }
    CHECK(in_use < before + little);
    CHECK(room.left == evidence_memory{}.left);
}

TEST_CASE("evidence: nothing is kept of what the room does not hold") {
    evidence_memory room{.left = 100'000};
    evidence first(room);
    evidence second(room);
    first.begin();
    second.begin();
    feed(first, octets(60'000), 1000);
    feed(second, octets(60'000), 1000);
    CHECK(first.whole());
    CHECK_FALSE(second.whole());
    CHECK(second.octets() == 60'000);
    CHECK(room.left == 40'000);
    first.end();
    second.begin();
    feed(second, octets(60'000), 1000);
    CHECK(second.whole());
}
