// How long a client may still keep the server waiting for a message's content (--min-data-rate).
//
// As long as silence may last in all, and for a second more with each `rate` octets that have come. Only
// waiting counts: what the server holds back is not the client's. Time is passed in; nothing fails.
#pragma once

#include <chrono>
#include <cstdint>

namespace postal::serve {

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

}  // namespace postal::serve
