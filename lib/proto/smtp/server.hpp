// SPDX-License-Identifier: GPL-3.0-or-later
// smtp_server: the server's side of an SMTP or LMTP session as a plain state machine, without I/O.
//
// Flow:
//   smtp_server session(config, host_name);
//   step = session.greet(out);                           the banner
//   loop: step = session.consume(input, out);            drop step.consumed octets of input, then
//     need_more         nothing left to do here: send `out`, read more
//     ask               the owner's to say, at step.stage: step = session.answer(reply, out), which
//                       asks nothing more; see there
//     reply             a reply was appended; step.reply and step.stage say which; after a greeting
//                       step.text is the name that the client gave
//     go_on             nothing to do for the owner
//     message_begin     content follows (after DATA, whose 354 was appended, or the first chunk)
//     content           step.text is the next piece of the message, decoded, lying in `input`
//     message_end       whole and well-formed: answer_delivery() answers_due() times, now or
//                       minutes later
//     message_refused   whole, but refused and answered here (too big, bare newline)
//     start_tls         say step.reply, do the handshake, then secured(); input that follows
//                       already must not be consumed
//     auth_begin        AUTH (after announce_auth()): step.text is the mechanism, auth_initial() an
//                       initial response; ask_auth() or answer_auth()
//     auth_line         step.text is the next response, decoded; the same. A client that cancels or
//                       says what is no base64 is answered here, and the exchange is over
//     close             a last reply was appended: send `out` and close; stage quit when the client
//                       asked for it
// consume() does one thing a call, so that an owner can hold back any reply, by stage, and pause
// between pipelined commands; call it until need_more, also with empty input. Views in a step, and
// current_path(), are valid until the next call. While answers are due nothing is consumed.
//
// SMTP: RFC 5321, 1870 (SIZE), 2034 (enhanced codes), 2920 (PIPELINING), 3030 (CHUNKING), 6152
// (8BITMIME), 6531 (SMTPUTF8), 3207 (STARTTLS), 4954 (AUTH), and on request the syntax of 3461
// (DSN), 2852 (DELIVERBY) and 6710 (MT-PRIORITY). LMTP: RFC 2033, one answer for each accepted
// recipient. Fails only in replies; never throws but for memory. It stays in step with the client
// through every refusal: refused messages and chunks are read to their end, over-long lines to
// theirs, unless that is nowhere near: whoever sends most_thrown_away() octets of a message, or
// most_of_a_line of a line, in vain, or announces so large a chunk, is sent away. So is a client
// with too many errors of its own, or too many commands in a row that bring no mail forward; what
// the owner refuses is no error of the client's. Limits: command lines of max_command_line octets,
// AUTH and its responses max_auth_line; no BINARYMIME. About 250 octets, and no allocation unless a
// command line comes in pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proto/address.hpp"
#include "proto/smtp/command_lines.hpp"
#include "proto/smtp/data_decoder.hpp"
#include "proto/smtp/futile_commands.hpp"
#include "proto/smtp/server_arguments.hpp"
#include "proto/smtp/server_reply.hpp"
#include "proto/smtp/server_stage.hpp"

namespace postal::proto {

// RFC 5321 4.5.3.1.4 with its CRLF, and what parameters add: to MAIL those of SIZE (26), BODY (17),
// SMTPUTF8 (10), DSN (116), DELIVERBY (17) and MT-PRIORITY (15), to RCPT those of DSN (RFC 3461 4:
// 540), which is more.
inline constexpr std::size_t max_command_line = 512 + 540;

// RFC 5321 4.5.3.1.10: who names more recipients than are taken sends the message again for those;
// so many more, and each counts as an error.
inline constexpr std::uint32_t recipients_beyond = 1000;

enum class dialect : std::uint8_t { smtp, lmtp };
enum class bare_newlines : std::uint8_t { reject, accept };

struct server_config {
    dialect speaks = dialect::smtp;
    bare_newlines newlines = bare_newlines::reject;
    bare_local_part bare_users = bare_local_part::postmaster_only;
    std::uint64_t max_message = 10 * 1024 * 1024;  // octets after dots are taken back
    std::uint32_t max_recipients = 1000;
    bool judges_senders = false;    // the owner is asked at MAIL
    bool judges_stages = false;     // and at all others but `other`; at RCPT it always is
    bool offers_tls = false;        // STARTTLS, RFC 3207
    bool requires_tls = false;      // before mail
    bool requires_auth = false;     // before MAIL, VRFY and EXPN: 530
    bool delivery_options = false;  // DSN, DELIVERBY, MT-PRIORITY: offered, checked, not followed
    // Since the session's last whole message; 0: no limit.
    std::uint32_t max_errors = 20;  // commands that are nonsense or out of order, failed AUTH
    std::uint32_t max_idle_commands =
        100;  // NOOP, VRFY and so on, and RSET of what was not refused

