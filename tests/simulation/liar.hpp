// SPDX-License-Identifier: GPL-3.0-or-later
// Says something else than what a server has said, in the places that the scenario names: codes
// that a command cannot have, replies that nothing asked for or that never come, lines and replies
// without an end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenario.hpp"

namespace simulation {

class liar {
  public:
    liar(const scenario& of, const line_number& which);

    [[nodiscard]] bool honest() const noexcept { return lies_.empty(); }
    // Whole replies; what the client hears is appended.
    void tell(std::string_view replies, std::string& into);

  private:
    void tell_instead(const lying_reply& one, std::string_view reply, std::string& into);

    std::vector<lying_reply> lies_;
    std::uint32_t told_ = 0;  // replies
};

}  // namespace simulation
