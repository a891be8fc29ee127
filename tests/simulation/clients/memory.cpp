// SPDX-License-Identifier: GPL-3.0-or-later
// What C++ and what Asio allocate with, for the whole program.
#include "memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#ifndef __SANITIZE_ADDRESS__

namespace {

// Before what was asked for. What is given back is kept for the next who asks for as much.
struct alignas(std::max_align_t) block {
    std::size_t kind = 0;   // units behind it; kinds or more: as many as it needs
    block* next = nullptr;  // of those that are kept
};

constexpr std::size_t unit = sizeof(block);
constexpr std::size_t kinds = 1024 / unit + 1;
thread_local constinit block* spare[kinds]{};

void* take(std::size_t kind) noexcept {
    block* const one = spare[kind];
    spare[kind] = one->next;
    return one + 1;
}

void* make(std::size_t octets, std::size_t kind) noexcept {
    void* const memory = std::malloc(sizeof(block) + (kind < kinds ? kind * unit : octets));
    return memory == nullptr ? nullptr : new (memory) block{kind} + 1;
}

bool fails() noexcept {
    if (clients::scarce.left < 0 || clients::scarce.left-- > 0) return false;
    clients::scarce.failed = true;
    return true;
}

}  // namespace

void* operator new(std::size_t octets) {
    const std::size_t kind = (octets + unit - 1) / unit;
    void* const memory = fails()                                  ? nullptr
                         : kind < kinds && spare[kind] != nullptr ? take(kind)
                                                                  : make(octets, kind);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void operator delete(void* memory) noexcept {
    if (memory == nullptr) return;
    auto* const one = static_cast<block*>(memory) - 1;
    if (one->kind >= kinds) return std::free(one);
    one->next = std::exchange(spare[one->kind], one);
}
void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t octets) noexcept {
    void* memory = nullptr;
    const bool fine =
        !fails() && posix_memalign(&memory, std::max(alignment, sizeof memory), octets) == 0;
    return fine ? memory : nullptr;
}

#endif
