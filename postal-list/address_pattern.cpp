// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-list/address_pattern.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace postal::list {
namespace {

using base::expected;

bool is_number(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), base::is_digit);
}

constexpr std::size_t most_digits = 18;  // what 64 bits hold, whatever they are

expected<std::uint64_t> parse_number(std::string_view digits, std::size_t column) {
    if (digits.size() > most_digits) {
        return base::fail("column {}: {} is too large; give at most {} digits", column,
                          base::printable(digits, 40), most_digits);
    }
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

expected<alternatives> parse_numbers(std::string_view first, std::string_view last,
                                     std::size_t column) {
    const auto least = parse_number(first, column);
    if (!least) return least.error();
    const auto most = parse_number(last, column + first.size() + 1);
    if (!most) return most.error();
    if (*least > *most) {
        return base::fail("column {}: {}-{} goes down; write the lower number first", column, first,
                          last);
    }
    return alternatives{{}, *least, *most, first.size()};
}

expected<alternatives> parse_set(std::string_view set, std::size_t column) {
    const std::size_t hyphen = set.find('-');
    if (hyphen != std::string_view::npos && set.size() > 3) {
        const auto first = set.substr(0, hyphen);
        const auto last = set.substr(hyphen + 1);
        if (is_number(first) && is_number(last)) return parse_numbers(first, last, column);
    }
    return parse_octets(set, column);
}

// Nobody's address has these, nor has a line of them two.
bool is_out_of_place(char octet) noexcept {
    return static_cast<unsigned char>(octet) <= ' ' || static_cast<unsigned char>(octet) > 126;
}

}  // namespace

expected<alternatives> parse_octets(std::string_view set, std::size_t column) {
    alternatives made;
    if (set.empty()) {
        return base::fail("column {}: nothing is in the brackets; write [0-9] or [abc]", column);
    }
    for (std::size_t at = 0; at < set.size(); ++at) {
        const bool is_range = at + 2 < set.size() && set[at + 1] == '-';
        const char first = set[at];
        const char last = is_range ? set[at + 2] : first;
        if (is_out_of_place(first) || is_out_of_place(last)) {
            return base::fail(
                "column {}: only printable ASCII without blanks may be in the brackets",
                column + at);
        }
        if (first > last) {
            return base::fail("column {}: {}-{} goes down; write the lower one first", column + at,
                              first, last);
        }
        for (int octet = first; octet <= last; ++octet) {
            const auto one = static_cast<char>(octet);
            if (made.octets.find(one) == std::string::npos) made.octets += one;
        }
        if (is_range) at += 2;
    }
    return made;
}

void alternatives::append(std::string& out, std::uint64_t index) const {
    if (digits == 0) {
        out += octets[static_cast<std::size_t>(index)];
    } else {
        out += fmt::format("{:0{}}", first + index, digits);
    }
}

expected<address_pattern> address_pattern::parse(std::string_view text) {
    address_pattern made;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) {
            made.add(text[++at]);
            continue;
        }
        if (text[at] != '[') {
            made.add(text[at]);
            continue;
        }
        const std::size_t close = text.find(']', at);
        if (close == std::string_view::npos) {
            return base::fail("column {}: [ has no ]; write \\[ for a bracket of the address",
                              at + 1);
        }
        auto set = parse_set(text.substr(at + 1, close - at - 1), at + 2);
        if (!set) return set.error();
        made.add(std::move(*set));
        at = close;
    }
    if (!made.size()) {
        return base::fail("stands for more than 2^64 addresses; give smaller sets");
    }
    return made;
}

std::optional<std::uint64_t> address_pattern::size() const noexcept {
    std::uint64_t product = 1;
    for (const alternatives& place : places_) {
        if (__builtin_mul_overflow(product, place.size(), &product)) return std::nullopt;
    }
    return product;
}

std::string address_pattern::at(std::uint64_t index) const {
    std::vector<std::uint64_t> chosen(places_.size());
    for (std::size_t place = places_.size(); place-- > 0;) {
        chosen[place] = index % places_[place].size();
        index /= places_[place].size();
    }
    std::string address;
    for (std::size_t place = 0; place < places_.size(); ++place)
        places_[place].append(address, chosen[place]);
    return address;
}

}  // namespace postal::list
