// A client that was let in: its socket and its slot among the sessions.
#pragma once

#include "net/connection.hpp"
#include "serve/session_slots.hpp"

namespace postal::serve {

struct accepted_client {
    net::accepted socket;
    session_slot where;
    bool tls = false;  // from the first octet
};

}  // namespace postal::serve
