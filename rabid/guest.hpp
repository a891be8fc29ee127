// Who visits a mailbox, and with what: handed to the dialogue of a connection.
#pragma once

#include "base/random.hpp"
#include "net/endpoint.hpp"
#include "rabid/accounts.hpp"
#include "rabid/examiner.hpp"
#include "rabid/line.hpp"
#include "rabid/workshop.hpp"

namespace postal::rabid {

struct guest {
    // The place of an account in the plan, and of its server.
    struct place {
        std::size_t account = 0;
        std::size_t server = 0;
    };

    workshop& shop;
    line& connection;
    examiner& messages;
    const account& who;
    base::random_source& random;
    place at;
    const net::endpoint& server;
};

}  // namespace postal::rabid
