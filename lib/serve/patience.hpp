// SPDX-License-Identifier: GPL-3.0-or-later
// How long a session waits for its client: for silence, for content that only drips, for a message
// without an end, and for a session without a message.
//
// Whoever came over a Unix socket is trusted, and only has to say something now and then. A line
// has as long as silence may last, however slowly its octets come. Time is passed in; nothing
// fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "load/content_time.hpp"
#include "load/watched.hpp"
#include "proto/smtp/server.hpp"
#include "serve/message_time.hpp"
#include "serve/worker_context.hpp"

namespace postal::serve {

class patience {
  public:
    // `rules` outlive it.
    patience(const session_rules& rules, bool trusted) noexcept
        : rules_(rules), trusted_(trusted) {}

    // Gives what it was until then.
    load::steady_time it_is(load::steady_time now) noexcept { return std::exchange(now_, now); }
    load::steady_time now() const noexcept { return now_; }

    // The session begins, or a message is whole.
    void begin_anew() noexcept { message_time_.restart(now_, rules_.message_time); }
    void mail_comes() noexcept { message_time_.mail_comes(now_, rules_.message_time); }
    void content_begins() noexcept { content_time_ = {}; }
    void content_waited(std::chrono::nanoseconds how_long) noexcept {
        content_time_.waited(how_long);
    }
    // By ourselves, on purpose.
    void held_back(std::chrono::nanoseconds how_long) noexcept {
        message_time_.held_back(how_long);
    }

    // When whoever says nothing has been silent for too long.
    load::steady_time of_silence() noexcept {
        ends_ = end::silence;
        return now_ + rules_.timeout;
    }
    // When the next octets must be here; `slowly`: we read at a rate of our own, and they come as
    // they must.
    load::steady_time of_client(const proto::smtp_server& said, bool slowly) noexcept;

    // Whether the time that was given last is that of silence.
    bool silence() const noexcept { return ends_ == end::silence; }
    // What the client is told otherwise, and at which stage it is.
    struct last_words {
        proto::server_stage stage;
        proto::server_reply reply;
    };
    last_words of_end(const proto::smtp_server& said) const noexcept;

  private:
    enum class end : std::uint8_t { silence, content, message, no_message };

    const session_rules& rules_;
    const bool trusted_;
    load::steady_time now_{};
    end ends_ = end::silence;
    message_time message_time_;
    load::content_time content_time_;
};

}  // namespace postal::serve
