// SPDX-License-Identifier: GPL-3.0-or-later
#include "world.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "agents.hpp"
#include "books.hpp"
#include "client.hpp"
#include "gate.hpp"
#include "judge.hpp"
#include "mailboxes.hpp"
#include "network.hpp"
#include "server.hpp"
#include "transcript.hpp"

namespace simulation {

namespace {

using namespace std::chrono_literals;
namespace sender = postal::sender;

constexpr std::size_t users = 8;
// Two hundred messages in pieces of one to three octets take more than 200,000.
constexpr std::uint64_t most_steps = 2'000'000;
// Each of 300 messages may take some minutes, where a server sends nearly all sessions away: two
// days. What reads everything comes thereafter (draw.cpp).
constexpr nanoseconds longest_run = 24h * 20;

sender::options options_of(const scenario& of) {
    sender::options chosen;
    chosen.lmtp = of.lmtp;
    chosen.pipelining = of.pipelining;
    chosen.chunking = of.chunking ? sender::offer::automatic : sender::offer::off;
    chosen.in_flight = of.in_flight;
    chosen.recipients = {of.least_recipients, of.most_recipients};
    chosen.messages_a_connection = of.messages_a_connection;
    chosen.messages = of.messages;
    chosen.open_loop = of.open_loop;
    return chosen;
}

void fill(sender::plan& plan, const scenario& of, const apparatus& with) {
    for (std::size_t i = 0; i < users; ++i)
        plan.recipients.push_back({user_address(static_cast<std::uint32_t>(i)), "", "", 1});
    plan.senders = {{"one@example.org", "", "", 1}, {"two@example.org", "", "", 2}};
    plan.generated = with.messages(of.kind_of_messages);
    plan.helo = "client.example";
    plan.load.seed = of.seed;
    plan.load.open_loop = of.open_loop;
    if (of.poisson) plan.load.arrival = postal::load::arrival::poisson;
    if (of.rate > 0)
        plan.load.rate = postal::load::rate_curve::constant(postal::base::rate{of.rate});
}

// Says that to those whom it concerns, at its time.
class appointment final : public actor {
  public:
    template <class What>
    appointment(timeline& time, nanoseconds after, What what) : what_(std::move(what)) {
        time.wake(*this, timeline::start() + after);
    }
    void act() override { what_(); }

  private:
    std::function<void()> what_;
};

class world {
  public:
    world(const scenario& of, apparatus& with, shown what)
        : of_(of),
          with_(with),
          transcript_(time_, what == shown::transcript),
          plan_(options_of(of)),
          store_(time_, of, books_),
          servers_{with, of, time_, books_, transcript_},
          entries_(filled(), books_),
          maker_(plan_),
          outcomes_(with.senders(), &entries_, of.lmtp),
          gate_(time_, plan_, with.senders()),
          clients_{of,
                   time_,
                   plan_,
                   maker_,
                   outcomes_,
                   gate_,
                   with.senders(),
                   transcript_,
                   [this](line_number which) { return dial(which); }} {
        if (of.agents) servers_.agents = &agents_.emplace(time_, of, transcript_);
        if (!of.visits.empty()) servers_.store = &store_;
        for (std::uint32_t session = 0; session < of.sessions; ++session) {
            sessions_.push_back(std::make_unique<client>(clients_, session));
            time_.wake(*sessions_.back());
        }
        make_appointments();
    }
    world(const world&) = delete;
    world& operator=(const world&) = delete;
    ~world() {
        if (agents_) agents_->give_up();
    }

    result run() {
        while (time_.steps() < most_steps && time_.since_start() < longest_run && time_.step())
            continue;
        result made;
        if (time_.steps() >= most_steps || time_.since_start() >= longest_run)
            made.wrong.emplace_back("it does not end");
        look_for_leftovers(made.wrong);
        if (made.wrong.empty())
            made.wrong =
                judge({of_, records_, books_, store_, with_.senders(), with_.servers().tally()});
        made.steps = time_.steps();
        made.messages = with_.senders().started;
        made.accepted = with_.senders().messages;
        made.in_doubt = with_.senders().in_doubt;
        return made;
    }

  private:
    const sender::plan& filled() {
        fill(plan_, of_, with_);
        return plan_;
    }

    // Nobody listens where the scenario has a reply in the place of a connection.
    dialled dial(line_number which) {
        const bool refused =
            std::any_of(of_.refusals.begin(), of_.refusals.end(), [&](const server_fault& one) {
                return one.where == which && one.code != 0 &&
                       one.stage == postal::proto::server_stage::connect;
            });
        if (refused) return {};
        lines_.emplace_back(time_, of_, which, transcript_);
        records_.emplace_back(lines_.back());
        served_.emplace_back(servers_, lines_.back(), records_.back());
        time_.wake(served_.back(), time_.now() + of_.latency);
        return {&lines_.back(), &records_.back()};
    }

    void make_appointments() {
        for (const reader_visit& one : of_.visits)
            appoint(one.when, [this, &one] { store_.visit(one); });
        if (of_.stop_gently) appoint(*of_.stop_gently, [this] { stop(); });
        if (of_.stop_now) {
            appoint(*of_.stop_now, [this] {
                clients_.stopped_now = true;
                stop();
            });
        }
        if (!of_.servers_stop) return;
        appoint(*of_.servers_stop, [this] {
            transcript_.note({}, "the servers stop, and others take their place");
            for (server_session& one : served_)
                one.stop();
        });
    }
    template <class What>
    void appoint(nanoseconds after, What what) {
        appointments_.push_back(std::make_unique<appointment>(time_, after, std::move(what)));
    }

    void stop() {
        transcript_.note({}, clients_.stopped_now ? "the run stops at once" : "the run stops");
        if (of_.open_loop && !clients_.stopped_now) return gate_.finish_due();
        if (!std::exchange(clients_.stopping, true)) gate_.stop();
        for (const auto& one : sessions_)
            time_.wake(*one);
    }

    void look_for_leftovers(std::vector<std::string>& wrong) {
        if (agents_) agents_->look_for_leftovers();
        if (agents_ && !agents_->complaint().empty()) wrong.push_back(agents_->complaint());
        for (std::size_t i = 0; i < sessions_.size(); ++i) {
            if (!sessions_[i]->over()) wrong.push_back(fmt::format("session {} hangs", i));
            if (sessions_[i]->leaves_something())
                wrong.push_back(fmt::format("session {} leaves a transaction open", i));
        }
        for (std::size_t i = 0; i < served_.size(); ++i) {
            const line_number& at = lines_[i].number();
            if (!served_[i].over())
                wrong.push_back(
                    fmt::format("the server of connection {}.{} hangs", at.session, at.connection));
        }
    }

    const scenario& of_;
    apparatus& with_;
    timeline time_;
    transcript transcript_;
    books books_;
    sender::plan plan_;
    std::optional<agents> agents_;
    mailboxes store_;
    server_house servers_;
    sender::ledger_entries entries_;
    sender::message_maker maker_;
    sender::message_outcomes outcomes_;
    gate gate_;
    client_house clients_;
    std::deque<connection> lines_;
    std::deque<connection_record> records_;
    std::deque<server_session> served_;
    std::vector<std::unique_ptr<client>> sessions_;
    std::vector<std::unique_ptr<appointment>> appointments_;
};

}  // namespace

result perform(const scenario& of, apparatus& with, shown what) {
    with.reset();
    world made(of, with, what);
    try {
        return made.run();
    } catch (const going_round& wrong) {
        return {.wrong = {wrong.what()}};
    }
}

}  // namespace simulation
