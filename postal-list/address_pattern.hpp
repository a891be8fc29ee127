// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses that a text in brackets stands for: user[0000-9999]@example.com.
//
//   pattern = 1*( "[" set "]" / "\" octet / octet )
//   set     = number "-" number            ; where one of them has several digits: each number
//           / 1*( octet "-" octet / octet ) ; each octet of a range, or itself
//
// A number has at least as many digits as the first one of its set is written with. A "-" that
// begins or ends a set stands for itself; what a set names twice it has once. The last set changes
// fastest.
// Reading fails with "column N: why; what would be right", N counting octets from 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace postal::list {

// What may stand at one place: one of the octets, or one of the numbers.
struct alternatives {
    std::string octets{};
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::size_t digits = 0;  // 0: these are octets

    std::uint64_t size() const noexcept { return digits == 0 ? octets.size() : last - first + 1; }
    void append(std::string& out, std::uint64_t index) const;  // index < size()
};

// The octets of a set, without its brackets; `column` is where they begin.
base::expected<alternatives> parse_octets(std::string_view set, std::size_t column);

class address_pattern {
  public:
    static base::expected<address_pattern> parse(std::string_view text);

    void add(alternatives place) { places_.push_back(std::move(place)); }
    void add(char octet) { places_.push_back({std::string(1, octet)}); }

    // How many addresses; nothing where 64 bits do not hold that.
    std::optional<std::uint64_t> size() const noexcept;
    std::string at(std::uint64_t index) const;  // index < size()

  private:
    std::vector<alternatives> places_;
};

}  // namespace postal::list
