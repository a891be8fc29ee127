// SPDX-License-Identifier: GPL-3.0-or-later
// What an IMAP server says, one response or one part of it at a time, as a push parser on top of
// imap_parser (RFC 3501 7, RFC 9051 7, RFC 4731 ESEARCH, RFC 7162 VANISHED and MODSEQ, RFC 2342
// NAMESPACE).
//
// Flow:
//   for (;;) {
//       const imap_step step = responses.next(input);
//       input.remove_prefix(step.consumed);       need_more has consumed everything
//       if (step.event == imap_event::need_more) break;
//       ...
//   }
// Events, and what a step holds:
//   tagged        tag, condition ok, no or bad, code, number, arguments, text
//   untagged      condition ok, no, bad, preauth or bye; the same without a tag
//   continuation  text: what follows "+ "
//   capability    capabilities() was told anew; also with code capability in the two above
//   enabled       enabled() has what is on from now, or was before
//   exists, recent, expunge    number
//   vanished      range of UIDs; earlier says whether they went before this SELECT (RFC 7162)
//   list          number: the delimiter, 0 for none; the rest was well-formed and skipped
//   flags                      were well-formed and skipped
//   status        text: the mailbox; status() was told anew
//   personal_namespace    text: the prefix of the first of ours; number: its delimiter, 0 for none
//   found         range of SEARCH, ESEARCH ALL or SORT; then once
//   search_end    number: ESEARCH COUNT, or how many were found
//   fetch         number of the message; then its items in any order:
//     fetch_uid, fetch_size, fetch_modseq  number
//     fetch_date                           text
//     fetch_flags    text: the flags with blanks between, those that fit into max_token octets
//     fetch_envelope, fetch_structure    were well-formed and skipped
//     body_begin    text: the section ("", "HEADER", "1.MIME"); number: size
//     body_piece    text: content, lying in `input`, never copied (but for a quoted string)
//     body_end
//     body_nil      text: the section that the server has not
//   fetch_end     behind the last item
//   other         text: the name of a response that is skipped (ID, NAMESPACE without one of ours,
//                 ...)
//   broken        text: one static word; what follows cannot be read, and next() says so again
// Views hold until the next call. After need_more, what the server said so far is kept in here.
//
// Bounded as imap_parser is; a string that is no message content is at most max_token octets long,
// or broken. Counting floods and bounding time is the owner's. No allocation for a FETCH once the
// buffers have their size. Literals within response codes (BADCHARSET) are taken for text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error_names.hpp"
#include "proto/imap/capabilities.hpp"
#include "proto/imap/codes.hpp"
#include "proto/imap/parser.hpp"

namespace postal::proto {

enum class imap_event : std::uint8_t {
    need_more,
    tagged,
    untagged,
    continuation,
    capability,
    enabled,
    exists,
    recent,
    expunge,
    vanished,
    flags,
    list,
    status,
    personal_namespace,
    found,
    search_end,
    fetch,
    fetch_uid,
    fetch_flags,
    fetch_size,
    fetch_date,
    fetch_modseq,
    fetch_envelope,
    fetch_structure,
    body_begin,
    body_piece,
    body_end,
    body_nil,
    fetch_end,
    other,
    broken
};

// What STATUS says of a mailbox; 0: it did not.
struct imap_status {
    std::uint64_t uid_next = 0;
    std::uint64_t uid_validity = 0;
};

struct imap_step {
    std::size_t consumed = 0;
    imap_event event = imap_event::need_more;
    imap_condition condition = imap_condition::none;
    imap_code code = imap_code::none;
    bool earlier = false;  // VANISHED (EARLIER)
    imap_range range{};
    std::uint64_t number = 0;
    std::string_view text{};
    std::string_view tag{};
    std::string_view arguments{};  // of the response code
};

class imap_responses {
  public:
    imap_step next(std::string_view input);
    // Responses of which the first word has come.
    std::uint64_t begun() const noexcept { return begun_; }

    // The list that came last, untagged or as a response code; empty before.
    const imap_capabilities& capabilities() const noexcept { return capabilities_; }
    const imap_capabilities& enabled() const noexcept { return enabled_; }
    const imap_status& status() const noexcept { return status_; }

