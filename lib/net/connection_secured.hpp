// SPDX-License-Identifier: GPL-3.0-or-later
// What a connection has beside its socket when it carries TLS; private to lib/net.
#pragma once

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "net/connection.hpp"

namespace postal::net {

inline bool would_block(int number) noexcept {
    return number == EAGAIN || number == EWOULDBLOCK;
}

// Without waiting and without SIGPIPE; -1 and errno when nothing could be sent.
ssize_t send_octets(int socket, const void* octets, std::size_t size) noexcept;

struct connection::secured {
    std::unique_ptr<tls_engine> engine;
    std::string left;     // from the peer, not taken by the engine yet
    std::string records;  // for the peer, what the socket had no room for
    // Which octets of ours the records carry that were made last: where each record ends, and how
    // much is in it. What has left is counted by whole records, for half of one is worth nothing.
    struct mark {
        std::size_t end;
        std::size_t inside;
    };
    std::vector<mark> marks;
    std::size_t left_marks = 0;   // of marks, those whose record has left
    std::size_t left_octets = 0;  // of the records
    fault later = fault::none;    // told when what came before it has been read
    bool shaken = false;          // the handshake is over
    bool said_goodbye = false;
};

}  // namespace postal::net
