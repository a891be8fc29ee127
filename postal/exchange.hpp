// SPDX-License-Identifier: GPL-3.0-or-later
// The mail transactions of one connection: what to say next, and what each reply means.
//
// Flow:
//   begin(offered, left);                  after EHLO
//   loop:
//     compose(now, written);               says all that may be said now
//     while wants_ticket() and the caller has one: take(it), compose() again
//     write gather_output(), then output_written(); octets_left() as they leave
//     hear(octets, now)                    ends transactions, counts them
//     when idle(): the caller waits for a ticket, or leaves
//   lost(how, now)                         the connection broke: ends whatever is in flight
//
// Without PIPELINING each command waits for its reply. With it (RFC 2920) an envelope is one write;
// with --pipelining overlap the end of one message and the envelope of the next go together. With
// CHUNKING (RFC 3030) the message follows its envelope at once, and up to in_flight transactions
// overlap, with RSET between them: the transaction of a chunk that fails stays open until then.
//
// Replies come in the order of the commands (RFC 2920 3.1); `expected_` holds what each will
// answer. A reply that nothing asked for, or of a class that its command cannot have, breaks the
// connection: it is counted and not followed.
//
// No I/O, no clock and no schedule in here: tickets, moments and messages are handed in, and what
// became of each message is told to message_outcomes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error_names.hpp"
#include "client/stage.hpp"
#include "load/admission.hpp"
#include "load/watched.hpp"
#include "net/gather.hpp"
#include "net/transcript.hpp"
#include "postal/message_maker.hpp"
#include "postal/message_outcomes.hpp"
#include "postal/plan.hpp"
#include "postal/transaction.hpp"
#include "proto/smtp/capabilities.hpp"
#include "proto/smtp/reply_parser.hpp"

namespace postal::sender {

using client::stage;

// What a connection is good for after something was heard on it.
enum class hearing : std::uint8_t {
    go_on,
    closing,  // the server said 421
    broken    // its replies make no sense any more; counted already
};

class exchange {
  public:
    // All must outlive it.
    exchange(const plan& of, message_maker& maker, message_outcomes& outcomes, unsigned session);

    // A new connection, which may carry `left` messages. With a `sender` all of them are from that
    // one of the plan's, who has logged in.
    void begin(const proto::capabilities& offered, std::uint64_t left,
               std::optional<std::uint32_t> sender = std::nullopt);
    // "--option VALUE: why" of what was asked for and this server does not offer; empty: all is in
    // effect.
    [[nodiscard]] std::string left_out() const;
    // As many messages as the next transaction has: over LMTP one for each recipient.
    std::uint64_t wanted() const {
        return plan_.chosen.lmtp ? maker_.recipients_of(session_, sequence_) : 1;
    }
    // The caller has got a ticket for the first or the next transaction.
    void take(load::ticket&& got) noexcept { ticket_ = std::move(got); }
    bool has_ticket() const noexcept { return ticket_.what == load::pass::go; }
    // After compose(): another transaction could begin at once.
    bool wants_ticket() const noexcept { return wants_ticket_; }
    void no_more_tickets() noexcept { over_ = true; }

    // `written`: octets that the connection has sent so far.
    void compose(moment now, std::uint64_t written);
    // What compose() has said since output_written(), once.
    net::gather& gather_output();
    // The connection has taken the output: its messages may be used for others.
    void output_written() noexcept;
    // Whether something is left of what compose() has said.
    bool has_output() const noexcept { return !text_.empty() || !segments_.empty(); }
    // The first `written` octets of the connection have left, the last of them then.
    void octets_left(std::uint64_t written, load::steady_time when) noexcept;

    // Everything that was read, reply by reply, up to one that breaks the connection. `replies`:
    // whole ones among it.
    struct heard {
        hearing what = hearing::go_on;
        std::size_t replies = 0;
    };
    heard hear(std::string_view octets, moment now);

    // Ends what is in flight, as lost for `reason`. A transaction is in doubt when its message was
    // within the octets written.
    struct breakage {
        base::error_name reason;  // empty where it is no error of the messages in flight
        std::string_view sample;
        std::uint64_t written = 0;
        bool is_counted = false;  // what broke it stands in the errors already
    };
    void lost(const breakage& how, moment now);

