// SPDX-License-Identifier: GPL-3.0-or-later
// The conversion file of the original postal-list: which addresses an address stands for.
//
//   line    = regular-expression 1*WSP replacement / "#" text / empty
//   place   = "." / "[" set "]"            ; the address's own octet, or each of the set
//   replacement = 1*place                  ; from the address's first octet on; the rest stays
//
// Regular expressions are POSIX's basic ones (regex(7)), looked for anywhere in the address; the
// first line whose expression is found counts. Sets are as address_pattern.hpp says, without
// numbers.
// Failures are one line with FILE:LINE, and the column in the replacement where there is one.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <regex.h>

#include "base/result.hpp"
#include "postal-list/address_pattern.hpp"

namespace postal::list {

class conversions {
  public:
    static base::expected<conversions> load(const std::string& path);
    // The same from text; name stands for the file in failures.
    static base::expected<conversions> parse(std::string_view text, std::string_view name);

    // The addresses for one; nothing where no expression is found in it. Fails when the replacement
    // is longer than the address.
    base::expected<std::optional<address_pattern>> expand(const std::string& address) const;

  private:
    struct freed {
        void operator()(regex_t* compiled) const noexcept;
    };
    struct conversion {
        std::unique_ptr<regex_t, freed> found;
        std::vector<std::optional<alternatives>> places;  // nothing: the address's own octet
        std::string where;                                // FILE:LINE
    };

    static base::expected<conversion> parse_line(std::string_view line);

    std::vector<conversion> all_;
};

}  // namespace postal::list
