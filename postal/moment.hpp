// One moment on both clocks: the steady one times, the wall's stands in messages and ledgers.
#pragma once

#include <chrono>
#include <cstdint>

namespace postal {

struct moment {
    std::chrono::steady_clock::time_point steady{};
    std::chrono::nanoseconds since_epoch{0};

    std::chrono::system_clock::time_point wall() const noexcept {
        return std::chrono::system_clock::time_point(
            std::chrono::duration_cast<std::chrono::system_clock::duration>(since_epoch));
    }
    std::uint64_t wall_us() const noexcept {
        return static_cast<std::uint64_t>(since_epoch.count()) / 1000;
    }
};

}  // namespace postal
