// SPDX-License-Identifier: GPL-3.0-or-later
// What an IMAP server's status responses say to a program: condition and response code (RFC 3501
// 7.1, RFC 9051 7.1, RFC 7162), as far as a client acts on it, and number sets.
//
// Names are compared without regard to case; all other codes are `other`.
// What is broken is taken as absent: text for people is never a reason to end a session.
#pragma once

#include <cstdint>
#include <string_view>

#include "proto/imap/capabilities.hpp"

namespace postal::proto {

enum class imap_condition : std::uint8_t { none, ok, no, bad, preauth, bye };

// "OK", "NO", ...; none when it is no condition.
imap_condition imap_condition_of(std::string_view word) noexcept;

enum class imap_code : std::uint8_t {
    none,
    other,
    capability,  // arguments: the words
    closed,
    highest_modseq,  // number
    no_modseq,
    uid_next,      // number
    uid_validity,  // number
    append_uid,    // number: UIDVALIDITY; arguments: that, and the UIDs (RFC 4315)
    over_quota,    // RFC 9208
    try_create,
    permanent_flags,       // arguments: the flags in parentheses
    notification_overflow  // RFC 5465 5.8
};

// A response text taken apart: "[CODE arguments] text".
struct imap_response_text {
    imap_code code = imap_code::none;
    std::uint64_t number = 0;  // the first argument, when it is one
    std::string_view arguments{};
    std::string_view text{};
};

imap_response_text read_imap_text(std::string_view line) noexcept;

// Numbers `first` to `last`, both within; first <= last.
struct imap_range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    bool operator==(const imap_range&) const = default;
};

// Reads a sequence set, "2,4:7,9:12", piece by piece; "*" has no place in what a server says.
// Flow: while (set.next(range)) ...; if (!set.good()) it was no set.
class imap_set_reader {
  public:
    explicit imap_set_reader(std::string_view set) noexcept : left_(set) {}

    bool next(imap_range& range) noexcept;
    bool good() const noexcept { return good_; }
    std::string_view left() const noexcept { return left_; }

  private:
    std::string_view left_;
    bool good_ = true;
};

}  // namespace postal::proto
