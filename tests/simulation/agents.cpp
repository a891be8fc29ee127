// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace simulation {

namespace {

using namespace std::chrono_literals;
using postal::lmtp_deliver::agent_end;
using postal::lmtp_deliver::agent_fate;

constexpr nanoseconds kill_after = 5s;  // lmtp_deliver::delivery::kill_after
const delivery_reply queue_full{451, "4.3.2", "Too many deliveries wait, try again later",
                                "max-queued"};
const delivery_reply waited_too_long{451, "4.3.2", "Waited too long for an agent, try again later",
                                     "queue-timeout"};
// What an agent says that wants to be taken for the server.
constexpr std::string_view talk =
    "\r\n\tsmuggled\r\n250 2.0.0 Delivered\r\n.\r\n354 more\x1b[2J\xff and on\n";

// As MTAs read sysexits.h, of the statuses that agents of scenarios have.
int class_of(const agent_end& how) {
    if (how.fate != agent_fate::exited) return 4;
    if (how.number == 0) return 2;
    return how.number == 71 || how.number == 75 ? 4 : 5;
}

// Asks for a slot at the end of a run, when all are free.
struct probe final : dispatcher::waiter {
    using waiter::waiter;

  private:
    void called(dispatcher::answer) override {}
};

}  // namespace

// ---- one delivery ----

delivery::delivery(agents& with, place where)
    : waiter(with.posted_, where.customer),
      with_(with),
      where_(std::move(where)),
      until_(with.time_.now() + with.of_.agents->longest_wait) {
    with_.time_.wake(*this, until_);
}

delivery::~delivery() = default;

void delivery::begin() {
    with_.time_.wake(with_);
    switch (with_.slots_.ask(*this, mailbox())) {
        case dispatcher::answer::start:
            return start();
        case dispatcher::answer::wait:
            state_ = state::queued;
            return;
        case dispatcher::answer::refused:
            return end(queue_full);
    }
}

void delivery::called(dispatcher::answer how) {
    const bool has_slot = how == dispatcher::answer::start;
    if (has_slot && !decided()) return start();
    if (has_slot) with_.slots_.give_back(*this);
    end(decided() ? answer_ : queue_full);
}

bool delivery::cancel(const delivery_reply& why) {
    const bool waits = state_ == state::fresh || state_ == state::queued;
    if (!waits || decided()) return false;
    with_.time_.wake(with_);
    if (state_ == state::fresh || with_.slots_.withdraw(*this)) {
        end(why);
    } else {
        answer_ = why;  // called() is on its way, and ends it
    }
    return true;
}

void delivery::start() {
    state_ = state::running;
    agent_ = with_.start(mailbox());
    if (agent_.how == agent_way::not_started) {
        give_back();
        return decide({agent_fate::not_started}, "out of memory");
    }
    const nanoseconds lasts = agent_.lasts;
    const bool comes_to_an_end =
        agent_.how == agent_way::ends || agent_.how == agent_way::is_killed;
    const steady_time now = with_.time_.now();
    if (comes_to_an_end) ends_ = now + lasts;
    until_ = now + with_.of_.agents->timeout;
    // One that does not come to its end may have delivered all the same.
    if (!comes_to_an_end && agent_.delivers) where_.whose.arrived(mailbox());
    with_.time_.wake(*this, std::min(until_, ends_));
}

void delivery::act() {
    if (state_ == state::running) return run_on();
    if (state_ == state::over) return;
    if (with_.time_.now() < until_) return with_.time_.wake(*this, until_);
    cancel(waited_too_long);
}

