// SPDX-License-Identifier: GPL-3.0-or-later
// What happened in a run, for whoever replays one: a line for each event, with its time. Costs
// nothing where nobody wants it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "scenario.hpp"
#include "timeline.hpp"

namespace simulation {

class transcript {
  public:
    transcript(const timeline& time, bool wanted) noexcept : time_(time), wanted_(wanted) {}

    template <class... Values>
    void note(const line_number& where, std::string_view words, const Values&... values) const {
        if (!wanted_) return;
        fmt::print("{:14.6f} {}.{}  {}\n",
                   std::chrono::duration<double>(time_.since_start()).count(), where.session,
                   where.connection, fmt::format(fmt::runtime(words), values...));
    }
    void octets(const line_number& where, std::string_view arrow, std::string_view said) const {
        constexpr std::size_t shown = 150;
        if (wanted_)
            note(where, "{} {:5} {}", arrow, said.size(), postal::base::printable(said, shown));
    }

  private:
    const timeline& time_;
    const bool wanted_;
};

}  // namespace simulation
