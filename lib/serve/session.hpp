// SPDX-License-Identifier: GPL-3.0-or-later
// One client's session with a mail server of ours: who comes, the conversation, and how it ends.
//
// Flow: a program derives from this, says in the hooks of mail_program what it does with mail, and
// spawns
//   serve_client<my_session>(context, std::move(client));
// run() reads, lets the dialogue run the commands that have come, sends all their replies at once,
// and does then what the dialogue says: waits, for octets, answers or a reply's time, begins TLS,
// or closes.
//
//   arrival, departure   how it begins and ends
//   dialogue             what is answered at each stage
//   client_parts         all that there is of one client: what he has said and not heard, how long
//                        he is waited for, what becomes of his messages
//
// What cannot be allocated for a client ends its session, as an error with the reason `resources`,
// and no other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "load/watched.hpp"
#include "net/connection.hpp"
#include "proto/smtp/server.hpp"
#include "proto/smtp/stage_effect.hpp"
#include "serve/accepted_client.hpp"
#include "serve/arrival.hpp"
#include "serve/client_parts.hpp"
#include "serve/departure.hpp"
#include "serve/dialogue.hpp"
#include "serve/mail_program.hpp"
#include "serve/worker_context.hpp"

namespace postal::serve {

using proto::cut;
using proto::stage_effect;

class session : public load::watched, protected mail_program {
  public:
    session(worker_context& context, accepted_client&& who, std::string_view host_name);
    ~session() override;

    // Both end what the session waits for.
    void on_deadline() final;
    void on_stop(load::stop_kind how) final;
    std::optional<std::size_t> session_state() const noexcept final {
        return client_.waits.shown(client_.machine);
    }

    boost::asio::awaitable<void> run();

  protected:
    // ---- what the hooks may use ----

    proto::smtp_server& machine() noexcept { return client_.machine; }
    const proto::smtp_server& machine() const noexcept { return client_.machine; }
    // What the machine says comes here.
    std::string& output() noexcept { return dialogue_.output(); }
    stats::tally& tally() noexcept { return client_.tally(); }
    load::steady_time now() const noexcept { return client_.time.now(); }
    // Who is served: the peer's address, or what a trusted proxy says it is.
    std::string client_name() const { return client_.from.name(); }
    std::optional<net::ip_address> client_address() const { return client_.from.address(); }
    // An error, and a strike of the limit that it names.
    void count_refusal(proto::server_stage stage, const proto::server_reply& reply) {
        client_.counted.refused(stage, reply);
    }
    held_octets::share share_of_held() const { return client_.from.share_of_held(); }
    net::connection& connection() noexcept { return client_.connection; }
    // Messages (LMTP: recipients) begun and without an outcome.
    std::uint32_t units_begun() noexcept { return client_.counted.books().begun(); }
    void units_ended(std::uint32_t units) noexcept { client_.counted.books().ended(units); }
    // What stands in the output now answers a message, of which so many units are accepted.
    void answered(std::uint32_t accepted) {
        client_.output.answered(client_.counted.books().mail_at(), accepted);
    }
    // Who closes before an answer, and has not said QUIT, does not hear it.
    bool client_may_have_gone() const noexcept { return client_.connection.peer_has_ended(); }
    // Something has changed: answers_ready(), work_left().
    void wake() { client_.waits.wake(); }
    // Within judge() and end_message(), for the stage that is being judged, and beside the delay of
    // the rules (held_reply.hpp); the reply is judge()'s to give.
    void add_effect(const stage_effect& one, bool answered = false) {
        dialogue_.add_effect(one, answered);
        if (one.read_rate != 0) client_.input.slow_down(one.read_rate);
        if (one.window != 0) client_.connection.shrink_window(one.window);
    }

  private:
    boost::asio::awaitable<void> converse();
    boost::asio::awaitable<void> let_others_run();
    boost::asio::awaitable<void> hold_back();
    boost::asio::awaitable<void> cut_off();
    boost::asio::awaitable<void> wait_for_answers();
    boost::asio::awaitable<void> finish_work();
    boost::asio::awaitable<void> pause(std::chrono::nanoseconds how_long);
    boost::asio::awaitable<void> send_slowly();
    void read_input();
    bool say(reply_sender::how when);

    client_parts client_;
    dialogue dialogue_;
    departure departure_;
    arrival arrival_;
    unsigned reads_in_a_row_ = 0;
};

template <class Session, class Context>
boost::asio::awaitable<void> serve_client(Context& context, accepted_client who) {
    try {
        Session client(context, std::move(who));
        co_await client.run();
    } catch (const std::bad_alloc&) {
        count_no_memory(context.own.tally());
    }
}

}  // namespace postal::serve
