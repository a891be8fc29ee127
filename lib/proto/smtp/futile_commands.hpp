// SPDX-License-Identifier: GPL-3.0-or-later
// What a client of a server says in vain, since its last whole message: errors of its own, and
// commands that bring no mail forward.
//
// Each call that counts says whether that was one too many; 0 is no limit. Nothing here fails.
#pragma once

#include <cstdint>

namespace postal::proto {

class futile_commands {
  public:
    // From now on nothing is limited.
    void trust() noexcept { trusted_ = true; }

    bool error(std::uint32_t most) noexcept { return is_over(++errors_, most); }
    bool idle(std::uint32_t most) noexcept { return is_over(++idle_, most); }
    // RSET is as it should be some times when something was refused, or a message has ended.
    bool reset(std::uint32_t most) noexcept {
        if (resets_ == 0) return idle(most);
        --resets_;
        return false;
    }

    void something_refused() noexcept { resets_ = most_resets; }
    // What came before it was for it.
    void message_came() noexcept {
        errors_ = idle_ = 0;
        resets_ = most_resets;
    }

  private:
    // An MTA ends its transaction, and looks whether a connection still lives that it wants to use
    // again.
    static constexpr std::uint8_t most_resets = 2;

    bool is_over(std::uint32_t count, std::uint32_t most) const noexcept {
        return count > most && most != 0 && !trusted_;
    }

    std::uint32_t errors_ = 0;
    std::uint32_t idle_ = 0;
    std::uint8_t resets_ = 0;
    bool trusted_ = false;
};

}  // namespace postal::proto
