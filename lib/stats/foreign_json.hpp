// SPDX-License-Identifier: GPL-3.0-or-later
// JSON that somebody else wrote: the one way in which files of others become a tree.
//
// Its time grows with the text's length (times the logarithm of an object's members), its memory
// with the number of values, and both have bounds: what is nested too deep, is too long, or has too
// many values, members of an object or octets in a key is refused while it is read. So is an object
// that has a key twice: readers would differ in which one they take.
//
// Fails with the reason alone, which may quote what it has read: "parse error at line 1, ...",
// "nests more than 64 lists and objects". It is for base::printable() before it is shown.
//
// Whoever looks at the tree includes <nlohmann/json.hpp>, which is much for a compiler.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace postal::stats {

// Keeps the order of the members, so that what a record lists in order is shown in order.
using json = nlohmann::ordered_json;

struct json_bounds {
    std::uint64_t octets = std::uint64_t{256} << 20U;
    std::size_t depth = 64;                      // lists and objects within each other
    std::size_t members = 65536;                 // of one object
    std::size_t key = 1024;                      // octets
    std::size_t values = std::size_t{1} << 23U;  // of all the text
};

[[nodiscard]] base::expected<json> parse_foreign(std::string_view text,
                                                 const json_bounds& bounds = {});

// Equal but for the order of members, and of numbers as far as two machines' mathematics agree.
[[nodiscard]] bool is_same(const json& one, const json& other);

}  // namespace postal::stats
