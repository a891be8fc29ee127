// SPDX-License-Identifier: GPL-3.0-or-later
// The identity header: who sent a message, what it was made from, and what its digest must be.
//
//   X-Postal-Id: v=1; run=0123456789abcdef; s=3; n=17; seed=42; kind=ascii; size=5120; head=512;
//     t=1790000000.123456; d=xxh3:0123456789abcdef
//
// run is fresh for each run and not 0, s the session, n the message's number in it; seed, kind,
// size and head (octets of the header section with its blank line, as sent) say how to remake the
// body; t is when it was made. An optional h=ftsdm names the fields that the digest covers (From,
// To, Subject, Date, Message-ID) when they are not all five, as in real mail without a Message-ID;
// subject=given says that the Subject does not follow from the seed. Unknown fields are skipped.
//
// The parser takes text from anybody: it is bounded (at most 1024 octets, 32 fields), allocates
// nothing and reports a damaged value, a missing field or a field given twice as unreadable.
#pragma once

#include "mail/body_kind.hpp"
#include "mail/canonical.hpp"
#include "mail/digest.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace postal::mail {

class text_writer;

inline constexpr std::string_view identity_field = "X-Postal-Id";

struct identity {
    std::uint64_t run = 0;
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;
    std::uint64_t seed = 0;
    body_kind kind = body_kind::ascii;
    std::uint64_t size = 0;     // octets of the whole message as made
    std::uint64_t head = 0;     // of them the header section
    std::uint64_t time_us = 0;  // since the epoch
    coverage covers = all_covered;
    bool given_subject = false;
    digest_value digest;
    bool operator==(const identity&) const = default;
};

enum class identity_parse : std::uint8_t { ok, other_version, unreadable };

// The value of the header field, folded or not.
[[nodiscard]] identity_parse parse_identity(std::string_view value, identity& into) noexcept;

// Run, session and number, which stand in Message-ID, too, where the digest covers them:
// <0123456789abcdef.3.17@host>. Puts those of a Message-ID's value in the place of what id says.
// False when it says the same, when no sender of ours made that value, and for real mail, which has
// a Message-ID of its own.
bool correct_by_message_id(std::string_view value, identity& id) noexcept;

// The value without the field's name, folded before t=, without a final CRLF.
[[nodiscard]] std::string to_text(const identity& id);

// The same into memory that has room for identity_octets(id).
void write_identity(const identity& id, text_writer& out) noexcept;
[[nodiscard]] std::size_t identity_octets(const identity& id) noexcept;

// 16 hexadecimal digits, as in run= and in Message-ID.
void append_run(std::uint64_t run, std::string& out);

}  // namespace postal::mail
