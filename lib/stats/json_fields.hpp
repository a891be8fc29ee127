// SPDX-License-Identifier: GPL-3.0-or-later
// Typed access to the members of a JSON object that somebody else wrote.
//
// Reading sixty members one by one would need sixty checks; instead the first member of the wrong
// type is remembered in a `complaint` with its path ("totals.messages: ..."), its target stays as
// it is, and the caller looks once at the end. Absent and null members leave theirs without
// complaint.
//
// It is an archive of the lists of fields, too (record_fields.hpp): what it reads by one is
// bounded, and complained of, in the same way. Whoever looks at a value's JSON includes it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/words.hpp"
#include "stats/foreign_json.hpp"
#include "stats/record_fields.hpp"

namespace postal::stats {

struct complaint {
    std::string first{};
    counter_rows counters = all_counters();  // that the document may have

    void add(const std::string& path, std::string_view wanted);
    explicit operator bool() const noexcept { return !first.empty(); }
};

class json_fields {
  public:
    template <class T>
    using field = T;

    // `object` and `problems` must outlive this. Anything but an object is a complaint.
    json_fields(const json& object, std::string path, complaint& problems);

    bool has(std::string_view key) const { return find(key) != nullptr; }

    // read("name", to.name, "cpus", to.cpus, ...): each member into its target: a text, a list of
    // texts or numbers, true or false, a whole number (the largest that fits instead of a larger
    // one) or any number, both 0 or more. An element of a list may be null where its target is
    // optional.
    template <class Target, class... More>
    void read(std::string_view key, Target& to, More&&... more) const {
        if (const json* value = find(key)) take(to, *value, place(*this, key));
        if constexpr (sizeof...(more) > 0) read(std::forward<More>(more)...);
    }

    // The same for the lists of fields; once for each type, and not again for each field.
    template <class T>
    [[gnu::noinline]] void operator()(std::string_view key, T& to, std::string_view = {},
                                      as how = {}) const {
        const json* value = find(key);
        if (value == nullptr) {
            if (how.needed) complain(key, "there");
            return;
        }
        if (how.any_sign) return take_any_sign(to, *value, place(*this, key));
        take(to, *value, place(*this, key));
    }
    template <class List>
    void group(std::string_view key, List list, std::string_view = {}, as = {}) const {
        const json_fields inner = object(key);
        list(inner);
    }
    template <class Element, class Name, class Owner>
    void named(std::string_view key, std::vector<Element>& to, Name Owner::*name,
               std::string_view = {}) const {
        const json_fields inner = object(key);
        inner.members([&](const std::string& found, const json& member) {
            if (is_none(member)) return;
            to.emplace_back().*name = found;
            inner.take(to.back(), member, place(inner, found));
        });
    }
    template <class Wanted>
    void counters(counts& to, Wanted wanted) const {
        for (const counter& one : problems_->counters)
            if (wanted(one)) read(one.name, to.*one.value);
    }
    template <class Wanted>
    void counters(known_counts& to, Wanted wanted) const {
        for (const counter& one : problems_->counters) {
            if (!wanted(one) || !has(one.name)) continue;
            read(one.name, to.*one.value);
            to.known.push_back(one.name);
        }
    }
    template <class List>
    void with(bool, List list) const {
        list();
    }

    json_fields object(std::string_view key) const;

    // Where a value stands. Its path is only made when something is wrong with it: there may be
    // millions of values.
    class place {
      public:
        place(const json_fields& object, std::string_view key) : object_(&object), key_(key) {}
        place(const place& list, std::size_t index)
            : object_(list.object_), key_(list.key_), index_(index) {}
        operator std::string() const;  // NOLINT(google-explicit-constructor)

      private:
        const json_fields* object_;
        std::string_view key_;
        std::optional<std::size_t> index_;
    };

    // Calls visit(const json& element, place of the element) for each element of an array.
    template <class Visit>
    void each(std::string_view key, Visit visit) const {
        const json* list = find(key);
        if (list == nullptr) return;
        const place where(*this, key);
        const std::size_t size = list_size(*list, where);
        for (std::size_t index = 0; index < size; ++index)
            visit(element(*list, index), place(where, index));
    }
    // The same of an array of objects, as json_fields.
    template <class Visit>
    void each_object(std::string_view key, Visit visit) const {
        each(key, [&](const json& element, const place& where) {
            visit(json_fields{element, where, *problems_});
        });
    }

    // Calls visit(name, const json& member) for each member of this object.
    void members(const std::function<void(const std::string&, const json&)>& visit) const;

    void complain(std::string_view key, std::string_view wanted) const;

