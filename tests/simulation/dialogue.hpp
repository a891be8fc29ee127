// SPDX-License-Identifier: GPL-3.0-or-later
// What a simulated server says to what it hears: the server's own state machine with its books and
// its patience, told by the scenario what it asks. Knows nothing of connections and waiting.
//
// Flow: hear() what has come; process() says what is to be done once all that was said has been
// sent. What becomes of mail is the desk's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "desk.hpp"
#include "network.hpp"
#include "proto/smtp/server.hpp"
#include "record.hpp"
#include "serve/patience.hpp"
#include "serve/transaction_books.hpp"
#include "server_house.hpp"
#include "stage_faults.hpp"
#include "voice.hpp"

namespace simulation {

class server_dialogue {
  public:
    enum class next : std::uint8_t { read, hold, answers, cut, close, stop };

    // All must outlive it.
    server_dialogue(server_house& house, actor& session, connection& line, connection_record& truth,
                    voice& said);

    void hear(std::string_view octets) { input_.append(octets); }
    next process();
    [[nodiscard]] nanoseconds hold_for() const noexcept { return hold_for_; }
    // The time has come for the reply that was held.
    void let_go() {
        voice_.let_go();
        if (!voice_.held().unsaid()) desk_.answers_due();
    }
    // Gently: what is under way may end.
    void stop();

    [[nodiscard]] const postal::proto::smtp_server& machine() const noexcept { return machine_; }
    [[nodiscard]] postal::serve::patience& patience() noexcept {
        patience_.it_is(house_.time.now());
        return patience_;
    }
    [[nodiscard]] simulation::desk& desk() noexcept { return desk_; }
    [[nodiscard]] bool leaves_idle() const;
    [[nodiscard]] bool quit() const noexcept { return quit_; }
    // Whatever was begun and has no outcome yet.
    void drop() {
        books_.dropped(desk_.pending());
        desk_.drop();
    }

  private:
    enum class opening : std::uint8_t { connect, banner, done };

    next open();
    next consume();
    next act_on(const postal::proto::server_step& step, std::size_t said_before);
    next in_time(postal::proto::server_stage stage, next what);
    std::optional<postal::proto::server_reply> judge(const postal::proto::server_step& asked);
    void act_on_reply(const postal::proto::server_step& step);
    void message_refused(const postal::proto::server_step& step, std::size_t said_before);
    void sent_away(const postal::proto::server_step& step, std::size_t said_before);
    void command_answered(postal::proto::server_stage stage,
                          const postal::proto::server_reply& reply);
    void look_for_nonsense(postal::proto::server_stage stage,
                           const postal::proto::server_reply& reply);
    [[nodiscard]] bool at_rest() const;

    server_house& house_;
    connection_record& truth_;
    voice& voice_;
    postal::proto::smtp_server machine_;
    postal::serve::transaction_books books_;
    postal::serve::patience patience_;
    stage_faults faults_;
    simulation::desk desk_;
    std::string input_;
    opening begun_ = opening::connect;
    next then_ = next::read;  // once the time of a reply has come
    nanoseconds hold_for_{};
    bool stopping_ = false;
    bool quit_ = false;
};

}  // namespace simulation
