// One session of a mail server: the server's own state machine, its books, its patience and the
// reply that may have to wait, driven over a simulated connection as serve::session drives them
// over a socket, with bhm's way to end a message.
//
// What the scenario has for a stage of this connection is what the machine is told when it asks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apparatus.hpp"
#include "books.hpp"
#include "network.hpp"
#include "proto/smtp/server.hpp"
#include "record.hpp"
#include "scenario.hpp"
#include "serve/patience.hpp"
#include "serve/transaction_books.hpp"
#include "sink.hpp"
#include "timeline.hpp"
#include "voice.hpp"

namespace simulation {

// What all sessions of the servers have in common.
struct server_house {
    server_house(apparatus& with_what, const scenario& run, timeline& clock, books& ledger,
                 const transcript& events);

    apparatus& with;
    const scenario& of;
    timeline& time;
    books& rows;
    const transcript& shown;
    postal::serve::session_rules rules;
};

class server_session final : public actor {
  public:
    // All must outlive it.
    server_session(server_house& house, connection& line, connection_record& truth);

    void act() override;
    // Gently: what is under way may end.
    void stop() {
        stopping_ = true;
        house_.time.wake(*this);
    }
    [[nodiscard]] bool over() const noexcept { return over_; }

  private:
    enum class next : std::uint8_t { read, hold, cut, close, stop };
    enum class opening : std::uint8_t { connect, banner, done };
    enum class waiting : std::uint8_t { nothing, octets, room, its_time };
    enum class fault : std::uint8_t { closed, reset, timeout };

    // A message between its end and the moment when its reply is due.
    struct pending_message {
        std::uint32_t accepted = 0;
        std::uint32_t deferred = 0;
        std::uint32_t rejected = 0;
        std::vector<std::string> mailboxes{};
    };

    void converse();
    bool wait(waiting what, steady_time until);
    bool send();
    bool read();
    next process();
    next open();
    next consume();
    next act_on(const postal::proto::server_step& step, std::size_t said_before);
    next in_time(postal::proto::server_stage stage, next what);
    void cut_off();
    void fall_silent();

    std::optional<postal::proto::server_reply> judge(const postal::proto::server_step& asked);
    const server_fault* fault_at(postal::proto::server_stage stage);
    std::optional<postal::proto::server_reply> obey(const server_fault* what, bool answered);
    void act_on_reply(const postal::proto::server_step& step);
    void begin_message();
    void end_message();
    void answer_recipients(pending_message& found);
    void message_refused(const postal::proto::server_step& step, std::size_t said_before);
    void sent_away(const postal::proto::server_step& step, std::size_t said_before);
    void command_answered(postal::proto::server_stage stage,
                          const postal::proto::server_reply& reply);
    void answers_due_now();
    void look_for_nonsense(postal::proto::server_stage stage,
                           const postal::proto::server_reply& reply);

    void lost(fault why);
    void close_politely(const postal::proto::server_reply& last_words);
    void hang_up();
    void end();
    [[nodiscard]] bool leaves_idle() const;
    [[nodiscard]] bool at_rest() const;
    postal::stats::tally& tally() noexcept { return house_.with.servers().tally(); }

    server_house& house_;
    connection& line_;
    connection_record& truth_;
    voice voice_;
    postal::proto::smtp_server machine_;
    postal::serve::transaction_books books_;
    postal::serve::patience patience_;
    sink sink_;
    std::string input_;
    std::array<std::uint32_t, postal::proto::server_stage_count> asked_{};  // so often, by stage
    std::vector<std::string> recipients_;
    std::optional<pending_message> pending_;
    opening opening_ = opening::connect;
    nanoseconds hold_for_{};
    next next_ = next::read;  // once all has been said
    next then_ = next::read;  // once the time of a reply has come
    waiting waits_ = waiting::nothing;
    steady_time since_{};
    steady_time deadline_ = steady_time::max();
    bool sending_ = false;
    bool stopping_ = false;
    bool silent_ = false;
    bool quit_ = false;
    bool over_ = false;
};

}  // namespace simulation