  private:
    std::string path(std::string_view key) const;
    const json* find(std::string_view key) const;
    static bool is_none(const json& value);
    // What is no list is a complaint, and has no element.
    std::size_t list_size(const json& value, const place& path) const;
    static const json& element(const json& list, std::size_t index);

    void take(std::string& to, const json& value, const place& path) const;
    void take(bool& to, const json& value, const place& path) const;
    void take(std::int64_t& to, const json& value, const place& path) const;
    void take(std::chrono::nanoseconds& to, const json& value, const place& path) const;
    void take(std::chrono::milliseconds& to, const json& value, const place& path) const;
    void take(histogram& to, const json& value, const place& path) const;
    // Words that are not known are of a later version, and mean none.
    template <class Enum>
    static constexpr bool may_be_newer =
        std::is_same_v<Enum, run_ending> || std::is_same_v<Enum, generator_verdict> ||
        std::is_same_v<Enum, generator_cause>;
    void take(std::optional<generator_verdict>& to, const json& value, const place& path) const;
    void take(thread_share& to, const json& value, const place& path) const;
    void take(named_numbers& to, const json& value, const place& path) const;
    // Options are kept as they stand, whatever they are.
    void take(option_value& to, const json& value, const place& path) const;
    void take(double& to, const json& value, const place& path) const;
    template <base::worded Enum>
    void take(Enum& to, const json& value, const place& path) const {
        const auto words = words_of(to);
        to = static_cast<Enum>(
            which_word({words.begin(), words.end()}, value, path, may_be_newer<Enum>));
    }
    // The place in the list of the word that stands there; 0 where it is none of them, which is a
    // complaint unless it may be a newer one.
    std::size_t which_word(std::span<const std::string_view> words, const json& value,
                           const place& path, bool newer) const;
    template <class Value>
    void take(std::vector<std::pair<std::string, Value>>& to, const json& value,
              const place& path) const {
        const json_fields inner(value, path, *problems_);
        inner.members([&](const std::string& name, const json& one) {
            inner.take(to.emplace_back(name, Value{}).second, one, place(inner, name));
        });
    }
    template <class T>
    requires std::is_class_v<T>
    void take(T& to, const json& value, const place& path) const {
        const json_fields inner(value, path, *problems_);
        fields<const json_fields>(inner, to);
    }
    void take_any_sign(double& to, const json& value, const place& path) const;
    void take_any_sign(std::optional<double>& to, const json& value, const place& path) const;
    template <class T>
    void take_any_sign(T& to, const json& value, const place& path) const {
        take(to, value, path);
    }
    // Of any sign. A list of another length is as good as none.
    template <std::size_t size>
    void take(std::optional<std::array<double, size>>& to, const json& value,
              const place& path) const {
        std::array<double, size> made{};
        if (take_known(made, value, path) == size) to = made;
    }
    // How many elements are not null; the first of these.
    std::size_t take_known(std::span<double> to, const json& value, const place& path) const;
    template <std::integral Number>
    void take(Number& to, const json& value, const place& path) const {
        constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
        if (const auto number = whole_number(value, path))
            to = static_cast<Number>(std::min(*number, most));
    }
    std::optional<std::uint64_t> whole_number(const json& value, const place& path) const;
    template <class Value>
    void take(std::optional<Value>& to, const json& value, const place& path) const {
        if (is_none(value)) return to.reset();
        take(to.emplace(), value, path);
    }
    template <class Element>
    void take(std::vector<Element>& to, const json& value, const place& path) const {
        const std::size_t size = list_size(value, path);
        for (std::size_t index = 0; index < size; ++index)
            take(to.emplace_back(), element(value, index), place(path, index));
    }

    const json* object_;
    std::string path_;
    complaint* problems_;
};

// The tree of a file of that schema; `is_none` begins what is said of a text that is no object.
base::expected<json> parse_schema(std::string_view text, std::string_view schema,
                                  std::string_view is_none);

// Lets `take` have what stands in a text of that schema; fails with its first complaint.
base::expected<void> read_foreign(
    std::string_view text, std::string_view schema,
    const std::function<void(const json_fields& from, complaint& problems)>& take);

// The text as a T of that schema. check(const T&, complaint&) says what the list of fields cannot.
template <class T, class Check>
base::expected<T> parse_fields(std::string_view text, std::string_view schema, Check check) {
    T made;
    const auto read = read_foreign(text, schema, [&](const json_fields& from, complaint& problems) {
        fields<const json_fields>(from, made);
        if (!problems) check(std::as_const(made), problems);
    });
    if (!read) return read.error();
    return {boost::system::in_place_value, std::move(made)};
}

}  // namespace postal::stats
