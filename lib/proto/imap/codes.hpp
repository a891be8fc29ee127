// What an IMAP server's status responses say to a program: condition and response code (RFC 3501
// 7.1, RFC 9051 7.1, RFC 5530, 4315, 7162), and the small vocabularies of flags and number sets.
//
// Names are compared without regard to case; unknown codes are `other`, unknown flags `keyword`.
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
    alert,
    already_exists,
    append_uid,  // number: UIDVALIDITY; arguments: it, and the UIDs
    authentication_failed,
    authorization_failed,
    cannot,
    capability,  // arguments: the words
    closed,
    compression_active,
    copy_uid,  // number: UIDVALIDITY; arguments: it, the UIDs there, the UIDs here
    expunge_issued,
    highest_modseq,  // number
    in_use,
    limit,
    modified,  // arguments: a number set
    no_modseq,
    nonexistent,
    no_permission,
    over_quota,
    parse,
    permanent_flags,  // arguments: the flags in parentheses
    read_only,
    read_write,
    server_bug,
    too_big,
    try_create,
    uid_next,  // number
    uid_not_sticky,
    uid_validity,  // number
    unavailable,
    unknown_cte,
    unseen  // number
};

// A response text taken apart: "[CODE arguments] text".
struct imap_response_text {
    imap_code code = imap_code::none;
    std::uint64_t number = 0;  // the first argument, when it is one
    std::string_view arguments{};
    std::string_view text{};
};

imap_response_text read_imap_text(std::string_view line) noexcept;

// System flags as bits (RFC 3501 2.3.2); keywords are not told apart.
using imap_flags = std::uint8_t;
namespace imap_flag {
inline constexpr imap_flags seen = 1;
inline constexpr imap_flags answered = 2;
inline constexpr imap_flags flagged = 4;
inline constexpr imap_flags deleted = 8;
inline constexpr imap_flags draft = 16;
inline constexpr imap_flags recent = 32;
inline constexpr imap_flags any = 64;  // \*: new keywords can be made
inline constexpr imap_flags keyword = 128;
}  // namespace imap_flag

imap_flags imap_flag_of(std::string_view word) noexcept;
// Of a whole list, with or without its parentheses.
imap_flags imap_flags_of(std::string_view list) noexcept;

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
