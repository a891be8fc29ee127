// SPDX-License-Identifier: GPL-3.0-or-later
// Who visits a mailbox, and with what: handed to the dialogue of a connection.
#pragma once

#include <cstdint>

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

    // In the identities of what it appends: a stream of its own, as each session's is.
    struct append_stream {
        std::uint64_t session = 0;  // of the whole run
        std::uint64_t& appended;
    };

    bool stopping() const noexcept { return context.shared.own.stopping(); }

    worker_context& context;
    client::channel& connection;
    examiner& messages;
    const account& who;
    base::random_source& random;
    place at;
    const net::endpoint& server;
    append_stream appends;
};

}  // namespace postal::rabid
