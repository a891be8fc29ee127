// The mail transactions of one connection: what to say next, and what each reply means.
//
// Flow:
//   begin(offered, left);                     after EHLO
//   loop:
//     compose(now);                           queues all that may be said now into output()
//     write output()
//     for each reply: on_reply(parser, now)   ends transactions, counts them
//     when idle(): the caller waits for a ticket, or leaves
//   lost(reason, written)                     the connection broke: ends whatever is in flight
//
// Without PIPELINING each command waits for its reply. With it (RFC 2920) an envelope is one write,
// and the end of one message and the envelope of the next go together. With CHUNKING (RFC 3030) the
// message follows its envelope at once, and up to in_flight transactions overlap, with RSET between
// them: the transaction of a chunk that fails stays open until then.
//
// Replies come in the order of the commands (RFC 2920 3.1); `expected_` holds what each will
// answer. A reply that nothing asked for, or of a class that its command cannot have, breaks the
// connection: it is counted and not followed. No I/O and no clock in here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "load/turnstile.hpp"
#include "net/connection.hpp"
#include "net/transcript.hpp"
#include "postal/books.hpp"
#include "postal/ledger_entries.hpp"
#include "postal/phases.hpp"
#include "postal/plan.hpp"
#include "postal/transaction.hpp"
#include "proto/capabilities.hpp"
#include "proto/reply_parser.hpp"

namespace postal {

// What a worker's sessions share.
struct workshop;

enum class verdict : std::uint8_t {
    go_on,
    closing,  // the server said 421
    broken    // its replies make no sense any more; counted already
};

class exchange {
  public:
    exchange(workshop& shop, unsigned session);

    // A new connection, which may carry `left` messages. With a `sender` all of them are from that
    // one of the plan's, who has logged in.
    void begin(const proto::capabilities& offered, std::uint64_t left,
               std::optional<std::uint32_t> sender = std::nullopt);
    // The ticket that the caller has got for the first or the next transaction.
    void take(const load::ticket& go) noexcept { ticket_ = go; }
    bool has_ticket() const noexcept { return ticket_.what == load::pass::go; }

    // `written`: octets that the connection has sent so far.
    void compose(load::steady_time now, std::uint64_t written);
    net::gather& output() noexcept { return output_; }
    // The output has left: its messages may be used for others.
    void output_written() noexcept;

    verdict on_reply(const proto::reply_parser& reply, load::steady_time now);
    // Something came although nothing was asked.
    void unexpected(std::string_view reason, std::string_view sample);

    // Ends what is in flight, as lost for `reason`. A transaction is in doubt when its message was
    // within the octets written.
    struct breakage {
        std::string_view reason;
        std::string_view sample;
        std::uint64_t written = 0;
        load::steady_time now{};
    };
    void lost(const breakage& how);

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

    void set_transcript(net::transcript* where) noexcept { transcript_ = where; }

  private:
    // Text up to `text_end`, then a message.
    struct segment {
        std::size_t text_end;
        const mail::message* message;
    };

    bool may_begin(load::steady_time now);
    void begin_transaction(load::steady_time now);
    bool say_next(transaction& tx, load::steady_time now);
    void say_mail(transaction& tx);
    void say_rcpt(transaction& tx);
    bool asks_for_dsn() const noexcept;
    void name_envelope(const transaction& tx);
    void say_data(transaction& tx, load::steady_time now);
    void say_message(transaction& tx, load::steady_time now);
    void say_rset();
    void expect(stage what) { expected_.push_back(what); }
    void gather_output();
    void add_text(std::string_view text);

    void forget_answered();
    verdict on_mail_reply(transaction& tx, const refusal& said, load::steady_time now);
    verdict on_rcpt_reply(transaction& tx, const refusal& said, load::steady_time now);
    verdict on_data_reply(transaction& tx, const refusal& said, load::steady_time now);
    verdict on_end_reply(transaction& tx, const refusal& said, load::steady_time now);
    verdict on_rset_reply(const refusal& said);
    verdict on_shutdown(const refusal& said, load::steady_time now);
    verdict wrong_class(stage where, const refusal& said);
    void count_accepted(transaction& tx, const refusal& said, load::steady_time now);
    void refuse_next_unit(transaction& tx, const refusal& said, load::steady_time now);
    void refuse_open_units(transaction& tx, const refusal& said, load::steady_time now);
    ledger_entries::end ends_now(const refusal& said, load::steady_time now);
    void end_front();
    void give_back(transaction& tx) noexcept;

    workshop& shop_;
    books books_;
    ledger_entries* entries_;  // null without a ledger
    unsigned session_;
    std::uint64_t sequence_ = 0;
    proto::capabilities offered_;
    bool pipelining_ = false;
    bool chunking_ = false;
    bool over_ = false;  // no more tickets will come
    bool reset_due_ = false;
    bool any_accepted_ = false;
    std::size_t most_open_ = 1;
    std::uint64_t left_ = 0;
    std::optional<std::uint32_t> sender_;
    load::ticket ticket_;
    std::vector<transaction> slots_;  // a ring: open ones from first_slot_ on
    std::size_t first_slot_ = 0;
    std::size_t open_ = 0;
    std::vector<stage> expected_;
    std::size_t expected_head_ = 0;
    std::string text_;
    std::string envid_;  // scratch
    std::vector<segment> segments_;
    std::vector<mail::message*> sending_;
    std::uint64_t queued_ = 0;  // octets of the output so far, with what was written before
    net::gather output_;
    net::transcript* transcript_ = nullptr;
    stage last_answered_ = stage::ehlo;
};

}  // namespace postal
