// SPDX-License-Identifier: GPL-3.0-or-later
// The valid recipients: who is in the user list, asked once for every RCPT.
//
// ASCII case does not matter in either part; a quoted local part means the same as the plain one
// (RFC 5321 4.1.2). `postmaster` without a domain is always valid (RFC 5321 4.5.1). Without a list
// everybody is. The same list has the passwords of AUTH. Asking allocates only for quoted local
// parts. Made before the run, then only read.
//
// The third column says what becomes of the user's mail, in one letter: d, r, b or g. Fails on
// several, naming file and line: each of them answers RCPT in a way of its own, so that two cannot
// both be meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/folded.hpp"
#include "base/result.hpp"
#include "mail/user_list.hpp"
#include "proto/address.hpp"

namespace postal::bhm {

// What becomes of mail for a recipient.
enum class fate : std::uint8_t {
    accepted,
    deferred,   // d: 450
    rejected,   // r: 550
    bounced,    // b: accepted, and a notification goes to the sender
    greylisted  // g: 450 until it is tried again
};

struct recipient {
    std::string password{};
    fate what = fate::accepted;
    std::size_t line = 0;  // of the list; 0: of none
};

class recipients {
  public:
    // Makes these users, and no others, valid.
    base::expected<void> admit(const std::vector<mail::user>& users, const std::string& file);

    // Null: there is no such user. Valid as long as this object.
    const recipient* find(const proto::path& who) const;
    std::size_t size() const noexcept { return known_.size(); }
    // The first of the list with this fate; null without one.
    const recipient* first(fate what) const noexcept;

    // Of who logs in with the address as it stands in the list; null for nobody.
    const std::string* password(std::string_view user) const;
    bool any_password() const noexcept { return any_password_; }

  private:
    // of two lines with the same address the first counts
    std::unordered_map<std::string, recipient, base::folded_hash, base::folded_equal> known_;
    bool any_password_ = false;
};

}  // namespace postal::bhm
