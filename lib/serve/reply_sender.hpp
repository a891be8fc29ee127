// SPDX-License-Identifier: GPL-3.0-or-later
// The way of a session's replies to its client: what stands in the output goes out at once, or
// aside when the client does not read, and what was the last is still heard.
//
// Flow: replies are written to text(); answered() says of which messages; send_now() before the
// session waits for anything. Where that gives `later`, put_aside(), and nothing is read or
// answered until that is written, so that a client which never reads cannot make memory grow.
// hang_up() or close_politely() end the connection. unheard() says at the session's end how many
// accepted messages have a reply that could not be written, or had it written when their client
// had closed already and had not said QUIT (heard_answers.hpp). Fails as the connection does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/release.hpp"
#include "load/watched.hpp"
#include "net/connection.hpp"
#include "net/gather.hpp"
#include "net/transcript.hpp"
#include "proto/smtp/server.hpp"
#include "serve/heard_answers.hpp"
#include "serve/shared_output.hpp"
#include "serve/worker_context.hpp"

namespace postal::serve {

class reply_sender {
  public:
    // All outlive it; there need not be a transcript.
    reply_sender(worker_context& context, net::connection& to, net::transcript* transcript) noexcept
        : context_(context), connection_(to), transcript_(transcript), output_(context.output) {}

    std::string& text() noexcept { return output_->text; }
    // There is as much as goes out at once.
    bool full() noexcept { return output_->text.size() > most; }
    // What stands in the output now answers a message that was begun then, of which so many units
    // are accepted; its time is counted when it has been sent.
    void answered(load::steady_time begun, std::uint32_t accepted) {
        output_->answered.push_back(begun);
        heard_.accepted(accepted);
    }
    // Everything that was said has left, and somebody was there to hear it.
    bool all_heard() {
        connection_.settle();
        return heard_.all(connection_.octets_out);
    }
    std::uint64_t unheard(bool quit) {
        if (connection_.is_open()) connection_.settle();
        return heard_.unheard(connection_.octets_out, quit);
    }

    // `closing`: the connection is closed behind it, and it must not be put off.
    enum class how : std::uint8_t { as_it_suits, closing };
    // gone: all of it is on its way; broken: the connection has failed, as its last_fault() says.
    enum class sent : std::uint8_t { gone, broken, later };
    sent send_now(how when);
    // What has not left, into `rest`, until forget_rest().
    void put_aside(net::gather& rest);
    void forget_rest() { base::release(unsent_); }
    // Whatever is in the output is never said.
    void give_back() noexcept { output_.give_back(); }

    void hang_up();
    // Unless the client is in the middle of replies that it does not read.
    void close_politely(const proto::server_reply& last_words);

  private:
    static constexpr std::size_t most = 64 * 1024;

    void count_answered();

    worker_context& context_;
    net::connection& connection_;
    net::transcript* const transcript_;
    shared_output::loan output_;
    std::string unsent_;  // output, while the client does not read it
    heard_answers heard_;
};

}  // namespace postal::serve