    // Octets of a message beyond all limits that are read, so that its client hears why.
    std::uint64_t most_thrown_away() const noexcept {
        constexpr std::uint64_t least = 64 * 1024 * 1024;
        const bool huge = max_message > std::numeric_limits<std::uint64_t>::max() / 8;
        return huge ? max_message : std::max(8 * max_message, least);
    }
};

enum class server_event : std::uint8_t {
    need_more,
    go_on,
    ask,
    reply,
    message_begin,
    content,
    message_end,
    message_refused,
    start_tls,
    auth_begin,
    auth_line,
    close
};

struct server_step {
    std::size_t consumed = 0;
    server_event event = server_event::need_more;
    server_stage stage = server_stage::other;
    std::uint32_t replies = 1;  // how often `reply` was appended: one a recipient in LMTP
    server_reply reply{};
    std::string_view text{};
};

class smtp_server {
  public:
    // All must outlive the session.
    smtp_server(const server_config& config, std::string_view host_name) noexcept
        : config_(&config), host_name_(host_name) {}
    smtp_server(server_config&&, std::string_view) = delete;

    server_step greet(std::string& out);
    server_step consume(std::string_view input, std::string& out);

    // After `ask`: before the banner; for MAIL and RCPT, of current_path(); before a command is run
    // that is in order (EHLO, HELO, LHLO, STARTTLS, AUTH, DATA, RSET, QUIT), for each chunk that is
    // not the last, and for a message that is whole. step.text is the verb, of a greeting its
    // argument, of MAIL and RCPT the mailbox. Nothing: as usual. 421, and whatever is said to QUIT,
    // ends the session behind it; any other in the place of the banner leaves QUIT alone (RFC 5321
    // 3.1). A positive one begins a transaction at MAIL and takes the recipient at RCPT; elsewhere
    // there is one only for QUIT, and for RSET, which is carried out. Of a message it is the reply
    // for all recipients.
    server_step answer(const std::optional<server_reply>& own, std::string& out);

    // The mechanisms of AUTH, with blanks between, from now on, and those that would be there over
    // TLS (538). Both must outlive the session. Forgets who has authenticated.
    void announce_auth(std::string_view mechanisms, std::string_view over_tls) noexcept {
        auth_mechanisms_ = mechanisms;
        auth_over_tls_ = over_tls;
        authenticated_ = false;
    }
    // After `auth_begin`: null when the client gave none.
    const std::string* auth_initial() const noexcept;
    // After `auth_begin` and `auth_line`: one more challenge, in octets, or the end; 235 is
    // success.
    void ask_auth(std::string_view challenge, std::string& out);
    // True when that was one error too many: a last reply was appended, as with `close`.
    bool answer_auth(const server_reply& answer, std::string& out);
    // Whether the next line is a response: a secret.
    bool in_auth() const noexcept { return mode_ == mode::auth; }

    // After `message_end`, in the order of the recipients (LMTP), or once (SMTP).
    void answer_delivery(const server_reply& answer, std::string& out);
    std::uint32_t answers_due() const noexcept { return due_; }

    // From now on neither errors nor idle commands are limited.
    void trust_client() noexcept { futile_.trust(); }

    // From now on the connection has TLS; whatever the client said before is forgotten.
    void secured() noexcept;

    // The path of the MAIL or RCPT that the last step was about.
    const path& current_path() const noexcept { return path_; }
    std::uint32_t recipients() const noexcept { return recipients_; }
    // SIZE of the last MAIL (RFC 1870); 0 without.
    std::uint64_t declared_octets() const noexcept { return declared_; }
    // Whether the last greeting was EHLO or LHLO; whether AUTH has succeeded.
    bool extended() const noexcept { return extended_; }
    bool authenticated() const noexcept { return authenticated_; }
    // Whether the last MAIL asked for SMTPUTF8 (RFC 6531).
    bool smtputf8() const noexcept { return smtputf8_; }
    // Octets of the current message, or of the one that just ended.
    std::uint64_t message_octets() const noexcept { return octets_; }
    // Whether a command line has begun and not ended.
    bool in_line() const noexcept { return lines_.begun() || discarding_ != discarding::nothing; }
    // Whether the next octets are message content.
    bool reading_content() const noexcept { return mode_ == mode::data || mode_ == mode::chunk; }
    // Whether content has begun to come, and more may.
    bool content_begun() const noexcept { return reading_content() || state_ == state::chunks; }
    // Whether MAIL was accepted, and what it began has not ended.
    bool has_sender() const noexcept { return state_ >= state::mail; }
    // Whether a client that leaves now leaves an envelope or a message behind, or a chunk that no
    // envelope asked for.
    bool in_transaction() const noexcept { return has_sender() || reading_content(); }

