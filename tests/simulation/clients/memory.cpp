// SPDX-License-Identifier: GPL-3.0-or-later
// What C++ and what Asio allocate with, for the whole program.
#include "memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#ifndef __SANITIZE_ADDRESS__

namespace {

bool fails() noexcept {
    if (clients::scarce.left < 0 || clients::scarce.left-- > 0) return false;
    clients::scarce.failed = true;
    return true;
}

}  // namespace

void* operator new(std::size_t octets) {
    void* const memory = fails() ? nullptr : std::malloc(std::max<std::size_t>(octets, 1));
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t octets) noexcept {
    void* memory = nullptr;
    const bool fine =
        !fails() && posix_memalign(&memory, std::max(alignment, sizeof memory), octets) == 0;
    return fine ? memory : nullptr;
}

#endif
