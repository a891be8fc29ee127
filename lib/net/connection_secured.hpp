// What a connection has beside its socket when it carries TLS; private to lib/net.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

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
    std::string left;             // from the peer, not taken by the engine yet
    std::string records;          // for the peer, what the socket had no room for
    std::size_t inside = 0;       // octets of ours within those records
    fault later = fault::none;    // told when what came before it has been read
    bool shaken = false;          // the handshake is over
    bool said_goodbye = false;
};

}  // namespace postal::net
