// The valid recipients: who is in the user list, asked once for every RCPT.
//
// ASCII case does not matter in either part; a quoted local part means the same as the plain one
// (RFC 5321 4.1.2). `postmaster` without a domain is always valid (RFC 5321 4.5.1). Without a list
// everybody is. The same list has the passwords of AUTH. Asking allocates only for quoted local
// parts. Made before the run, then only read. Fails on a list that uses the behaviour column,
// naming file and line: this version has no behaviours.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/folded.hpp"
#include "base/result.hpp"
#include "mail/user_list.hpp"
#include "proto/address.hpp"

namespace postal::bhm {

class recipients {
  public:
    // Makes these users, and no others, valid.
    base::expected<void> admit(const std::vector<mail::user>& users, const std::string& file);

    bool valid(const proto::path& who) const;
    std::size_t size() const noexcept { return known_.size(); }

    // Of who logs in with the address as it stands in the list; null for nobody.
    const std::string* password(std::string_view user) const;
    bool any_password() const noexcept { return any_password_; }

  private:
    // with their passwords; of two lines with the same address the first counts
    std::unordered_map<std::string, std::string, base::folded_hash, base::folded_equal> known_;
    bool any_password_ = false;
};

}  // namespace postal::bhm
