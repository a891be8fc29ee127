// SPDX-License-Identifier: GPL-3.0-or-later
// Counts allocations of the whole test program, to hold that making and checking need none once
// warm.
#include "mail/message_checker.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> allocations{0};
}

void* operator new(std::size_t octets) {
    ++allocations;
    if (void* memory = std::malloc(octets == 0 ? 1 : octets)) return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t octets, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(octets == 0 ? 1 : octets);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

using namespace postal::mail;

TEST_CASE("message: making and checking allocate nothing once warm") {
    for (const body_kind kind : test::all_kinds) {
        message_factory factory(message_plan::create(test::options_for(kind, 5120)).value());
        message made;
        message_checker checker;
        std::string text;
        std::size_t before = 0;
        std::size_t verified = 0;
        for (std::uint64_t n = 0; n < 200; ++n) {
            if (n == 100) before = allocations;
            factory.make(test::request(1, n), made);
            text.clear();
            for (const std::string_view part : made.raw_parts())
                text += part;
            checker.reset();
            // Split within the headers, so that the checker has to collect them.
            checker.feed(std::string_view(text).substr(0, 100));
            checker.feed(std::string_view(text).substr(100));
            if (checker.finish().what == integrity::verified) ++verified;
        }
        const std::size_t after = allocations;
        INFO(name_of(kind));
        CHECK(verified == 200);
        CHECK(after == before);
    }
}
