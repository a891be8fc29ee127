// SPDX-License-Identifier: GPL-3.0-or-later
// The tokens of an IMAP server's responses (RFC 3501 9, RFC 9051 9), as a push parser.
//
// Flow: call next(input) again and again, each time with what is left. A token takes `consumed`
// octets from the front (need_more takes them all; what is unfinished is kept here):
//     need_more      read more
//     atom           text; also flags, "*", "NIL", and BODY[HEADER.FIELDS ("X")]<0> as one
//     number         an atom of digits alone, at most 2^63-1: number, and text as it was written
//     quoted         text, with its backslashes taken back
//     literal_begin  {n}, {n+} or ~{n}: number is the size, told before any of the content
//     literal_piece  text lies in `input`: content is never copied
//     literal_end    consumes nothing; the line goes on
//     list_open, list_close
//     text           only after take_text(): the rest of the line, and the response is over
//     end            the line ended, and the response with it
//     broken         text is one static word saying why; nothing more can be read from this server
// Views hold until the next call, whether they lie in the input or in here.
//
// Spaces separate and are dropped, however many. A line may end in LF alone. Hostile input is
// bounded: a token is at most max_token octets, a line outside its literals max_line, parentheses
// are max_depth deep; sizes of literals are the owner's to judge. Linear in the octets however
// they are cut; no recursion. Memory: nothing while tokens come whole, else max_token at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error_names.hpp"
#include "base/text.hpp"

namespace postal::proto {

enum class imap_token_kind : std::uint8_t {
    need_more,
    atom,
    number,
    quoted,
    literal_begin,
    literal_piece,
    literal_end,
    list_open,
    list_close,
    text,
    end,
    broken
};

struct imap_token {
    std::size_t consumed = 0;
    imap_token_kind kind = imap_token_kind::need_more;
    std::string_view text{};
    std::uint64_t number = 0;

    bool is_word() const noexcept {
        return kind == imap_token_kind::atom || kind == imap_token_kind::number;
    }
    bool is_string() const noexcept { return is_word() || kind == imap_token_kind::quoted; }
    bool is_nil() const noexcept {
        return kind == imap_token_kind::atom && base::iequals(text, "NIL");
    }
};

class imap_parser {
  public:
    static constexpr std::size_t max_token = std::size_t{64} * 1024;
    // A SEARCH of 100,000 messages is one line of 700 KiB.
    static constexpr std::size_t max_line = std::size_t{1024} * 1024;
    static constexpr std::uint32_t max_depth = 64;

    imap_token next(std::string_view input);

    // The rest of the line is for people (RFC 3501 resp-text): comes as one token `text`.
    void take_text() noexcept;
    // How many parentheses are open, behind the token that was given last.
    std::uint32_t depth() const noexcept { return depth_; }
    // A new connection.
    void reset() noexcept;

  private:
    enum class state : std::uint8_t {
        between,
        after_cr,  // the line ends if LF comes
        atom,
        section,  // within the brackets of an atom
        section_quoted,
        section_escape,
        quoted,
        escape,
        size,  // behind the { of a literal
        size_plus,
        size_end,  // behind its }
        size_cr,   // and the CR
        literal,
        text,
        broken
    };

    imap_token scan(std::string_view input);
    imap_token begin_token(std::string_view input);
    imap_token scan_atom(std::string_view input, std::size_t at);
    imap_token end_atom(std::string_view input, std::size_t begin, std::size_t at);
    imap_token scan_quoted(std::string_view input, std::size_t at);
    imap_token scan_size(std::string_view input, std::size_t at);
    imap_token scan_line_end(std::string_view input, std::size_t at);
    imap_token scan_text(std::string_view input);
    imap_token take_literal(std::string_view input) noexcept;
    imap_token break_off(base::error_name why) noexcept;
    state after_section_octet(char c) const noexcept;
    state after_size_octet(char c) const noexcept;
    void begin_size() noexcept;
    std::string_view take(std::string_view piece);
    void forget_token() noexcept;

    std::string kept_{};  // an unfinished token, or one that was unescaped
    base::error_name why_{};
    std::uint64_t literal_left_ = 0;
    std::size_t line_octets_ = 0;
    std::size_t token_octets_ = 0;  // consumed by an unfinished token
    std::uint32_t depth_ = 0;
    state state_ = state::between;
    bool kept_given_ = false;  // kept_ was handed out
    bool digits_seen_ = false;
};

}  // namespace postal::proto
