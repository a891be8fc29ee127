// SPDX-License-Identifier: GPL-3.0-or-later
// What a simulated server says: replies on their way from the machine to the connection, held back,
// withdrawn or turned into lies, and the note of each in the record.
//
// Flow: the machine writes into room(); note() or note_all() what it wrote; settle and let go as
// serve::held_reply says; flush() until it gives true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "liar.hpp"
#include "network.hpp"
#include "proto/smtp/server.hpp"
#include "record.hpp"
#include "serve/heard_answers.hpp"
#include "serve/held_reply.hpp"
#include "serve/shared_output.hpp"

namespace simulation {

class voice {
  public:
    // All must outlive it.
    voice(const scenario& of, postal::serve::shared_output& output, connection& line,
          connection_record& truth)
        : line_(line), truth_(truth), liar_(of, line.number()), output_(output) {
        truth_.lies = !liar_.honest();
    }

    std::string& room() { return held_.room(output_->text); }
    postal::serve::held_reply& held() noexcept { return held_; }
    [[nodiscard]] std::size_t said_so_far() { return sent_ + output_->text.size() + room().size(); }
    void let_go() { held_.let_go(output_->text); }
    // The reply that was written last is not said.
    void unsay();

    // A reply to a command, that ends what was said so far.
    void note(postal::proto::server_stage stage, unsigned code);
    // So many replies to a message, since so much had been said.
    void note_ends(std::uint32_t replies, unsigned code, std::size_t said_before);
    void say_goodbye(const postal::proto::server_reply& last_words);

    // What was said accepts so many messages (LMTP: recipients).
    void accepted(std::uint32_t units) noexcept { heard_.accepted(units); }
    // False while there is no room for it.
    bool flush();
    // What has not been sent is never said.
    void forget() {
        output_.give_back();
        unsent_.clear();
    }
    [[nodiscard]] bool blocked() const noexcept { return !unsent_.empty(); }
    [[nodiscard]] bool everything_heard() const noexcept { return heard_.all(octets_left()); }
    [[nodiscard]] std::uint64_t unheard(bool quit) const noexcept {
        return heard_.unheard(octets_left(), quit);
    }

  private:
    // Lies have another length than what they stand for; they are not compared.
    [[nodiscard]] std::size_t octets_left() const noexcept {
        return line_.from(side::server).said().size();
    }

    connection& line_;
    connection_record& truth_;
    liar liar_;
    postal::serve::held_reply held_{true};
    postal::serve::heard_answers heard_;
    postal::serve::shared_output::loan output_;
    std::string unsent_;    // what the client is told of what was sent
    std::size_t sent_ = 0;  // octets of replies
};

}  // namespace simulation