void delivery::run_on() {
    const steady_time now = with_.time_.now();
    if (now >= ends_) {
        const bool fine = agent_.how == agent_way::ends;
        if (agent_.delivers) where_.whose.arrived(mailbox());
        return fine ? agent_ended({agent_fate::exited, agent_.status})
                    : agent_ended({agent_fate::signalled, SIGSEGV});
    }
    if (now < until_) return with_.time_.wake(*this, std::min(until_, ends_));
    // It cannot be ended: nobody waits for it any more.
    if (ending_ == ending::killed) return agent_ended({agent_fate::timed_out});
    ending_ = ending_ == ending::not_asked ? ending::asked : ending::killed;
    until_ = now + kill_after;
    const bool obeys = agent_.how == agent_way::ends || agent_.how == agent_way::is_killed ||
                       agent_.how == agent_way::hangs;
    const bool ends = obeys || (ending_ == ending::killed && agent_.how == agent_way::is_stubborn);
    if (ends) return agent_ended({agent_fate::timed_out});
    with_.time_.wake(*this, until_);
}

void delivery::agent_ended(agent_end how) {
    with_.shown_.note({}, "the agent for {} ends", mailbox());
    give_back();
    decide(how, agent_.talks ? talk : std::string_view());
}

void delivery::give_back() {
    with_.ended(mailbox());
    with_.slots_.give_back(*this);
    with_.time_.wake(with_);
}

void delivery::decide(agent_end how, std::string_view printed) {
    delivery_reply answer = with_.exits_.judge(how, printed);
    if (answer.code / 100 != class_of(how))
        with_.wrong(fmt::format("an agent's end is {}", answer.code));
    if (answer.text.find_first_of("\r\n") != std::string::npos)
        with_.wrong("an agent's words go on behind their line");
    end(std::move(answer));
}

void delivery::end(delivery_reply answer) {
    answer_ = std::move(answer);
    state_ = state::over;
    where_.whose.delivered(*this);
}

// ---- all of them ----

agents::agents(timeline& time, const scenario& of, const transcript& shown)
    : time_(time),
      of_(of),
      shown_(shown),
      slots_({.slots = of.agents->slots,
              .longest = of.agents->longest_queue,
              .a_recipient = of.agents->a_recipient}) {}

void agents::give_up() {
    for (delivery& one : all_)
        one.cancel({421, "4.3.2", "The run is over"});
}

delivery& agents::make(delivery::place where) {
    return all_.emplace_back(*this, std::move(where));
}

void agents::act() {
    posted_.restart();
    posted_.poll();
    look_for_idle_slots();
}

agent_fault agents::start(const std::string& mailbox) {
    const std::uint32_t number = started_++;
    const std::uint32_t for_this_one = ++running_for_[mailbox];
    if (++running_ > of_.agents->slots) wrong("more agents run than may");
    if (for_this_one > of_.agents->a_recipient) wrong("more agents run for a recipient than may");
    const auto planned =
        std::find_if(of_.agent_faults.begin(), of_.agent_faults.end(),
                     [number](const agent_fault& one) { return one.nth == number; });
    const agent_fault usual{.nth = number, .lasts = of_.agents->lasts};
    shown_.note({}, "agent {} starts for {}", number, mailbox);
    return planned == of_.agent_faults.end() ? usual : *planned;
}

void agents::ended(const std::string& mailbox) {
    --running_;
    --running_for_[mailbox];
}

// Nobody waits for a slot that he could have.
void agents::look_for_idle_slots() {
    if (running_ >= of_.agents->slots) return;
    for (const delivery& one : all_) {
        if (one.queued() && !one.decided() && running_for_[one.mailbox()] < of_.agents->a_recipient)
            wrong("a delivery waits although there is a slot for it");
    }
}

void agents::look_for_leftovers() {
    for (const delivery& one : all_) {
        if (!one.over()) wrong("a delivery did not come to its end");
    }
    if (!complaint_.empty()) return;
    dispatcher::customer somebody(slots_, "");
    std::deque<probe> each;
    for (std::uint32_t i = 0; i < of_.agents->slots; ++i) {
        probe& one = each.emplace_back(posted_, somebody);
        const auto answer = slots_.ask(one, fmt::format("nobody{}", i));
        if (answer == dispatcher::answer::start) continue;
        each.pop_back();
        wrong("a slot was not given back");
        break;
    }
    for (probe& one : each)
        slots_.give_back(one);
}

void agents::wrong(const std::string& what) {
    if (complaint_.empty()) complaint_ = what;
}

}  // namespace simulation
