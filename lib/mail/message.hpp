// SPDX-License-Identifier: GPL-3.0-or-later
// One message ready to be sent, and what a source of messages looks like.
//
// Flow: message m; source.make({session, sequence, from, recipients, now}, m);
//       DATA: write m.stuffed_parts(), then ".\r\n"
//       BDAT m.total_octets() LAST: write m.raw_parts()
// A message is filled anew by each make() and keeps its memory, so that the steady state allocates
// nothing. The parts point into the message, into its source and into constants: they hold until
// the next make(), and as long as the source lives.
//
// Nothing here fails. A message cannot be copied or moved, since its parts point into it.
// RFC 5321 4.5.2 (dots), RFC 3030 (BDAT), RFC 1870 (SIZE counts octets before dot-stuffing).
#pragma once

#include "mail/body_source.hpp"
#include "mail/identity.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace postal::mail {

class message {
  public:
    message() = default;
    message(const message&) = delete;
    message& operator=(const message&) = delete;

    // The message exactly, for BDAT; no stuffing, no terminator.
    [[nodiscard]] std::span<const std::string_view> raw_parts() const noexcept { return body_.raw; }
    // For DATA: dots stuffed, always ends in CRLF; send ".\r\n" behind it.
    [[nodiscard]] std::span<const std::string_view> stuffed_parts() const noexcept {
        return body_.stuffed;
    }
    [[nodiscard]] std::uint64_t total_octets() const noexcept { return total_octets_; }
    [[nodiscard]] std::uint64_t stuffed_octets() const noexcept { return stuffed_octets_; }
    // For SIZE= before DATA: raw octets and the CRLF that DATA must add when it is missing.
    [[nodiscard]] std::uint64_t declared_octets() const noexcept {
        return total_octets_ + (body_.final_newline ? 0 : 2);
    }
    // Whether raw_parts() end in CRLF.
    [[nodiscard]] bool final_newline() const noexcept { return body_.final_newline; }
    // BODY=8BITMIME is needed: an octet above 127 in headers or body.
    [[nodiscard]] bool needs_8bit() const noexcept { return needs_8bit_; }
    // The sender's or a recipient's address is not ASCII.
    [[nodiscard]] bool needs_smtputf8() const noexcept { return needs_smtputf8_; }
    [[nodiscard]] const identity& id() const noexcept { return id_; }
    // The header section as made, with its blank line (of a corpus mail: the headers that we add).
    [[nodiscard]] std::string_view headers() const noexcept { return headers_; }

  private:
    friend class message_factory;
    friend class corpus_factory;

    void clear() noexcept {
        headers_.clear();
        body_.clear();
        needs_8bit_ = false;
        needs_smtputf8_ = false;
    }
    void count_octets() noexcept;

    std::string headers_;
    body_parts body_;  // the first part is headers_
    std::uint64_t total_octets_ = 0;
    std::uint64_t stuffed_octets_ = 0;
    bool needs_8bit_ = false;
    bool needs_smtputf8_ = false;
    identity id_;
};

struct message_request {
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;
    std::string_view from;
    std::span<const std::string_view> recipients;
    std::chrono::system_clock::time_point now{};
    // In place of the words that would be drawn: ASCII that needs no fold; empty: these.
    std::string_view subject{};
    std::string_view fields{};  // more of the header, each with CRLF
};

[[nodiscard]] bool is_ascii(std::string_view text) noexcept;

// Makes messages for one worker; not for use from two threads. Two exist: message_factory,
// corpus_factory.
class message_source {
  public:
    virtual ~message_source() = default;
    virtual void make(const message_request& request, message& into) = 0;
};

}  // namespace postal::mail
