// SPDX-License-Identifier: GPL-3.0-or-later
// Says of a message that comes in whether it is one of ours and whether it is unharmed.
//
// Flow: message_checker c; c.feed(octets, any splits)...; check_result r = c.finish(); c.reset();
//       and again
// Fed is the message as stored or as decoded by SMTP: dots unstuffed, no terminator. The header
// section is collected (at most 64 KiB; a longer one makes the message foreign), parsed once its
// blank line has come; without our identity header the body is skipped at no cost, else it is
// digested as it streams by.
//
// Nothing fails: verified, foreign (no identity header, or one of another version) or corrupt (a
// digest that does not match, or an identity header that cannot be read or does not say what the
// Message-ID under a matching digest says) is all that it says.
// Limits: about 200 octets while idle (digest contexts are made with the first message of ours and
// kept). Headers that relays added, folded or reordered do not matter (see canonical.hpp).
#pragma once

#include "mail/canonical.hpp"
#include "mail/identity.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace postal::mail {

enum class integrity : std::uint8_t { foreign, verified, corrupt };

struct check_result {
    integrity what = integrity::foreign;
    // Null when foreign, and when corrupt with an unreadable identity header; holds until reset().
    // Under a matching digest run, session and number are those of the Message-ID.
    const identity* id = nullptr;
};

struct checker_digest;

class message_checker {
  public:
    explicit message_checker(line_ends ends = line_ends::crlf) noexcept;
    ~message_checker();
    message_checker(message_checker&&) noexcept;
    message_checker& operator=(message_checker&&) noexcept;

    void feed(std::string_view octets);
    [[nodiscard]] check_result finish();
    // Ready for the next message; memory is kept, unless a header section was unusually large.
    void reset() noexcept;

    // True once nothing that is fed can change the result: the rest need not be fed.
    [[nodiscard]] bool skipping() const noexcept { return part_ == part::skip; }

  private:
    enum class part : std::uint8_t { headers, body, skip };

    void headers_complete(std::string_view section);
    void feed_headers(std::string_view octets);

    line_ends ends_;
    part part_ = part::headers;
    integrity integrity_ = integrity::foreign;
    bool has_identity_ = false;
    std::string headers_;
    std::unique_ptr<checker_digest> digest_;
    identity id_;
};

}  // namespace postal::mail
