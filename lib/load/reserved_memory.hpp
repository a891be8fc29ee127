// SPDX-License-Identifier: GPL-3.0-or-later
// Memory for an operation of Asio of which one at a time is under way: beginning it again cannot
// fail when memory has run out.
//
// Flow: timer.async_wait(asio::bind_allocator(memory.allocator(), handler));
// Asio gives the memory back before it calls the handler, which may begin the next one. What does
// not fit is a mistake of ours and throws std::bad_alloc.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <new>

namespace postal::load {

class reserved_memory {
  public:
    template <typename T>
    struct allocator_of {
        using value_type = T;

        explicit allocator_of(reserved_memory& owner) noexcept : from(&owner) {}
        template <typename Other>
        allocator_of(const allocator_of<Other>& other) noexcept : from(other.from) {}

        T* allocate(std::size_t count) { return static_cast<T*>(from->take(count * sizeof(T))); }
        void deallocate(T*, std::size_t) noexcept { from->taken_ = false; }
        template <typename Other>
        bool operator==(const allocator_of<Other>& other) const noexcept {
            return from == other.from;
        }

        reserved_memory* from;
    };

    reserved_memory() = default;
    reserved_memory(const reserved_memory&) = delete;
    reserved_memory& operator=(const reserved_memory&) = delete;

    allocator_of<void*> allocator() noexcept { return allocator_of<void*>(*this); }

  private:
    void* take(std::size_t octets) {
        assert(!taken_ && octets <= space_.size());
        if (taken_ || octets > space_.size()) throw std::bad_alloc();
        taken_ = true;
        return space_.data();
    }

    alignas(std::max_align_t) std::array<std::byte, 256> space_{};
    bool taken_ = false;
};

}  // namespace postal::load
