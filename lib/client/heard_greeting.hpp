// SPDX-License-Identifier: GPL-3.0-or-later
// What a server said first in the run, for those who read its record. The first connection of any
// worker that is greeted leaves it; afterwards that costs a look at a flag.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace postal::client {

class heard_greeting {
  public:
    // The text of the reply's first line; of any thread.
    void note(std::string_view text) {
        if (known_.load(std::memory_order_relaxed)) return;
        const std::scoped_lock lock(mutex_);
        if (known_.exchange(true, std::memory_order_relaxed)) return;
        text_ = base::printable(base::trim(text.substr(0, text.find_first_of("\r\n"))), longest);
    }
    // Empty as long as nobody was greeted.
    [[nodiscard]] std::string text() const {
        const std::scoped_lock lock(mutex_);
        return text_;
    }

  private:
    static constexpr std::size_t longest = 200;

    std::atomic<bool> known_{false};
    mutable std::mutex mutex_;
    std::string text_;
};

}  // namespace postal::client
