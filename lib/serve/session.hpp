// SPDX-License-Identifier: GPL-3.0-or-later
// One client's session with a mail server of ours: bytes from the socket through the state machine,
// and back.
//
// Flow: a program derives from this, says in the hooks what it does with mail, and spawns
//   serve_client<my_session>(context, std::move(client));
// run() reads, lets process() run the commands that have come, sends all their replies at once, and
// waits. process() stops early only to hold a reply back (stage delays), to wait for answers that a
// message's end did not get at once, to send a full buffer, to let others run after many commands,
// to begin TLS, or to close; converse() does then what it says. While replies cannot be sent
// nothing is read, so that a client which never reads cannot make memory grow. What the machine
// asks its owner the program is asked: judge() may refuse, delay, read slowly or cut the connection
// at each stage. A reply that may have to wait is written aside, and comes to the output when its
// time has come.
//
// A client over a network has only so much time: a line as long as silence may last, content that
// plus what it takes at min_data_rate, a message message_time, and so has a session from its last
// whole message on (patience.hpp); what we hold back ourselves does not count. Whoever is too slow,
// is one too many from an address, or does too much that is wrong or for nothing, hears why, and is
// counted as the refusal that it hears and as a strike of that limit.
//
// What it counts of messages is in transaction_books.hpp. Of those that the program has accepted,
// the ones whose reply could not be written, or that had it written when their client had closed
// already and had not said QUIT, are unheard. Every refusal is an error by stage and code, but for
// what only follows from one before (RFC 2920 3.1), and so is every end without QUIT that is not
// our own stop or the close of an idle connection, and every message that our own stop ended. What
// cannot be allocated for a client ends its session, as an error with the reason `resources`, and
// no other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "load/watched.hpp"
#include "net/connection.hpp"
#include "proto/smtp/server.hpp"
#include "proto/smtp/stage_effect.hpp"
#include "serve/accepted_client.hpp"
#include "serve/client_input.hpp"
#include "serve/heard_answers.hpp"
#include "serve/held_reply.hpp"
#include "serve/patience.hpp"
#include "serve/transaction_books.hpp"
#include "serve/visitor.hpp"
#include "serve/worker_context.hpp"

namespace postal::serve {

// One more challenge, in octets, or the reply that ends the exchange.
struct auth_answer {
    bool asks = false;
    std::string challenge{};
    proto::server_reply reply = proto::replies::auth_wrong;
};

using proto::cut;
using proto::stage_effect;

// What a session may be at: stats::run_description's.
[[nodiscard]] std::vector<std::string> session_states();

class session : public load::watched {
  public:
    session(worker_context& context, accepted_client&& who, std::string_view host_name);
    ~session() override;

    // Both end what the session waits for.
    void on_deadline() final;
    void on_stop(load::stop_kind how) final;
    std::optional<std::size_t> session_state() const noexcept final;

    boost::asio::awaitable<void> run();

  protected:
    // ---- what a program does with mail; none of these may suspend ----

    virtual void greeted(std::string_view) {}  // the name in EHLO or LHLO
    // The connection is what it will be for now, and nothing has been said on it: before the
    // banner, and after STARTTLS. The time for machine().announce_auth().
    virtual void connection_ready() {}
    // What the client says in AUTH, by auth_begin and auth_line.
    virtual auth_answer judge_auth(const proto::server_step&) { return {}; }
    // What the machine asks, as proto::smtp_server::answer() says; where all stages are judged at
    // connect, too, and what is answered there is not said.
    virtual std::optional<proto::server_reply> judge(const proto::server_step& asked) = 0;
    virtual void begin_message() {}
    virtual void take_content(std::string_view) {}
    // The message is whole and well-formed: append the answers here with answer_delivery(), or see
    // to it that answers_ready() becomes true.
    virtual void end_message() = 0;
    // Answers were appended and no stage delay holds them back any more: the time to count them.
    virtual void answers_due_now() {}
    // For answers that take time. The session asks after each wake(); give_answers() appends those
    // that are there.
    virtual bool answers_ready() const { return true; }
    virtual void give_answers() {}
    // The client has left while it is owed answers: what has not been begun for it need not be.
    virtual void client_left() {}
    // Something goes on that the session must outlive, although its client may be gone.
    virtual bool work_left() const { return false; }
    // The message is whole and its client has not been told what becomes of it: a session that is
    // lost now leaves it in doubt.
    virtual bool outcome_pending() const { return false; }
    // The message has come to nothing: refused whole, or lost with the client.
    virtual void drop_message() {}
    // The session is over: whether answers that were given when the client may have gone were
    // heard.
    virtual void doubtful_answers(bool) {}
    virtual void stop_now() {}
    virtual void stop_gently() {}

    // ---- what the hooks may use ----

