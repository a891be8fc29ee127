// SPDX-License-Identifier: GPL-3.0-or-later
// How long a peer may still keep us waiting for something that has an end: of a server's clients
// the content of a message (--min-data-rate), of a client's servers a response
// (client/hearing_time.hpp).
//
// As long as silence may last in all, and for a second more with each `rate` octets that have come.
// Only waiting counts: what we hold back ourselves is not the peer's. Time is passed in; nothing
// fails.
#pragma once

#include <chrono>
#include <cstdint>

namespace postal::load {

class content_time {
  public:
    using nanoseconds = std::chrono::nanoseconds;

    void waited(nanoseconds how_long) noexcept { waited_ += how_long; }
    // Maybe less than nothing; `rate` is more than 0.
    nanoseconds left(nanoseconds silence, std::uint64_t rate, std::uint64_t octets) const noexcept {
        return silence + std::chrono::seconds(octets / rate) - waited_;
    }

  private:
    nanoseconds waited_{0};
};

}  // namespace postal::load
