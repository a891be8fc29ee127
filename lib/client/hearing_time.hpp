// SPDX-License-Identifier: GPL-3.0-or-later
// How long a server may still keep a client waiting for what it is saying, so that one that drips
// holds no session longer than one that is silent.
//
// No silence lasts longer than it may. What has an end of its own (a line, a response, a reply, a
// message) has as long as that in all, and a second more with each `least_rate` octets that have
// come. What goes on behind it has its time anew, since a server may say "still at it" while it
// works; of an answer that never comes even that lasts no longer than most_silences times as long.
// Only waiting counts. Time is passed in; nothing fails.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "load/content_time.hpp"

namespace postal::client {

class hearing_time {
  public:
    using nanoseconds = std::chrono::nanoseconds;

    static constexpr std::uint64_t least_rate = 500;  // octets a second, as servers ask of clients
    static constexpr int most_silences = 60;

    // A response has ended; more of the answer is to come.
    void response_ended() noexcept { response_ = {}; }
    // What was asked for is there, or something else is asked for.
    void answered() noexcept { *this = {}; }
    void heard(nanoseconds waited, std::uint64_t octets) noexcept {
        response_.add(waited, octets);
        answer_.add(waited, octets);
    }
    // For the next octet. Maybe less than nothing.
    nanoseconds left(nanoseconds silence) const noexcept {
        constexpr nanoseconds longest = std::chrono::hours(24 * 365);  // whose product fits
        return std::min({silence, response_.left(silence),
                         answer_.left(most_silences * std::min(silence, longest))});
    }
    std::uint64_t octets_of_answer() const noexcept { return answer_.octets; }

  private:
    struct part {
        void add(nanoseconds waited, std::uint64_t more) noexcept {
            time.waited(waited);
            octets += more;
        }
        nanoseconds left(nanoseconds silence) const noexcept {
            return time.left(silence, least_rate, octets);
        }

        load::content_time time;
        std::uint64_t octets = 0;
    };

    part response_;
    part answer_;
};

}  // namespace postal::client
