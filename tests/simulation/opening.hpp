// SPDX-License-Identifier: GPL-3.0-or-later
// When a simulated session may open its next connection or begin its next message, and what becomes
// of the ticket for it: client::opening without coroutines.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "client_house.hpp"

namespace simulation {

class opening {
  public:
    opening(client_house& house, actor& who) : house_(house) { place_.who = &who; }

    [[nodiscard]] bool has_ticket() const noexcept {
        return ticket_.what == postal::load::pass::go;
    }
    // False when none is to be had now: wait(), unless there will be none any more.
    bool try_pass(std::uint64_t wanted) {
        ticket_ = house_.gate.try_pass(wanted);
        return has_ticket();
    }
    [[nodiscard]] bool over() const noexcept { return ticket_.what == postal::load::pass::over; }
    void wait(bool connected, std::uint64_t wanted) {
        place_.connected = connected;
        place_.wanted = wanted;
        since_ = house_.time.now();
        house_.gate.wait(place_);
    }
    [[nodiscard]] bool waits() const noexcept { return place_.is_linked(); }
    [[nodiscard]] nanoseconds waited() const { return house_.time.now() - since_; }
    void leave() { place_.unlink(); }
    // Behind wait().
    bool take_what_came() {
        ticket_ = std::move(place_.got);
        return has_ticket();
    }
    postal::load::ticket use() {
        house_.gate.use(ticket_.messages);
        return std::exchange(ticket_, {});
    }
    void give_back() {
        if (has_ticket()) house_.gate.give_back(std::exchange(ticket_, {}));
    }

    // The connection is over; one that has brought nothing is tried again after a pause, and
    // leaves its ticket to others meanwhile.
    void part(bool fine, bool brought_something) {
        if (fine || brought_something) failures_ = 0;
        since_ = house_.time.now();
        if (fine) return;
        give_back();
        since_ += std::min(first_pause * (1U << std::min(failures_++, 6U)), longest_pause);
    }
    [[nodiscard]] bool failing() const noexcept { return failures_ > 0; }
    [[nodiscard]] steady_time rests_until() const noexcept { return since_; }

  private:
    static constexpr nanoseconds first_pause = std::chrono::milliseconds(100);
    static constexpr nanoseconds longest_pause = std::chrono::seconds(5);

    client_house& house_;
    gate::waiter place_;
    postal::load::ticket ticket_;
    steady_time since_{};  // it rests until then, or waits since then
    unsigned failures_ = 0;
};

}  // namespace simulation
