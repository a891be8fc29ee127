// SPDX-License-Identifier: GPL-3.0-or-later
// server_reply: what a server says, and the sentences that the state machine says by itself.
//
// A reply is three views; append_reply() writes `CODE [ENHANCED ]TEXT CRLF` (RFC 5321 4.2, RFC 2034
// 4). Texts are ours, in one line, below 512 octets; nothing that a client sent is ever echoed in
// them. Limits: one line only; the replies to EHLO and HELP have several and are written where they
// are made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace postal::proto {

struct server_reply {
    std::uint16_t code = 0;
    std::string_view enhanced{};  // "2.1.5"; empty in replies that have none (220, 221 of 421, 354)
    std::string_view text{};
    std::string_view limit{};  // the option whose limit the client has struck; empty: none

    bool positive() const noexcept { return code < 400; }
};

inline void append_reply(std::string& out, const server_reply& reply) {
    const char code[4] = {static_cast<char>('0' + reply.code / 100 % 10),
                          static_cast<char>('0' + reply.code / 10 % 10),
                          static_cast<char>('0' + reply.code % 10), ' '};
    out.append(code, sizeof code);
    if (!reply.enhanced.empty()) out.append(reply.enhanced).push_back(' ');
    out.append(reply.text).append("\r\n", 2);
}

// RFC 3463 gives the enhanced codes their meaning.
namespace replies {

inline constexpr server_reply ok{250, "2.0.0", "Ok"};
inline constexpr server_reply reset{250, "2.0.0", "Flushed"};
inline constexpr server_reply sender_ok{250, "2.1.0", "Sender ok"};
inline constexpr server_reply recipient_ok{250, "2.1.5", "Recipient ok"};
inline constexpr server_reply message_ok{250, "2.0.0", "Message accepted"};
inline constexpr server_reply chunk_ok{250, "2.0.0", "Chunk received"};
inline constexpr server_reply start_data{354, "", "End data with <CRLF>.<CRLF>"};
inline constexpr server_reply bye{221, "2.0.0", "Bye"};
inline constexpr server_reply cannot_verify{252, "2.1.5",
                                            "Cannot verify, but will take the message"};

inline constexpr server_reply unknown_command{500, "5.5.1", "Command not recognized"};
inline constexpr server_reply not_implemented{502, "5.5.1", "Command not implemented"};
inline constexpr server_reply line_too_long{500, "5.5.2", "Line too long"};
inline constexpr server_reply line_end{500, "5.5.2", "A line ends with CRLF, not with LF alone"};
inline constexpr server_reply control_character{500, "5.5.2", "Control character in the command"};
inline constexpr server_reply argument_wanted{501, "5.5.4", "Argument missing"};
inline constexpr server_reply argument_unwanted{501, "5.5.4", "No argument allowed"};
inline constexpr server_reply mail_syntax{501, "5.5.4", "Syntax: MAIL FROM:<address>"};
inline constexpr server_reply rcpt_syntax{501, "5.5.4", "Syntax: RCPT TO:<address>"};
inline constexpr server_reply bdat_syntax{501, "5.5.4", "Syntax: BDAT octets [LAST]"};
inline constexpr server_reply parameter_value{501, "5.5.4", "Parameter has no such value"};
inline constexpr server_reply parameter_twice{501, "5.5.4", "Parameter given twice"};
inline constexpr server_reply parameter_unknown{555, "5.5.4", "Parameter not recognized"};
inline constexpr server_reply needs_smtputf8{553, "5.6.7", "A non-ASCII address needs SMTPUTF8"};
inline constexpr server_reply greet_first{503, "5.5.1", "Say hello first"};
inline constexpr server_reply no_service{503, "5.5.1", "No service here"};
inline constexpr server_reply nested_mail{503, "5.5.1", "Sender already given"};
inline constexpr server_reply mail_first{503, "5.5.1", "MAIL comes first"};
inline constexpr server_reply rcpt_first{503, "5.5.1", "RCPT comes first"};
inline constexpr server_reply no_valid_recipient{554, "5.5.1", "No valid recipients"};
inline constexpr server_reply chunks_begun{503, "5.5.1", "Not between the chunks of a message"};
inline constexpr server_reply start_tls{220, "2.0.0", "Ready to start TLS"};
inline constexpr server_reply tls_already{503, "5.5.1", "TLS is active already"};
inline constexpr server_reply tls_first{530, "5.7.0", "Must issue a STARTTLS command first"};
inline constexpr server_reply tls_injection{554, "5.5.1", "Nothing may follow STARTTLS at once"};
inline constexpr server_reply too_many_recipients{452, "4.5.3", "Too many recipients",
                                                  "max-recipients"};
inline constexpr server_reply too_big{552, "5.3.4", "Message too big", "max-size"};
// RFC 4954 4 and 6.
inline constexpr server_reply authenticated{235, "2.7.0", "Authentication succeeded"};
inline constexpr server_reply auth_wrong{535, "5.7.8", "Authentication credentials invalid"};
inline constexpr server_reply auth_unreadable{501, "5.5.2", "Cannot read the response"};
inline constexpr server_reply auth_not_base64{501, "5.5.2", "Not base64"};
inline constexpr server_reply auth_cancelled{501, "5.7.0", "Authentication cancelled"};
inline constexpr server_reply auth_syntax{501, "5.5.4", "Syntax: AUTH mechanism [response]"};
inline constexpr server_reply auth_line_too_long{500, "5.5.6", "Line too long"};
inline constexpr server_reply auth_unknown{504, "5.5.4", "No such mechanism"};
inline constexpr server_reply auth_needs_tls{538, "5.7.11", "That mechanism needs TLS"};
inline constexpr server_reply auth_twice{503, "5.5.1", "Already authenticated"};
inline constexpr server_reply auth_in_mail{503, "5.5.1", "Not within a mail transaction"};
inline constexpr server_reply auth_first{530, "5.7.0", "Authentication required"};
// As Postfix answers; RFC 5321 2.3.8 forbids them.
inline constexpr server_reply bare_newline{550, "5.5.2", "Message has a bare CR or LF"};
inline constexpr server_reply no_such_user{550, "5.1.1", "No such user"};
inline constexpr server_reply no_such_list{550, "5.1.1", "No such mailing list"};
inline constexpr server_reply too_many_errors{421, "4.7.0", "Too many errors, closing",
                                              "max-errors"};
inline constexpr server_reply too_many_idle_commands{
    421, "4.7.0", "Too many commands without a message, closing", "max-idle-commands"};
inline constexpr server_reply endless_line{421, "4.7.0", "A line without an end, closing"};
inline constexpr server_reply endless_message{552, "5.3.4", "Message far too big, closing",
                                              "max-size"};
inline constexpr server_reply endless_chunk{552, "5.3.4", "Chunk far too big, closing", "max-size"};
// What a chunk that was not understood brings might be commands, or might not (RFC 3030 2).
inline constexpr server_reply chunk_of_unknown_size{
    421, "4.5.0", "Cannot tell the chunk behind that BDAT from commands, closing"};

}  // namespace replies
}  // namespace postal::proto