  private:
    enum class mode : std::uint8_t { command, auth, data, chunk };
    enum class state : std::uint8_t { initial, greeted, mail, rcpt, chunks };
    struct command;

    server_step take_line(std::string_view input, std::string& out);
    server_step discard_line(std::string_view input, std::string& out);
    server_step run_line(std::string_view line, std::string& out);
    server_step ask(server_stage stage, std::string_view text = {}) noexcept;
    server_step answer_banner(const std::optional<server_reply>& own, std::string& out);
    server_step answer_sender(const server_reply& reply, std::string& out);
    server_step answer_recipient(const server_reply& reply, std::string& out);
    server_step answer_command(const server_reply& reply, std::string& out);
    server_step dispatch(const command& row, std::string_view argument, std::string& out);
    std::size_t longest_line(std::string_view input) const noexcept;
    server_step run_auth_line(std::string_view line, std::string& out);
    server_step end_auth(const server_reply& reply, std::string& out);
    server_step take_data(std::string_view input, std::string& out);
    server_step take_chunk(std::string_view input, std::string& out);
    server_step begin_chunk() noexcept;
    server_step end_chunk(std::string& out);
    server_step end_message(std::string& out);
    server_step message_is_whole() noexcept;
    server_step refuse_message(const server_reply& reply, std::string& out);
    server_step respond(const server_reply& reply, server_stage stage, std::string& out);
    server_step answer_as_judged(const server_reply& reply, server_stage stage, std::string& out);
    server_step close_with(const server_reply& reply, server_stage stage, std::string& out);
    server_step refuse_endless_message(std::string& out);
    bool follows_refusal(const server_reply& reply, server_stage stage) noexcept;
    bool named_too_many() noexcept;
    bool too_many_errors() noexcept { return futile_.error(config_->max_errors); }
    server_reply out_of_order(const command& row) const noexcept;
    parameter_set known_parameters() const noexcept;
    void count_octets(std::size_t octets) noexcept;
    void end_transaction() noexcept;

    // Named and ordered as the protocol is spoken (server_commands.cpp).
    static const command* find_command(std::string_view verb) noexcept;
    server_step on_ehlo(std::string_view argument, std::string& out);
    server_step on_helo(std::string_view argument, std::string& out);
    server_step on_auth(std::string_view argument, std::string& out);
    server_step on_mail(std::string_view argument, std::string& out);
    server_step on_rcpt(std::string_view argument, std::string& out);
    server_step on_data(std::string_view argument, std::string& out);
    server_step on_bdat(std::string_view argument, std::string& out);
    server_step on_rset(std::string_view argument, std::string& out);
    server_step on_help(std::string_view argument, std::string& out);
    server_step on_starttls(std::string_view argument, std::string& out);
    server_step on_quit(std::string_view argument, std::string& out);
    // A command that is always answered so.
    template <const server_reply& Reply>
    server_step answer(std::string_view, std::string& out) {
        return respond(Reply, server_stage::other, out);
    }

    const server_config* config_;
    std::string_view host_name_;
    path path_{};
    server_stage asked_ = server_stage::other;  // what the owner is to answer
    const command* asked_command_ = nullptr;
    std::string_view asked_argument_{};
    command_lines lines_{};
    std::uint64_t octets_ = 0;
    std::uint64_t declared_ = 0;
    std::uint64_t chunk_left_ = 0;
    std::uint32_t recipients_ = 0;
    std::uint32_t due_ = 0;
    std::uint32_t named_ = 0;  // recipients of the transaction, and what followed a refusal in it
    futile_commands futile_{};
    mode mode_ = mode::command;
    state state_ = state::initial;
    data_decoder decoder_{};
    std::optional<server_reply> chunk_refusal_{};  // it is read, thrown away, and answered so
    bool chunk_last_ = false;
    struct auth_exchange {
        std::string mechanism;
        std::string octets;  // the client's last response
        bool initial = false;
    };
    std::unique_ptr<auth_exchange> auth_{};  // from AUTH to its end
    std::string_view auth_mechanisms_{};
    std::string_view auth_over_tls_{};
    bool authenticated_ = false;
    bool extended_ = false;
    enum class discarding : std::uint8_t { nothing, too_long, auth_too_long, refused };
    discarding discarding_ = discarding::nothing;
    bool mail_refused_ = false;  // or a chunk: what was pipelined behind it is no nonsense
    bool smtputf8_ = false;
    bool refused_recipient_ = false;
    bool chunk_judged_ = false;  // chunk_refusal_ is a judge's
    bool secured_ = false;
    bool unwelcome_ = false;  // was told so in the place of the banner
};

// A client's command line as a transcript may show it: of AUTH with "***" for the initial response.
std::string without_secret(std::string_view line);

}  // namespace postal::proto
