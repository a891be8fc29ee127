// SPDX-License-Identifier: GPL-3.0-or-later
// Identity headers that are fetched from a mailbox, without the messages (RFC 3501 6.4.5,
// BODY.PEEK[HEADER.FIELDS (X-Postal-Id)]).
//
// Flow: take() each step of the answer to a FETCH of identity_items; what each message is, goes to
// the listener, once for each FETCH response that had the field or said that there is none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "mail/identity.hpp"
#include "proto/imap/responses.hpp"

namespace postal::rabid {

inline constexpr std::string_view identity_items =
    "(UID RFC822.SIZE BODY.PEEK[HEADER.FIELDS (X-Postal-Id)])";

class identity_reader {
  public:
    // Null: no identity of ours, or one that cannot be read.
    using listener = std::function<void(const mail::identity*)>;
    explicit identity_reader(listener who) : listener_(std::move(who)) {}

    void take(const proto::imap_step& step);
    std::uint64_t came() const noexcept { return came_; }

  private:
    void finish();

    listener listener_;
    std::string field_;
    std::uint64_t came_ = 0;
    bool within_ = false;
    bool heard_ = false;
};

}  // namespace postal::rabid
