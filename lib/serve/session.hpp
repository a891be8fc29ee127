// One client's session with a mail server of ours: bytes from the socket through the state machine,
// and back.
//
// Flow: a program derives from this, says in the hooks what it does with mail, and spawns
//   serve_client<my_session>(context, std::move(client));
// run() reads, lets process() run the commands that have come, sends all their replies at once, and
// waits. process() stops early only to hold a reply back (stage delays), to wait for answers that a
// message's end did not get at once, to send a full buffer, to let others run after many commands, to
// begin TLS, or to close. While replies
// cannot be sent nothing is read, so that a client which never reads cannot make memory grow. A
// program that judges stages may refuse, delay, read slowly or cut the connection at each of them.
//
// A client over a network has only so much time: a line as long as silence may last, content that
// plus what it takes at min_data_rate, a message message_time, and so has a session from its last whole
// message on (message_time.hpp); what we hold back ourselves does not
// count. Whoever is too slow, is one too many from an address, or does too much that is wrong or for
// nothing, hears why, and is counted as the refusal that it hears and as a strike of that limit.
//
// What it counts: a message is started with MAIL; over LMTP the first recipient is, and each other
// with its RCPT. Those that the program does not count itself end as rejected or deferred, as their
// client counts them (by the reply to MAIL, to the content, to DATA or BDAT, or to RCPT: over SMTP
// when no recipient was taken, deferred if one of them was), failed (lost or given up before their
// end), or in doubt (lost while outcome_pending()). Of those that the program has accepted, the ones
// whose reply could not be written, or that had it written when their client had closed already and
// had not said QUIT, are unheard. Every refusal is an error by stage and code, but for what only
// follows from one before (RFC 2920 3.1), and so is every end without QUIT that is not our own stop
// or the close of an idle connection (session_leaving.cpp), and every message that our own stop ended. What cannot be allocated for a client ends its session,
// as an error with the reason `resources`, and no other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "load/content_time.hpp"
#include "load/watched.hpp"
#include "net/connection.hpp"
#include "proto/smtp/server.hpp"
#include "serve/accepted_client.hpp"
#include "serve/message_time.hpp"
#include "serve/worker_context.hpp"

namespace postal::serve {

// One more challenge, in octets, or the reply that ends the exchange.
struct auth_answer {
    bool asks = false;
    std::string challenge{};
    proto::server_reply reply = proto::replies::auth_wrong;
};

// How a connection is ended on purpose.
enum class cut : std::uint8_t {
    no,
    fin,     // in good order
    rst,     // with a reset
    silence  // nothing is said, and what comes thrown away, until the client goes or its time is over
};

// What a program adds to the stage that is being answered.
struct stage_effect {
    std::chrono::nanoseconds delay{0};  // beside that of the rules
    cut ending = cut::no;
    bool says_reply = true;  // before that ending
    std::string_view
        why{};  // of the ending, for the error that it is counted as; outlives the session
    bool is_error = true;         // that ending: not where a 421 has said so
    std::uint64_t read_rate = 0;  // octets a second that are read from here on; 0: as before
    std::uint64_t window = 0;     // octets of the socket's receive buffer; 0: as before
};

// What a session may be at: stats::run_description's.
[[nodiscard]] std::vector<std::string> session_states();

class session : public load::watched, private proto::stage_judge {
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
    // Asked where the rules say so, at all stages but mail and rcpt: at connect, and as
    // proto::stage_judge says. What is answered at connect is not said.
    virtual std::optional<proto::server_reply> judge_stage(proto::server_stage,
                                                           std::string_view /*verb*/,
                                                           std::string_view /*argument*/) {
        return std::nullopt;
    }
    // Of machine().current_path(); senders are asked about only if the rules say so. 421 ends the
    // session.
    virtual proto::server_reply judge_sender() { return proto::replies::sender_ok; }
    virtual proto::server_reply judge_recipient() = 0;
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
    // The session is over: whether answers that were given when the client may have gone were heard.
    virtual void doubtful_answers(bool) {}
    virtual void stop_now() {}
    virtual void stop_gently() {}

    // ---- what the hooks may use ----

    proto::smtp_server& machine() noexcept { return machine_; }
    const proto::smtp_server& machine() const noexcept { return machine_; }
    std::string& output() noexcept { return output_->text; }
    stats::tally& tally() noexcept { return context_.own.tally(); }
    load::steady_time now() const noexcept { return now_; }
    // Who is served: the peer's address, or what a trusted proxy says it is.
    std::string client_name() const;
    std::optional<net::ip_address> client_address() const;  // nothing over a Unix socket
    // An error, and a strike of the limit that it names.
    void count_refusal(proto::server_stage stage, const proto::server_reply& reply);
    // Of what all may hold, within what may be held for this client.
    held_octets::share share_of_held() const {
        return held_octets::share(context_.rules.held.get(), holder_);
    }
    net::connection& connection() noexcept { return connection_; }
    // Messages (LMTP: recipients) begun and without an outcome.
    std::uint32_t units_begun() const noexcept { return begun_; }
    void units_ended(std::uint32_t units) noexcept { begun_ -= units; }
    // What stands in the output now answers a message, of which so many units are accepted; its time
    // is counted when it has been sent.
    void answered(std::uint32_t accepted) {
        output_->answered.push_back(mail_at_);
        accepted_in_output_ += accepted;
    }
    // Who closes before an answer, and has not said QUIT, does not hear it.
    bool client_may_have_gone() const noexcept { return connection_.peer_has_ended(); }
    // Something has changed: answers_ready(), work_left().
    void wake();
    // Within judge_...() and end_message(), for the stage that is being judged. The longer of two
    // delays holds, and the first of two endings.
    void add_effect(const stage_effect& one);

