// SPDX-License-Identifier: GPL-3.0-or-later
// Since when a rank has little time: a launcher that ends a run kills whoever is there a second
// later. Nothing here fails.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

namespace postal::program {

class haste {
  public:
    using time = std::chrono::steady_clock::time_point;
    using nanoseconds = std::chrono::nanoseconds;

    // When what is in flight is cut short.
    static constexpr nanoseconds grace = std::chrono::milliseconds(400);

    void begin(time now) noexcept {
        if (!begun_) begun_ = now;
    }
    std::optional<nanoseconds> since(time now) const noexcept {
        if (!begun_) return std::nullopt;
        return now - *begun_;
    }
    // True once, when it is time to.
    bool cuts_short(time now) noexcept {
        return begun_ && now - *begun_ >= grace && !std::exchange(cut_short_, true);
    }

  private:
    std::optional<time> begun_;
    bool cut_short_ = false;
};

}  // namespace postal::program
