// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a message has the flags that it was appended with, as far as its mailbox keeps them.
//
// Flow: flag_check check(plan, PERMANENTFLAGS of SELECT); check.same(planned, FLAGS of FETCH).
// Flags for which PERMANENTFLAGS has no place are not compared, nor are \Recent and keywords that
// are none of the plan's: servers have their own. A \Deleted or \Draft is a change.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mail/population.hpp"

namespace postal::rabid {

class flag_check {
  public:
    // `permanent` is "(\Seen \*)"; nothing where the server did not say, which keeps all of them
    // (RFC 3501 7.1).
    flag_check(const mail::population_plan& of, std::optional<std::string_view> permanent);

    // A bit for each of the plan's flags; and words with blanks between.
    [[nodiscard]] bool same(std::uint16_t planned, std::string_view there) const;

  private:
    const mail::population_plan& of_;
    std::uint16_t kept_ = 0;
};

}  // namespace postal::rabid