    proto::smtp_server& machine() noexcept { return machine_; }
    const proto::smtp_server& machine() const noexcept { return machine_; }
    // What the machine says comes here: into the output, or where it may have to wait beside it.
    std::string& output() noexcept { return reply_.room(output_->text); }
    stats::tally& tally() noexcept { return context_.own.tally(); }
    load::steady_time now() const noexcept { return now_; }
    // Who is served: the peer's address, or what a trusted proxy says it is.
    std::string client_name() const { return visitor_.name(); }
    std::optional<net::ip_address> client_address() const { return visitor_.address(); }
    // An error, and a strike of the limit that it names.
    void count_refusal(proto::server_stage stage, const proto::server_reply& reply);
    held_octets::share share_of_held() const { return visitor_.share_of_held(); }
    net::connection& connection() noexcept { return connection_; }
    // Messages (LMTP: recipients) begun and without an outcome.
    std::uint32_t units_begun() const noexcept { return books_.begun(); }
    void units_ended(std::uint32_t units) noexcept { books_.ended(units); }
    // What stands in the output now answers a message, of which so many units are accepted; its
    // time is counted when it has been sent.
    void answered(std::uint32_t accepted) {
        output_->answered.push_back(books_.mail_at());
        heard_.accepted(accepted);
    }
    // Who closes before an answer, and has not said QUIT, does not hear it.
    bool client_may_have_gone() const noexcept { return connection_.peer_has_ended(); }
    // Something has changed: answers_ready(), work_left().
    void wake();
    // Within judge() and end_message(), for the stage that is being judged, and beside the delay of
    // the rules (held_reply.hpp); the reply is judge()'s to give.
    void add_effect(const stage_effect& one, bool answered = false) {
        reply_.add(one, answered);
        if (one.read_rate != 0) input_.slow_down(one.read_rate);
        if (one.window != 0) connection_.shrink_window(one.window);
    }

    static constexpr proto::server_reply closing_for_stop{421, "4.3.2", "Shutting down"};

  private:
    // What process() stopped for.
    enum class next : std::uint8_t { read, flush, others, hold, answers, secure, cut, close, stop };
    // Suspended for what, or over. From awaiting_answers on in the order of session_states().
    enum class state : std::uint8_t {
        at_work,
        reading,
        over,
        awaiting_answers,
        held_back,
        sending,
        shaking_hands
    };
    // What comes before the client's first word.
    enum class opening : std::uint8_t { connect, banner, done };
    // Whether the connection is closed behind what is sent: it must not be put off then.
    enum class closing_after : std::uint8_t { no, yes };

    boost::asio::awaitable<void> converse();
    boost::asio::awaitable<void> let_in();
    boost::asio::awaitable<void> let_others_run();
    boost::asio::awaitable<void> hear_proxy();
    boost::asio::awaitable<void> secure();
    boost::asio::awaitable<void> hold_back();
    boost::asio::awaitable<void> cut_off();
    boost::asio::awaitable<void> wait_for_answers();
    boost::asio::awaitable<void> finish_work();
    boost::asio::awaitable<void> sleep_until_woken();
    void watch_for_leaving();
    bool client_has_left();
    bool leaves_idle();
    boost::asio::awaitable<void> pause(std::chrono::nanoseconds how_long);
    boost::asio::awaitable<void> send_slowly();

    void be_patient();
    void wait_for_client();
    void read_input();
    next process();
    next open();
    next greet(const proto::server_step& step);
    next consume();
    std::optional<proto::server_reply> asked(const proto::server_step& about);
    next act_on(const proto::server_step& step);
    next in_time(proto::server_stage stage, next what);
    next begin_tls();
    void act_on_reply(const proto::server_step& step);
    next answer_auth(const proto::server_step& step);
    bool at_rest() const;
    bool send_now(closing_after close = closing_after::no);
    void hang_up();
    bool over() const noexcept { return state_ == state::over; }

    void command_answered(proto::server_stage stage, const proto::server_reply& reply);
    void message_refused(const proto::server_step& step);
    void sent_away(const proto::server_step& step);
    void message_dropped();
    void count_answered();
    void count_unheard();
    void lost(net::fault why);
    void close_politely(const proto::server_reply& last_words);

    worker_context& context_;
    net::connection connection_;
    visitor visitor_;
    shared_output::loan output_;
    std::string unsent_;  // output, while the client does not read it
    proto::smtp_server machine_;
    client_input input_;
    held_reply reply_;
    std::chrono::nanoseconds hold_for_{0};
    next then_ = next::read;  // once its time has come
    transaction_books books_;
    heard_answers heard_;
    patience patience_;
    state state_ = state::at_work;
    opening opening_ = opening::connect;
    boost::asio::steady_timer* timer_ = nullptr;  // while it is held back or awaits answers
    load::steady_time now_{};
    unsigned commands_left_ = 0;  // before others have their turn
    unsigned reads_in_a_row_ = 0;
    bool quit_ = false;
    bool stopped_now_ = false;
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
