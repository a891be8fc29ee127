// SPDX-License-Identifier: GPL-3.0-or-later
// Replies of an SMTP or LMTP server (RFC 5321 4.2), as a push parser.
//
// Flow:
//   std::string_view bytes = what was read;
//   for (;;) switch (parser.feed(bytes)) {          takes from the front of bytes what it used
//       case reply_event::need_more: read more
//       case reply_event::line:      one line of a longer reply: code(), text()
//       case reply_event::reply:     its last or only line: code(), enhanced(), text()
//       case reply_event::malformed: problem() says why; nothing more can be read from this server
//   }
// text() points into `bytes` or into the parser and holds until the next feed(). It is what the
// server said: hostile, and at most max_line octets.
//
// Memory is bounded whatever comes: an unfinished line is kept up to max_line octets, a longer one
// and a reply of more than max_lines lines are malformed. A line may end in LF alone, since servers
// that do so exist and nothing can be smuggled to a client that reads one reply a command.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error_names.hpp"

namespace postal::proto {

enum class reply_event { need_more, line, reply, malformed };

// "5.1.1" (RFC 2034) at the beginning of a reply's text, or empty.
[[nodiscard]] std::string_view enhanced_status(std::string_view text) noexcept;

class reply_parser {
  public:
    // RFC 5321 4.5.3.1.5 has 512, challenges of AUTH may have as many as this (RFC 4954 4).
    static constexpr std::size_t max_line = 12288;
    static constexpr std::size_t max_lines = 1000;

    reply_event feed(std::string_view& bytes);

    int code() const noexcept { return code_; }
    std::string_view enhanced() const noexcept { return enhanced_status(text_); }
    // What follows the code and its separator, without the line's end.
    std::string_view text() const noexcept { return text_; }
    // One word, for the books: "garbage", "line_too_long", "too_many_lines" or "mixed_codes".
    std::string_view problem() const noexcept { return problem_; }
    // What was being read when the problem came, for a person.
    std::string_view offending() const noexcept { return text_; }

    void reset() noexcept;

  private:
    reply_event take_line(std::string_view line) noexcept;
    reply_event refuse(base::error_name problem, std::string_view line) noexcept;

    std::string unfinished_;
    std::string_view text_;
    std::string_view problem_;
    std::size_t lines_ = 0;
    int code_ = 0;
    bool in_reply_ = false;
    bool line_was_kept_ = false;  // unfinished_ holds the line that was handed out
};

}  // namespace postal::proto