    // Replies that are due, and those that were and are not forgotten yet.
    std::size_t remembered() const noexcept { return expected_.size(); }

    bool idle() const noexcept { return expected_head_ == expected_.size(); }
    bool anything_open() const noexcept { return open_ > 0; }
    bool finished() const noexcept { return left_ == 0 || over_; }
    bool any_accepted() const noexcept { return any_accepted_; }
    // What the next reply answers; only when not idle().
    stage awaited() const noexcept { return expected_[expected_head_]; }
    // The same, but `data` as long as the message is not yet written.
    stage awaited(std::uint64_t written) const noexcept;
    // Whether that is an envelope that was sent behind the end of a message by now answered.
    bool awaits_overlapped_mail() const noexcept {
        return !idle() && awaited() == stage::mail && slots_[first_slot_].overlapped;
    }

    // Over LMTP "1 of 3 recipients answered", when the replies behind a message broke off among
    // them; else empty.
    std::string broken_among_recipients() const;

    void set_transcript(net::transcript* where) noexcept { transcript_ = where; }
    // Whose errors they are, for people; must outlive it.
    void set_server(std::string_view name) noexcept { server_ = name; }

  private:
    // Text up to `text_end`, then a message.
    struct segment {
        std::size_t text_end;
        const mail::message* message;
    };

    bool may_begin();
    void begin_transaction(moment now);
    base::error_name missing_for(const transaction& tx) const noexcept;
    void leave_out(transaction& tx, base::error_name missing, moment now);
    bool say_next(transaction& tx);
    void say_mail(transaction& tx);
    void say_rcpt(transaction& tx);
    bool asks_for_dsn() const noexcept;
    void name_envelope(const transaction& tx);
    void say_data(transaction& tx);
    void say_message(transaction& tx);
    void say_rset();
    // Where in the connection's output the next octet will stand.
    std::uint64_t next_octet() const noexcept { return queued_ + text_.size() + message_octets_; }
    void expect(stage what) { expected_.push_back(what); }
    void add_text(std::string_view text);

    hearing on_reply(const reply& said, moment now);
    void unexpected(base::error_name reason, std::string_view sample);
    void forget_answered();
    hearing on_mail_reply(transaction& tx, const reply& said, moment now);
    hearing on_rcpt_reply(transaction& tx, const reply& said, moment now);
    hearing on_data_reply(transaction& tx, const reply& said, moment now);
    hearing on_end_reply(transaction& tx, const reply& said, moment now);
    hearing on_rset_reply(const reply& said);
    hearing on_shutdown(const reply& said, moment now);
    hearing wrong_class(stage where, const reply& said);
    void end_front(load::steady_time now);
    void give_back(transaction& tx) noexcept;

    const plan& plan_;
    message_maker& maker_;
    message_outcomes& outcomes_;
    proto::reply_parser parser_;
    unsigned session_;
    std::uint64_t sequence_ = 0;
    proto::capabilities offered_;
    bool pipelining_ = false;
    bool chunking_ = false;
    bool over_ = false;  // no more tickets will come
    bool wants_ticket_ = false;
    bool reset_due_ = false;
    bool left_one_out_ = false;  // and nothing is begun before RSET is answered
    bool closing_ = false;       // 421 was said for one of several recipients
    bool any_accepted_ = false;
    std::size_t most_open_ = 1;
    std::uint64_t left_ = 0;
    std::optional<std::uint32_t> sender_;
    load::ticket ticket_;             // in hand, if there is one
    std::vector<transaction> slots_;  // a ring: open ones from first_slot_ on
    std::size_t first_slot_ = 0;
    std::size_t open_ = 0;
    std::size_t departed_ = 0;  // of those, from the first on, whose message has begun to leave
    std::vector<stage> expected_;
    std::size_t expected_head_ = 0;
    std::string text_;
    std::string envid_;  // scratch
    std::vector<segment> segments_;
    std::vector<mail::message*> sending_;
    std::uint64_t queued_ = 0;          // octets of the connection before this output
    std::uint64_t message_octets_ = 0;  // of the messages in the output
    net::gather output_;
    net::transcript* transcript_ = nullptr;
    std::string_view server_;
    stage last_answered_ = stage::ehlo;
};

}  // namespace postal::sender
