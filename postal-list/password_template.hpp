// SPDX-License-Identifier: GPL-3.0-or-later
// The password of each address, made from what stands around it:
//
//   template = 1*( "%" ( "address" / "user" / "domain" / "number" ) "%" / "%%" / octet )
//
// user is the part before the @, or the whole where there is none; number counts lines from 1.
// Reading fails with "column N: why; what would be right". A password has no blank, because blanks
// part the columns of a user list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace postal::list {

class password_template {
  public:
    static base::expected<password_template> parse(std::string_view text);

    std::string expand(std::string_view address, std::uint64_t number) const;

  private:
    enum class kind : std::uint8_t { literal, address, user, domain, number };
    struct piece {
        kind what = kind::literal;
        std::string text{};  // of a literal
    };

    static base::expected<kind> find_kind(std::string_view name, std::size_t column);

    std::vector<piece> pieces_;
};

}  // namespace postal::list
