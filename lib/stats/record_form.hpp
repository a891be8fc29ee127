// SPDX-License-Identifier: GPL-3.0-or-later
// How fields are listed for archives: record_fields.hpp says what an archive is, and has the lists.
#pragma once

#include "base/words.hpp"

#include <string_view>
#include <type_traits>

namespace postal::stats {

// How a value stands in a record, and what may stand for it.
struct as {
    bool left_out = false;     // where it is empty; otherwise null
    bool any_sign = false;     // a number that may be below 0
    bool fine = false;         // nine decimals instead of four
    bool newer = false;        // records of earlier versions lack it
    bool empty_null = false;   // a text that is null where it is empty
    bool null_empty = false;   // a word that is empty where it is not known
    bool needed = false;       // neither absent nor null
    std::string_view words{};  // all that it may be, with blanks between
    std::string_view form{};   // a regular expression that it matches
};

template <class Archive, class T>
using field = typename Archive::template field<T>;

// Several of which there is no more to say than key and value. Words, and all where `needed`, are
// there.
template <bool needed = false, class Archive, class Value, class... More>
void plain_fields(Archive& each, std::string_view key, Value&& value, More&&... more);

template <bool needed, class Archive, class Value>
void plain_field(Archive& each, std::string_view key, Value& value) {
    each(key, value, "", as{.needed = needed || base::worded<std::remove_const_t<Value>>});
}

// At once, for the compiler's sake: one by one, fifteen would be as many functions of all the rest.
template <bool needed, class Archive, class A, class B, class C, class D, class... More>
void four_fields(Archive& each, std::string_view key_a, A& a, std::string_view key_b, B& b,
                 std::string_view key_c, C& c, std::string_view key_d, D& d, More&&... more) {
    plain_field<needed>(each, key_a, a);
    plain_field<needed>(each, key_b, b);
    plain_field<needed>(each, key_c, c);
    plain_field<needed>(each, key_d, d);
    if constexpr (sizeof...(more) > 0) plain_fields<needed>(each, more...);
}

template <bool needed, class Archive, class Value, class... More>
void plain_fields(Archive& each, std::string_view key, Value&& value, More&&... more) {
    if constexpr (sizeof...(more) >= 6) {
        four_fields<needed>(each, key, value, more...);
    } else {
        plain_field<needed>(each, key, value);
        if constexpr (sizeof...(more) > 0) plain_fields<needed>(each, more...);
    }
}

}  // namespace postal::stats
