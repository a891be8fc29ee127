// SPDX-License-Identifier: GPL-3.0-or-later
// One recipient's delivery: a place in the queue, an agent, its end, and the answer.
//
// Flow: begin(), once it is known whose home the agent is to have, or cannot_begin(); then, once,
// owner.delivered(*this) says that answer() is there. It may be said from within these. Everything
// happens in the session's worker.
//
// It may wait for an agent, what comes before begin() included, for `queue_timeout`, and is
// deferred then. The agent has `timeout` to end; then its process group gets TERM and, kill_after
// later, KILL. One that another process of its user has stopped is continued within a second, and
// killed the third time. What it prints is read to the end so that it never blocks, and the first
// 64 KiB are kept. An end with status 0 is a delivery, whatever was read of the message; everything
// else follows the table of exit statuses. 250 is never said before the agent has ended. A message
// with headers of its own is a copy, which counts as held while its agent runs; where it may not
// be, its recipient is deferred.
//
// cancel() is for what still waits when the server stops or the client leaves; abandon() lets go of
// an agent that runs, which then finishes by itself or is ended by the guardian when its time is
// over, and leaves the outcome in doubt.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "lmtp-deliver/dispatcher.hpp"
#include "lmtp-deliver/exit_statuses.hpp"
#include "lmtp-deliver/transaction.hpp"
#include "lmtp-deliver/worker_context.hpp"
#include "load/watched.hpp"
#include "net/poller.hpp"
#include "os/child.hpp"
#include "proto/smtp/server_reply.hpp"
#include "serve/held_octets.hpp"

namespace postal::lmtp_deliver {

delivery_reply to_delivery_reply(const proto::server_reply& of);

class delivery final : public load::watched, public dispatcher::waiter {
  public:
    class owner {
      public:
        virtual void delivered(delivery& which) = 0;

      protected:
        ~owner() = default;
    };

    static constexpr auto kill_after = std::chrono::seconds(5);
    static constexpr proto::server_reply too_little_free{
        452, "4.3.1", "Too little free space for mail here", "min-free"};

    struct place {
        std::size_t recipient;  // of the transaction
        owner& whose;
        dispatcher::customer& customer;
    };
    delivery(worker_context& context, transaction& of, place where);
    ~delivery() override;

    void begin(worker_context::home home);
    void cannot_begin(std::string_view why);
    // False when an agent runs, or has.
    bool cancel(const delivery_reply& why);
    void abandon();

    // No event will come any more.
    bool over() const noexcept { return state_ == state::over; }
    bool begun() const noexcept { return state_ != state::fresh; }
    const mailbox& recipient() const noexcept { return of_.recipients[recipient_]; }
    // False for one that was abandoned.
    bool decided() const noexcept { return answer_.code != 0; }
    const delivery_reply& answer() const noexcept { return answer_; }

    void on_deadline() override;
    void on_stop(load::stop_kind) override {}  // its session is told

  private:
    // How far an agent that takes too long has been asked to end.
    enum class ending : std::uint8_t { not_asked, asked, killed };
    enum class reading : std::uint8_t { more, nothing_now, over };
    enum class state : std::uint8_t { fresh, queued, running, over };

    void called(dispatcher::answer how) override;
    void start();
    base::expected<void> try_to_start();
    base::expected<void> start_agent();
    base::expected<base::file_descriptor> open_message(std::string_view head);
    bool may_copy(std::string_view head);
    base::expected<base::file_descriptor> make_output();
    base::expected<void> guard(pid_t child);
    void watch_agent(const os::child& started);
    void watch_output();
    void read_output();
    reading read_some(int from);
    void drain_output();
    void close_output();
    bool stands_still();
    void ask_to_end(int signal, load::steady_time now);
    void give_up();
    void agent_ended();
    bool has_ended();  // and what follows from it
    void judge_end(const os::child_end& how, bool timed_out);
    void decide(const agent_end& how, std::string_view output);
    void end(delivery_reply answer);

    stats::tally& tally() noexcept { return context_.own.tally(); }

    worker_context& context_;
    transaction& of_;
    std::size_t recipient_;
    owner& whose_;
    worker_context::home home_;
    os::child agent_;
    net::descriptor exit_;             // the agent's pidfd
    base::file_descriptor unwatched_;  // what it prints, for the first moments,
    net::descriptor output_;           // and later
    std::string printed_;
    load::steady_time started_{};
    load::steady_time due_{};                            // when it is asked to end, or asked again
    std::size_t guarded_ = os::guardian::list::nowhere;  // its place in the guardian's list
    serve::held_octets::share copy_;                     // of the message, with headers of its own
    delivery_reply answer_;
    state state_ = state::fresh;
    ending ending_ = ending::not_asked;
    unsigned stops_ = 0;  // so often it was found stopped
    bool abandoned_ = false;
};

}  // namespace postal::lmtp_deliver
