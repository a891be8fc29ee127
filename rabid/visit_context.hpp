// Who visits a mailbox, and with what: handed to the dialogue of a connection.
#pragma once

#include "base/random.hpp"
#include "client/channel.hpp"
#include "net/endpoint.hpp"
#include "rabid/accounts.hpp"
#include "rabid/examiner.hpp"
#include "rabid/phases.hpp"
#include "rabid/worker_context.hpp"

namespace postal::rabid {

struct visit_context {
    // The place of an account in the plan, and of its server.
    struct place {
        std::size_t account = 0;
        std::size_t server = 0;
    };

    worker_context& context;
    client::channel& connection;
    examiner& messages;
    const account& who;
    base::random_source& random;
    place at;
    const net::endpoint& server;
};

}  // namespace postal::rabid
