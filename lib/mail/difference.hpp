// SPDX-License-Identifier: GPL-3.0-or-later
// Says how a message of ours differs from what postal sent, when its digest does not match.
//
// Flow: body_rebuilder r; difference d = diagnose(received, check_result.id, r); to_text(d)
// received is the whole message as message_checker saw it, with CRLF line ends. The body is remade
// and compared, decoded first where a relay has recoded it; of several causes in it the first is
// named, as specifically as it can be told. Header fields are looked at, too, when the digest does
// not match with the body as made: Subject, Date and the left side of Message-ID follow from the
// identity, and all that are not as made are named; From and To are found when the value that a
// relay noted elsewhere (Return-Path; X-Original-To, Delivered-To, Envelope-To) makes the digest
// match; otherwise nobody can say whether it was one of them, the host in Message-ID, or the digest
// itself.
//
// Octets count from 1 in the message as postal made it, so that they mean the same whatever relays
// put on top; lines count from 1 in its body. Nothing fails: what cannot be told is `other`, as for
// real mail (corpus), identities that no sender made, and sizes above the rebuilder's limit.
// Limits: not for the hot path; needs the message in memory, and its body a second time.
#pragma once

#include "mail/identity.hpp"
#include "mail/rebuild.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace postal::mail {

// Of the body; recoded and header_rewritten when that is all.
enum class difference_kind : std::uint8_t {
    none,                // the digest matches after all
    truncated,           // octet: the first that is missing, 0 when the headers are not complete
    changed,             // octet, from, to; octets: how many are not as made
    eight_bit_stripped,  // octet, from, to: the first octet that lost its highest bit
    recoded,
    dot_added,            // line, octet
    dot_lost,             // line, octet
    line_ends_changed,    // line, octet; name: what CRLF became there
    trailing_blanks_cut,  // line, octet
    header_rewritten,
    wrapped,  // line, column: where the first was broken; octets: how many breaks; name: by what
    extra,    // octet: the first behind the end; octets: how many too many
    unreadable_identity,
    other  // octet: the first that differs, 0 when the message cannot be remade
};

struct difference {
    difference_kind kind = difference_kind::other;
    std::uint64_t octet = 0;
    std::uint64_t line = 0;
    std::uint64_t column = 0;  // octets of the line before it was broken
    std::uint64_t octets = 0;  // changed, wrapped and extra: see above; else 0
    std::uint64_t size = 0;    // octets of the message as made, 0 when that is not known
    std::uint8_t from = 0;
    std::uint8_t to = 0;
    std::string_view name{};      // a constant
    std::string_view encoding{};  // the Content-Transfer-Encoding that a relay chose, a constant
    std::string_view header_line_ends{};  // what CRLF became in all of the header, a constant
    std::string fields{};  // header fields that were rewritten or are gone, or of those it may be
    bool operator==(const difference&) const = default;
};

// id as in check_result: null when the identity header cannot be read.
[[nodiscard]] difference diagnose(std::string_view received, const identity* id,
                                  body_rebuilder& rebuilder);

// "truncated", "dot-lost", ...: one word, for ledgers and tables.
[[nodiscard]] std::string_view name_of(difference_kind kind) noexcept;

// One line for people: "truncated at byte 1234 of 5120", "byte 17 changed from 0x41 to 0x61".
[[nodiscard]] std::string to_text(const difference& found);

}  // namespace postal::mail
