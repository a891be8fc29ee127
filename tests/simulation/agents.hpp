// SPDX-License-Identifier: GPL-3.0-or-later
// The agents of a run without processes: lmtp-deliver's own dispatcher, with what stands before it
// and behind it, and what becomes of each agent as the scenario has it.
//
// A delivery does what lmtp_deliver::delivery does with a real child: it asks for a slot, is called
// or withdrawn, starts an agent, asks it to end when its time is over, and then by force, and gives
// its slot back. Its answer is that of lmtp-deliver's table of exit statuses. Deliveries live as
// long as the run, for the timeline may know them.
#pragma once

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "lmtp-deliver/dispatcher.hpp"
#include "lmtp-deliver/exit_statuses.hpp"
#include "scenario.hpp"
#include "timeline.hpp"
#include "transcript.hpp"

namespace simulation {

using postal::lmtp_deliver::delivery_reply;
using postal::lmtp_deliver::dispatcher;

class agents;

class delivery final : public actor, public dispatcher::waiter {
  public:
    class owner {
      public:
        virtual void arrived(const std::string& mailbox) = 0;
        virtual void delivered(const delivery& which) = 0;

      protected:
        ~owner() = default;
    };

    struct place {
        dispatcher::customer& customer;
        owner& whose;
        std::string mailbox;
    };
    delivery(agents& with, place where);
    ~delivery() override;

    void begin();
    // False when an agent runs, or has.
    bool cancel(const delivery_reply& why);

    [[nodiscard]] bool over() const noexcept { return state_ == state::over; }
    [[nodiscard]] bool queued() const noexcept { return state_ == state::queued; }
    [[nodiscard]] bool decided() const noexcept { return answer_.code != 0; }
    [[nodiscard]] const delivery_reply& answer() const noexcept { return answer_; }
    [[nodiscard]] const std::string& mailbox() const noexcept { return where_.mailbox; }

    void act() override;

  private:
    enum class state : std::uint8_t { fresh, queued, running, over };
    enum class ending : std::uint8_t { not_asked, asked, killed };

    void called(dispatcher::answer how) override;
    void start();
    void run_on();
    void agent_ended(postal::lmtp_deliver::agent_end how);
    void give_back();
    void decide(postal::lmtp_deliver::agent_end how, std::string_view printed);
    void end(delivery_reply answer);

    agents& with_;
    const place where_;
    agent_fault agent_;
    delivery_reply answer_;
    steady_time until_;  // when it has waited too long, or its agent is asked to end
    steady_time ends_ = steady_time::max();
    state state_ = state::fresh;
    ending ending_ = ending::not_asked;
};

class agents final : public actor {
  public:
    // All must outlive it.
    agents(timeline& time, const scenario& of, const transcript& shown);

    [[nodiscard]] dispatcher& slots() noexcept { return slots_; }
    delivery& make(delivery::place where);

    // Those who have been called hear so.
    void act() override;

    // What is wrong with who ran and who waited; empty: nothing.
    [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }
    // Of the whole run, when it is over.
    void look_for_leftovers();
    // A run that does not end leaves some in the queue.
    void give_up();

  private:
    friend class delivery;

    agent_fault start(const std::string& mailbox);
    void ended(const std::string& mailbox);
    void look_for_idle_slots();
    void wrong(const std::string& what);

    timeline& time_;
    const scenario& of_;
    const transcript& shown_;
    boost::asio::io_context posted_;
    dispatcher slots_;
    postal::lmtp_deliver::exit_statuses exits_;
    std::deque<delivery> all_;
    std::uint32_t started_ = 0;
    std::uint32_t running_ = 0;
    std::map<std::string, std::uint32_t> running_for_;
    std::string complaint_;
};

}  // namespace simulation