    static constexpr proto::server_reply closing_for_stop{421, "4.3.2", "Shutting down"};

  private:
    enum class next : std::uint8_t { read, flush, others, hold, answers, secure, cut, close, stop };
    // What is over when the deadline passes.
    enum class patience : std::uint8_t {
        with_silence,
        with_content,
        with_message,
        without_message
    };
    // What the next octets were before the machine took them.
    enum class was_reading : std::uint8_t { commands, secrets, content };
    // Whether the connection is closed behind what is sent: it must not be put off then.
    enum class closing_after : std::uint8_t { no, yes };

    boost::asio::awaitable<void> converse();
    boost::asio::awaitable<void> let_others_run();
    boost::asio::awaitable<void> hear_proxy();
    boost::asio::awaitable<void> secure();
    boost::asio::awaitable<void> greet();
    boost::asio::awaitable<void> hold_back();
    boost::asio::awaitable<void> cut_off();
    boost::asio::awaitable<void> read_no_faster();
    boost::asio::awaitable<void> wait_for_answers();
    boost::asio::awaitable<void> finish_work();
    boost::asio::awaitable<void> sleep_until_woken();
    void watch_for_leaving();
    bool client_has_left();
    bool quit_is_said();
    bool leaves_idle();
    boost::asio::awaitable<void> pause(std::chrono::nanoseconds how_long);
    boost::asio::awaitable<void> send_slowly();

    std::optional<net::ip_address> limited_origin() const;
    bool may_hold_more() const;
    bool admitted();
    void be_patient();
    void wait_for_client();
    bool read_input();
    void keep_input();
    next process();
    next act_on(const proto::server_step& step, std::size_t before);
    next in_time(proto::server_stage stage, std::size_t before, next what);
    next begin_tls(std::size_t before);
    void act_on_reply(const proto::server_step& step);
    next answer_auth(const proto::server_step& step);
    void write_down(std::string_view taken, was_reading before);
    bool at_rest() const;
    bool send_now(closing_after close = closing_after::no);
    void hang_up();

    std::optional<proto::server_reply> judge(proto::server_stage stage, std::string_view verb,
                                             std::string_view argument) final {
        return judge_stage(stage, verb, argument);
    }
    next end_if_closing(const proto::server_reply& answer);
    void command_answered(proto::server_stage stage, const proto::server_reply& reply);
    void sender_answered(const proto::server_reply& reply);
    void recipient_answered(const proto::server_reply& reply);
    void content_answered(const proto::server_reply& reply);
    bool follows_refusal(proto::server_stage stage) const;
    bool lmtp() const noexcept { return context_.rules.server.speaks == proto::dialect::lmtp; }
    void units_begin();
    void units_refused(std::uint32_t units, unsigned code);
    void sender_comes();
    void message_begins();
    void message_ends();
    void message_refused(const proto::server_step& step);
    void sent_away(const proto::server_step& step);
    void message_dropped();
    void count_answered();
    void note_accepted();
    void count_unheard();
    void lost(net::fault why);
    void too_slow();
    void close_politely(const proto::server_reply& last_words);

    std::chrono::nanoseconds delay_at(proto::server_stage stage) const noexcept {
        return context_.rules.delays[static_cast<std::size_t>(stage)];
    }

    worker_context& context_;
    const session_slot slot_;
    const bool trusted_;  // over a Unix socket
    net::connection connection_;
    shared_output::loan output_;
    proto::smtp_server machine_;
    std::string_view input_;  // what is left of the last read: in context_.input or kept_
    std::string kept_;        // input across a suspension
    std::string unsent_;      // output, likewise
    std::string half_line_;   // of a command, until the transcript may have it
    bool half_secret_ = false;
    std::string held_;  // a reply whose time has not come
    std::chrono::nanoseconds hold_for_{0};
    next then_ = next::read;                         // once it has come
    std::shared_ptr<held_octets::client> holder_{};  // where it is one of many
    stage_effect effect_{};                          // of the stage that is being answered
    cut cut_ = cut::no;
    bool answers_first_ = false;   // what is cut is cut behind a reply that is still to come
    bool unsaid_ = false;          // the reply behind which the connection is cut
    std::uint64_t read_rate_ = 0;  // octets a second; 0: as they come
    std::size_t read_at_once_ = 0;
    boost::asio::steady_timer* pausing_ = nullptr;
    boost::asio::steady_timer* sleeping_ = nullptr;  // until wake()
    load::steady_time now_{};
    load::steady_time mail_at_{};
    load::steady_time data_at_{};
    message_time message_time_;
    load::content_time content_time_;
    patience patience_ = patience::with_silence;
    unsigned commands_left_ = 0;  // before others have their turn
    std::uint32_t begun_ = 0;     // units of the transaction, without an outcome yet
    // The code that refused the transaction's sender, content or, so far, all its recipients.
    unsigned refusal_ = 0;
    bool had_transaction_ = false;
    bool recipient_named_ = false;
    bool pipelined_ = false;  // more stood in the input when MAIL, or a RCPT, was answered
    // Units that are accepted: in the output; within what may not have left, which it has when
    // octets_out comes to said_until_; answered when the client may have gone.
    std::uint32_t accepted_in_output_ = 0;
    std::uint32_t accepted_not_left_ = 0;
    std::uint32_t accepted_in_doubt_ = 0;
    std::uint64_t said_ = 0;  // octets of output so far
    std::uint64_t said_until_ = 0;
    unsigned reads_in_a_row_ = 0;
    bool tls_at_once_ = false;
    bool shaking_hands_ = false;
    std::optional<net::ip_endpoint> client_{};  // as a proxy has it
    bool reading_ = false;                      // suspended, waiting for the client
    bool writing_ = false;
    bool closing_ = false;
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
