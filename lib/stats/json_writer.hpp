// SPDX-License-Identifier: GPL-3.0-or-later
// Values as JSON text: what the lists of fields (record_fields.hpp) write a record with.
//
// Keys keep the order of the lists. No number that is infinite or none gets in, and what is not
// known is null, so that the text is valid JSON whatever was measured; four decimals are enough for
// every share, rate and second of a run. Latencies are microseconds, to the nanosecond. Octets that
// are no UTF-8 become replacement characters. Nothing fails but memory.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "stats/record_fields.hpp"

namespace postal::stats {

// Rounded to so many decimals; null where it is no number.
std::string json_number(double value, double decimals = 1e4);

enum class decimals : std::uint8_t {
    few,     // four
    needed,  // four, and none of a whole number
    all,     // as many as tell the number from all others
};

class json_writer {
  public:
    template <class T>
    using field = const T;

    // Indented by that many blanks; on one line if there are none. `counted`: the counters that
    // mean something in the run.
    explicit json_writer(int indent, std::vector<counter> counted = {},
                         decimals digits = decimals::few)
        : indent_(indent), digits_(digits), counted_(std::move(counted)) {
        open('{');
    }

    // Once for each type, and not again for each field.
    template <class T>
    [[gnu::noinline]] void operator()(std::string_view key, const T& value, std::string_view = {},
                                      as how = {}) {
        if (how.left_out && is_empty(value)) return;
        begin(key);
        if constexpr (std::is_same_v<T, std::string>) {
            if (how.empty_null && value.empty()) return put("null");
        }
        write(value, how);
    }
    template <class List>
    void group(std::string_view key, List list, std::string_view = {}, as how = {}) {
        const std::size_t before = text_.size();
        const bool first = first_;
        begin(key);
        open('{');
        list(*this);
        if (how.left_out && first_) {
            text_.resize(before);
            first_ = first;
            --depth_;
            return;
        }
        close('}');
    }
    template <class Element, class Name, class Owner>
    void named(std::string_view key, const std::vector<Element>& all, Name Owner::*name,
               std::string_view = {}) {
        group(key, [&](json_writer& inner) {
            for (const Element& one : all)
                inner(one.*name, one);
        });
    }
    template <class Wanted>
    void counters(const counts& of, Wanted wanted) {
        for (const counter& one : counted_)
            if (wanted(one)) (*this)(one.name, of.*one.value);
    }
    template <class List>
    void with(bool is_there, List list) {
        if (is_there) list();
    }

    std::string take() {
        close('}');
        return std::move(text_);
    }

  private:
    template <class T>
    static bool is_empty(const T& value) {
        if constexpr (requires { value.has_value(); }) return !value.has_value();
        if constexpr (requires { value.empty(); }) return value.empty();
        if constexpr (std::integral<T> || std::same_as<T, std::chrono::milliseconds>)
            return value == T{};
        return false;
    }

    void write(bool value, as how);
    void write(std::int64_t value, as how);
    void write(std::uint64_t value, as how);
    template <std::integral Number>
    void write(Number value, as how) {
        if constexpr (std::is_signed_v<Number>) {
            write(std::int64_t{value}, how);
        } else {
            write(std::uint64_t{value}, how);
        }
    }
    void write(double value, as how);
    void write(std::chrono::milliseconds value, as how);
    void write(std::chrono::nanoseconds value, as how);
    void write(std::string_view value, as how);
    void write(const std::string& value, as how);
    void write(const histogram& value, as how);
    void write(const thread_share& value, as how);
    void write(const named_numbers& all, as how);
    void write(const option_value& value, as how);
    template <base::worded Enum>
    void write(Enum value, as how) {
        write(base::name_of(value), how);
    }
    template <class T>
    void write(const std::optional<T>& value, as how) {
        if (!value) return put(how.null_empty ? R"("")" : "null");
        write(*value, how);
    }
    template <class T>
    void write(const std::vector<T>& list, as how) {
        write_list(list, how);
    }
    template <class T, std::size_t size>
    void write(const std::array<T, size>& list, as how) {
        write_list(list, how);
    }
    template <class Value>
    void write(const std::vector<std::pair<std::string, Value>>& all, as how) {
        open('{');
        for (const auto& [name, value] : all) {
            begin(name);
            write(value, how);
        }
        close('}');
    }
    template <class T>
    requires std::is_class_v<T>
    void write(const T& value, as) {
        open('{');
        fields<json_writer>(*this, value);
        close('}');
    }
    template <class Elements>
    void write_list(const Elements& list, as how) {
        open('[');
        for (const auto& one : list) {
            separate();
            write(one, how);
        }
        close(']');
    }

    void put(std::string_view text);
    void open(char bracket);
    void close(char bracket);
    void separate();
    void begin(std::string_view key);
    void next_line();

    int indent_;
    decimals digits_;
    std::vector<counter> counted_;
    std::string text_;
    std::size_t depth_ = 0;
    bool first_ = true;  // nothing stands in what was opened last
};

// All of it, as the text of a file of that schema.
template <class T>
std::string fields_text(const T& of, std::string_view schema, int indent = 1,
                        decimals digits = decimals::few) {
    json_writer to(indent, {}, digits);
    to("schema", schema);
    fields<json_writer>(to, of);
    return to.take() + "\n";
}

}  // namespace postal::stats