  private:
    enum class state : std::uint8_t {
        start,
        tagged,
        untagged,
        response_text,
        continuation,
        counted,  // behind "* number"
        finish,   // the line's end is due, and then event_
        words,    // of CAPABILITY or ENABLED
        flags_open,
        flags,
        search,
        esearch,
        esearch_value,
        vanished,
        list_open,
        list_attributes,
        list_delimiter,
        list_name,
        namespaces,
        namespace_open,
        namespace_prefix,
        namespace_delimiter,
        status_name,
        status_open,
        status_item,
        status_value,
        fetch_open,
        fetch_item,
        fetch_value,
        fetch_modseq,
        fetch_structure,  // ENVELOPE, BODYSTRUCTURE
        fetch_body,
        skip,    // one value, then after_skip_
        ignore,  // to the end of the response
        broken
    };
    enum class pending : std::uint8_t { nothing, ranges, body_piece, body_end };
    struct handler;
    struct keyword;
    struct fetch_row;

    // A handler takes a token; when it leaves step.event alone, the next token is read.
    template <state Inside>
    void on_open(const imap_token& token, imap_step& step) {
        if (token.kind != imap_token_kind::list_open) return refuse(step);
        state_ = Inside;
    }
    void on_start(const imap_token& token, imap_step& step);
    void on_tagged(const imap_token& token, imap_step& step);
    void on_untagged(const imap_token& token, imap_step& step);
    void on_response_text(const imap_token& token, imap_step& step);
    void on_continuation(const imap_token& token, imap_step& step);
    void on_counted(const imap_token& token, imap_step& step);
    void on_finish(const imap_token& token, imap_step& step);
    void on_words(const imap_token& token, imap_step& step);
    void on_flags(const imap_token& token, imap_step& step);
    void on_skip(const imap_token& token, imap_step& step);
    void on_ignore(const imap_token& token, imap_step& step);
    // mailbox_data.cpp
    void on_search(const imap_token& token, imap_step& step);
    void on_esearch(const imap_token& token, imap_step& step);
    void on_esearch_value(const imap_token& token, imap_step& step);
    void on_vanished(const imap_token& token, imap_step& step);
    void on_list_attributes(const imap_token& token, imap_step& step);
    void on_list_delimiter(const imap_token& token, imap_step& step);
    void on_list_name(const imap_token& token, imap_step& step);
    void on_namespaces(const imap_token& token, imap_step& step);
    void on_namespace_prefix(const imap_token& token, imap_step& step);
    void on_namespace_delimiter(const imap_token& token, imap_step& step);
    void on_status_name(const imap_token& token, imap_step& step);
    void on_status_item(const imap_token& token, imap_step& step);
    void on_status_value(const imap_token& token, imap_step& step);
    // fetch.cpp
    void on_fetch_open(const imap_token& token, imap_step& step);
    void on_fetch_item(const imap_token& token, imap_step& step);
    void on_fetch_value(const imap_token& token, imap_step& step);
    void on_fetch_modseq(const imap_token& token, imap_step& step);
    void on_fetch_structure(const imap_token& token, imap_step& step);
    void on_fetch_body(const imap_token& token, imap_step& step);

    bool collect(imap_token& token, imap_step& step);
    bool give_pending(imap_step& step);
    bool give_range(imap_step& step);
    void begin_ranges(std::string_view set, imap_event event);
    void begin_body(std::string_view item);
    void begin_other(std::string_view name, imap_step& step) noexcept;
    void skip_value(state after) noexcept;
    void skip_list(state after) noexcept;
    void refuse(imap_step& step) noexcept;
    void break_off(base::error_name why, imap_step& step) noexcept;

    imap_parser parser_{};
    std::string kept_{};  // a tag, section, prefix, flags, name or number set, until it is given
    std::string collected_{};  // a string that came as a literal, or a quoted body
    base::error_name why_{};
    imap_capabilities capabilities_{};
    imap_capabilities enabled_{};
    imap_status status_{};
    std::uint64_t begun_ = 0;
    std::uint64_t number_ = 0;
    std::uint64_t item_number_ = 0;
    std::size_t ranges_at_ = 0;  // in kept_
    std::uint32_t depth_ = 0;    // where the value in hand began
    std::uint32_t members_ = 0;  // of the structure in hand
    state state_ = state::start;
    state after_skip_ = state::start;
    pending pending_ = pending::nothing;
    imap_event event_ = imap_event::need_more;  // what the thing in hand will be
    imap_event range_event_ = imap_event::found;
    imap_condition condition_ = imap_condition::none;
    bool earlier_ = false;
};

}  // namespace postal::proto
