// SPDX-License-Identifier: GPL-3.0-or-later
// Identity headers that are fetched from a mailbox, without the messages (RFC 3501 6.4.5,
// BODY.PEEK[HEADER.FIELDS (X-Postal-Id)]), and what the server says beside them: size, flags,
// INTERNALDATE.
//
// Flow: expect(first, last); take() each step of the answer to a FETCH of identity_items for these
// numbers; complete(). What each message is, goes to the listener: once for each number, with the
// first response that had the field or said that there is none. Responses that nobody asked for are
// passed over. Where messages are fetched whole, flags() and arrived_us() are of the response in
// hand, until the next begins.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mail/identity.hpp"
#include "proto/imap/responses.hpp"

namespace postal::rabid {

inline constexpr std::string_view identity_items =
    "(UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[HEADER.FIELDS (X-Postal-Id)])";

struct listed_message {
    std::uint32_t number = 0;
    const mail::identity* id = nullptr;  // null: none of ours, or one that cannot be read
    std::uint64_t octets = 0;            // 0: the server did not say
};

class identity_reader {
  public:
    using listener = std::function<void(const listed_message&)>;
    explicit identity_reader(listener who = {}) : listener_(std::move(who)) {}

    // The next FETCH asks for these.
    void expect(std::uint32_t first, std::uint32_t last);
    // True when what a number is for which that was asked is known now, and was not before.
    bool take(const proto::imap_step& step);
    // All that was asked for has come.
    [[nodiscard]] bool complete() const noexcept { return left_ == 0; }

    [[nodiscard]] std::string_view flags() const noexcept { return flags_; }
    // Since the epoch; 0: not said.
    [[nodiscard]] std::uint64_t arrived_us() const noexcept { return arrived_us_; }

  private:
    void begin(std::uint64_t number);
    bool finish();

    listener listener_;
    std::vector<bool> came_;  // from first_ on
    std::uint32_t first_ = 1;
    std::size_t left_ = 0;
    // The response in hand.
    std::string field_;
    std::string flags_;
    std::uint64_t number_ = 0;
    std::uint64_t octets_ = 0;
    std::uint64_t arrived_us_ = 0;
    bool within_ = false;
    bool heard_ = false;
};

}  // namespace postal::rabid
