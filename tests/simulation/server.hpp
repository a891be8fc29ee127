// SPDX-License-Identifier: GPL-3.0-or-later
// One session of a mail server: its dialogue over a simulated connection, as serve::session has it
// over a socket. Where the scenario has no memory for it, it ends as serve::session does then.
#pragma once

#include <cstdint>

#include "dialogue.hpp"
#include "network.hpp"
#include "patient.hpp"
#include "record.hpp"
#include "server_house.hpp"
#include "timeline.hpp"
#include "voice.hpp"

namespace simulation {

class server_session final : public actor {
  public:
    // All must outlive it.
    server_session(server_house& house, connection& line, connection_record& truth);

    void act() override;
    // Gently: what is under way may end.
    void stop();
    [[nodiscard]] bool over() const noexcept { return flow_.over; }

  private:
    using next = server_dialogue::next;
    enum class fault : std::uint8_t { closed, reset, timeout };
    using waiting = patient::waiting;

    // How far the conversation is.
    struct progress {
        next now = next::read;  // once all has been said
        bool sending = false;
        bool stopping = false;
        bool silent = false;
        bool told = false;  // the desk knows that the client has left
        bool leaving = false;
        bool over = false;
    };

    void go_on();
    void converse();
    bool send();
    bool read();
    bool await_answers();
    [[nodiscard]] bool client_has_left() const;
    void cut_off();
    void fall_silent();

    void lost(fault why);
    void close_politely(const postal::proto::server_reply& last_words);
    void hang_up();
    void no_memory();
    void end();
    [[nodiscard]] const postal::proto::smtp_server& machine() const noexcept {
        return dialogue_.machine();
    }
    [[nodiscard]] postal::serve::patience& patience() noexcept { return dialogue_.patience(); }
    postal::stats::tally& tally() noexcept { return house_.with.servers().tally(); }

    server_house& house_;
    connection& line_;
    voice voice_;
    server_dialogue dialogue_;
    patient waits_;
    progress flow_;
};

}  // namespace simulation
