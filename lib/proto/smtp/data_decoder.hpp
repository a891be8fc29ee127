// SPDX-License-Identifier: GPL-3.0-or-later
// data_decoder: the bytes after DATA, as a push parser. RFC 5321 4.1.1.4 (end of data), 4.5.2
// (transparency), 2.3.8 (only CRLF ends a line).
//
// Flow: call next(input) again and again, each time with what is left. A step takes `consumed`
// octets from the front and gives a span of decoded content that lies in the input (or in static
// storage), so nothing is copied. `end` is said once, by a step without content; the input behind
// it belongs to the next command.
//
// The end is CRLF "." CRLF and nothing else. A line begins only behind a CRLF: a dot behind a bare
// LF or CR is content and stays as it is. Bare LF and bare CR are content too; bare_newline() says
// that there was one and the owner decides (SMTP smuggling lives on servers that take them for line
// ends). Limits: none; lines and content may be of any length. Never fails, never allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace postal::proto {

struct data_step {
    std::size_t consumed = 0;
    std::string_view content{};
    bool end = false;
};

class data_decoder {
  public:
    // Ready for the next message; the command line before it counts as a line end.
    void reset() noexcept { *this = data_decoder{}; }

    data_step next(std::string_view input) noexcept;

    // Content whose end is known otherwise: a chunk (RFC 3030). Only its line ends are looked at.
    void look(std::string_view input) noexcept;

    bool bare_newline() const noexcept { return bare_newline_; }
    // The last octet of the content so far is a CR: bare, if nothing follows.
    bool ends_in_cr() const noexcept { return state_ == state::after_cr; }

  private:
    enum class state : std::uint8_t {
        line_start,  // behind a CRLF
        text,        // anywhere else
        after_cr,    // the last octet was CR, already given out
        dot,         // a dot at a line start was taken back
        dot_cr       // and a CR behind it, not yet given out
    };

    data_step after_dot(std::string_view input) noexcept;
    std::size_t scan(std::string_view input) noexcept;

    state state_ = state::line_start;
    bool bare_newline_ = false;
};

}  // namespace postal::proto
