// SPDX-License-Identifier: GPL-3.0-or-later
// How a session ends: the client leaves, is too slow, or is told to go.
//
// An end without QUIT is an error, but for our own stop and the close of an idle connection.
// Whoever is too slow hears why, and is counted as the refusal that he hears. A session ends once;
// what comes after that is ignored. Nothing here fails but for memory.
#pragma once

#include "net/fault.hpp"
#include "proto/smtp/server.hpp"
#include "serve/client_parts.hpp"
#include "serve/dialogue.hpp"

namespace postal::serve {

inline constexpr proto::server_reply closing_for_stop{421, "4.3.2", "Shutting down"};

class departure {
  public:
    // Both outlive it.
    departure(client_parts& of, const dialogue& with) noexcept : of_(of), dialogue_(with) {}

    // Without QUIT.
    void lost(net::fault why);
    void hang_up();
    void close_politely(const proto::server_reply& last_words);

    // Whether nobody waits for answers any more.
    bool client_has_left();
    // From here on the session is woken when he leaves.
    void watch();

  private:
    bool leaves_idle();

    client_parts& of_;
    const dialogue& dialogue_;
};

}  // namespace postal::serve
