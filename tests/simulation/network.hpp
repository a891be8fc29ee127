// SPDX-License-Identifier: GPL-3.0-or-later
// A connection between a client and a server without sockets: octets that take their time, come in
// pieces, find no room, and are lost.
//
// Flow, for either side, an actor that is woken whenever something may have changed for it:
//   write(me, octets)    takes as many as there is room for; none once is_reset(me)
//   read(me, most)       what has come; if nothing has, has_ended(me) and is_reset(me) say why
//   close(me), reset(me)
// What the scenario has for this connection happens when the octets that it names have come. As
// with TCP a side that has closed and is written to answers with a reset.
//
// A connection keeps all that each side has said, and when it left, for the judge to read.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "scenario.hpp"
#include "timeline.hpp"
#include "transcript.hpp"

namespace simulation {

// What one side says, on its way to the other.
class direction {
  public:
    // They leave now and come then.
    void add(std::string_view octets, steady_time now, steady_time then);
    void add_end(steady_time then);
    void add_fault(const network_fault& one) { faults_.push_back(one); }

    // Hands what is due by now to the reader, up to what breaks the connection, which is given.
    const network_fault* arrive(steady_time now);
    std::string_view read(std::size_t most);
    // The reader finds an end behind what has come.
    void cut_off();
    void forget_unread() noexcept { read_ = arrived_; }

    [[nodiscard]] steady_time next_arrival() const noexcept {
        return under_way_.empty() ? steady_time::max() : under_way_.front().when;
    }
    [[nodiscard]] std::size_t unread() const noexcept { return arrived_ - read_; }
    [[nodiscard]] std::size_t octets_read() const noexcept { return read_; }
    [[nodiscard]] std::size_t not_read() const noexcept { return said_.size() - read_; }
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] bool silent() const noexcept { return silent_; }
    [[nodiscard]] const std::string& said() const noexcept { return said_; }
    // When the octet at that place left.
    [[nodiscard]] steady_time left_at(std::size_t octet) const;

  private:
    struct piece {
        std::size_t until = 0;
        steady_time when{};
    };

    std::string said_;
    std::vector<piece> departures_;
    std::deque<piece> under_way_;  // the end as one without octets
    std::vector<network_fault> faults_;
    steady_time last_arrival_{};
    std::size_t arrived_ = 0;
    std::size_t read_ = 0;
    bool says_no_more_ = false;
    bool ended_ = false;  // and the reader may know
    bool silent_ = false;
};

class connection final : public actor {
  public:
    // All must outlive it.
    connection(timeline& time, const scenario& of, line_number which, const transcript& shown);
    void attach(side which, actor& who) noexcept { end(which).who = &who; }

    std::size_t write(side me, std::string_view octets);
    std::string_view read(side me, std::size_t most);
    void close(side me);
    void reset(side me);

    // The other one says no more: as far as has come, and when all of it has been read.
    [[nodiscard]] bool may_have_gone(side me) const noexcept {
        return is_reset(me) || from(other(me)).ended();
    }
    [[nodiscard]] bool has_ended(side me) const noexcept {
        return from(other(me)).ended() && from(other(me)).unread() == 0;
    }
    [[nodiscard]] bool is_reset(side me) const noexcept { return ends_[index(me)].broken; }
    [[nodiscard]] bool is_open(side me) const noexcept { return !ends_[index(me)].closed; }
    [[nodiscard]] const direction& from(side who) const noexcept { return ways_[index(who)]; }
    [[nodiscard]] const line_number& number() const noexcept { return number_; }

    void act() override;

  private:
    struct endpoint {
        actor* who = nullptr;
        bool closed = false;
        bool broken = false;
        steady_time breaks = steady_time::max();  // when a reset comes here
    };
    static constexpr std::size_t index(side which) noexcept {
        return static_cast<std::size_t>(which);
    }
    static constexpr side other(side which) noexcept {
        return which == side::client ? side::server : side::client;
    }
    direction& way(side from) noexcept { return ways_[index(from)]; }
    endpoint& end(side which) noexcept { return ends_[index(which)]; }

    steady_time arrival();
    bool coin(std::uint64_t n) { return of_.chops && random_.below(n) == 0; }
    void arrive(side from);
    void suffer(const network_fault& what);
    void send_reset(side to);
    void break_if_due(side whose);
    void tell(side which);

    timeline& time_;
    const scenario& of_;
    const line_number number_;
    const transcript& shown_;
    postal::base::random_source random_;
    bool lost_ = false;  // whoever writes finds out
    direction ways_[2];  // by who speaks
    endpoint ends_[2];
};

}  // namespace simulation
