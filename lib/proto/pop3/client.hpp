// SPDX-License-Identifier: GPL-3.0-or-later
// The client's side of POP3 (RFC 1939; CAPA RFC 2449; AUTH RFC 5034, once 1734),
// as a push parser of replies, with what reads their text and writes the commands.
//
// Flow:
//   client.expect(form) for each command that is sent, and once for the greeting (status_line)
//   std::string_view bytes = what was read;
//   for (;;) switch (client.feed(bytes)) {           takes from the front of bytes what it used
//       case pop3_event::need_more: read more
//       case pop3_event::status:    status(), text(); then reply_complete() says whether more comes
//       case pop3_event::list_line: text(), one line of a listing, its dot unstuffed
//       case pop3_event::content:   content(), the next octets of the message, dots unstuffed
//       case pop3_event::end:       a listing or a message is complete
//       case pop3_event::broken:    problem() says why; nothing more can be read from this server
//   }
// Commands may be pipelined (RFC 2449 6.8): replies are matched to expect() in order. text() and
// content() point into `bytes`, into the parser or into constants, until the next feed().
//
// Content is streamed and never kept; its final CRLF belongs to the message. It ends with CRLF "."
// CRLF only. Lines of status and listings may also end in LF alone, since old servers do that and
// nothing can be smuggled to who reads one reply a command. Bounded whatever comes: such a line has
// at most max_line octets (RFC 1939 has 512, an AUTH challenge may have as many as this), a listing
// at most max_list_lines. The size of a message is not bounded here: its owner counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error_names.hpp"
#include "proto/smtp/data_decoder.hpp"

namespace postal::proto {

// What comes back: one line (USER, PASS, APOP, STAT, DELE, NOOP, RSET, QUIT, STLS), lines up to a
// dot (CAPA, LIST, UIDL), a message (RETR, TOP), or challenges and then one line.
enum class pop3_form : std::uint8_t { status_line, listing, content, auth };

enum class pop3_event : std::uint8_t { need_more, status, list_line, content, end, broken };

enum class pop3_status : std::uint8_t { ok, err, continuation };

class pop3_client {
  public:
    static constexpr std::size_t max_line = 12288;
    static constexpr std::size_t max_list_lines = std::size_t{1} << 22U;

    // One more reply is to come. Allocates only when more are outstanding than ever before.
    void expect(pop3_form form);
    // Replies expected of which the end has not come.
    std::size_t outstanding() const noexcept { return expected_.size() - answered_; }

    pop3_event feed(std::string_view& bytes);

    // Of the last status: "+OK", "-ERR" or, in AUTH, "+ challenge". After a continuation the same
    // reply goes on: the next status answers what the client sends then.
    pop3_status status() const noexcept { return status_; }
    // What follows the status and its blank, or a line of a listing; without the line's end.
    std::string_view text() const noexcept { return text_; }
    // Never empty in a content event.
    std::string_view content() const noexcept { return text_; }
    // Whether the last event was the last of its reply.
    bool reply_complete() const noexcept { return state_ == state::status; }

    // One word, for the books: "garbage", "line_too_long", "too_many_lines", "unasked" (a reply
    // that no command asked for, such as the -ERR of an idle timeout).
    std::string_view problem() const noexcept { return problem_; }
    // What was being read when the problem came, for a person.
    std::string_view offending() const noexcept { return text_; }

    // For a new connection; memory is kept.
    void reset() noexcept;

  private:
    enum class state : std::uint8_t { status, listing, content, challenged, broken };

    bool take_line(std::string_view& bytes, std::string_view& line);
    pop3_event read_status(std::string_view line) noexcept;
    pop3_event read_list_line(std::string_view line) noexcept;
    pop3_event read_content(std::string_view& bytes) noexcept;
    pop3_event refuse(base::error_name problem, std::string_view line) noexcept;
    void complete() noexcept;

    std::vector<pop3_form> expected_;
    std::size_t answered_ = 0;  // of expected_
    std::string unfinished_;    // a line of which the end has not come
    std::string_view text_;
    std::string_view problem_;
    std::size_t list_lines_ = 0;
    data_decoder decoder_;
    state state_ = state::status;
    pop3_status status_ = pop3_status::ok;
    bool line_was_kept_ = false;  // unfinished_ holds the line that was handed out
};

// RFC 1939 5: STAT's "2 320", and the same as one line of LIST, whose number counts from 1. What
// stands behind a further blank is passed over. Nothing when the text is not of this form.
struct pop3_numbers {
    std::uint64_t number = 0;  // STAT: how many messages; LIST: which message
    std::uint64_t octets = 0;
    bool operator==(const pop3_numbers&) const = default;
};
[[nodiscard]] std::optional<pop3_numbers> parse_stat(std::string_view text) noexcept;
[[nodiscard]] std::optional<pop3_numbers> parse_list_line(std::string_view text) noexcept;

// RFC 1939 7: "1 whqtswO00WBw418f9t5JxYwZ"; the id is 1 to 70 octets from 0x21 to 0x7E.
struct pop3_uid {
    std::uint64_t number = 0;
    std::string_view uid;  // into the text
    bool operator==(const pop3_uid&) const = default;
};
[[nodiscard]] std::optional<pop3_uid> parse_uidl_line(std::string_view text) noexcept;

// What CAPA listed, as far as a client acts on it; add() takes one line of it. Keywords have no
// case.
struct pop3_capabilities {
    bool pipelining = false;
    std::string sasl;  // mechanisms with blanks between, as given

    void add(std::string_view line);
};

// The timestamp of a greeting with its angle brackets (RFC 1939 7, APOP), or empty. It must look
// like a msg-id: exactly one @, within printable ASCII, which also stops servers from choosing
// texts that reveal the secret (CVE-2007-1558). What APOP wants is the MD5 of the timestamp and the
// secret behind it; the owner computes it, since no cryptography lives here.
[[nodiscard]] std::string_view apop_timestamp(std::string_view greeting) noexcept;

// Commands, appended with their CRLF. An argument with CR, LF or NUL would be another command:
// false, and nothing is appended.
[[nodiscard]] bool append_user(std::string& out, std::string_view name);
[[nodiscard]] bool append_pass(std::string& out, std::string_view secret);
[[nodiscard]] bool append_apop(std::string& out, std::string_view name,
                               std::span<const std::uint8_t, 16> md5);
// With an initial response in base64 ("=" for one of no octets), or empty for none; RFC 5034 4
// wants none where the line would exceed 255 octets.
[[nodiscard]] bool append_auth(std::string& out, std::string_view mechanism,
                               std::string_view initial);
// The answer to a challenge, in base64; "*" gives up.
[[nodiscard]] bool append_auth_answer(std::string& out, std::string_view answer);
void append_retr(std::string& out, std::uint64_t message);
void append_dele(std::string& out, std::uint64_t message);

inline constexpr std::string_view pop3_capa = "CAPA\r\n";
inline constexpr std::string_view pop3_stls = "STLS\r\n";
inline constexpr std::string_view pop3_stat = "STAT\r\n";
inline constexpr std::string_view pop3_list = "LIST\r\n";
inline constexpr std::string_view pop3_uidl = "UIDL\r\n";
inline constexpr std::string_view pop3_quit = "QUIT\r\n";

}  // namespace postal::proto
