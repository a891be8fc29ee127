// SPDX-License-Identifier: GPL-3.0-or-later
// Typed access to the members of a JSON object that somebody else wrote.
//
// Reading sixty members one by one would need sixty checks; instead the first member of the wrong
// type is remembered in a `complaint` with its path ("totals.messages: ..."), its target stays as
// it is, and the caller looks once at the end. Absent and null members leave theirs without
// complaint.
//
// It is an archive of the lists of fields, too (record_fields.hpp): what it reads by one is
// bounded, and complained of, in the same way.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "stats/foreign_json.hpp"
#include "stats/record_fields.hpp"

namespace postal::stats {

struct complaint {
    std::string first{};
    counter_rows counters = all_counters();  // that the document may have

    void add(const std::string& path, std::string_view wanted) {
        const std::string_view blank = path.empty() ? "" : " ";  // of the whole text
        if (first.empty())
            first = fmt::format("{}{}is not {}", base::printable(path, 300), blank, wanted);
    }
    explicit operator bool() const noexcept { return !first.empty(); }
};

class json_fields {
  public:
    template <class T>
    using field = T;

    // `object` and `problems` must outlive this. Anything but an object is a complaint.
    json_fields(const json& object, std::string path, complaint& problems)
        : object_{&object}, path_{std::move(path)}, problems_{&problems} {
        if (object.is_object()) return;
        problems.add(path_, path_.empty() ? "a JSON object" : "an object");
        object_ = &no_members;
    }

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

    // The same for the lists of fields.
    template <class T>
    void operator()(std::string_view key, T& to, std::string_view = {}, as how = {}) const {
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
            if (member.is_null()) return;
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

    json_fields object(std::string_view key) const {
        const json* value = find(key);
        return json_fields{value == nullptr ? no_members : *value, path(key), *problems_};
    }

    // Where a value stands. Its path is only made when something is wrong with it: there may be
    // millions of values.
    class place {
      public:
        place(const json_fields& object, std::string_view key) : object_(&object), key_(key) {}
        place(const place& list, std::size_t index)
            : object_(list.object_), key_(list.key_), index_(index) {}
        operator std::string() const {  // NOLINT(google-explicit-constructor)
            const std::string list = object_->path(key_);
            return index_ ? list + "[" + std::to_string(*index_) + "]" : list;
        }

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
        if (!list->is_array()) return complain(key, "a list");
        for (std::size_t index = 0; index < list->size(); ++index)
            visit((*list)[index], place({*this, key}, index));
    }
    // The same of an array of objects, as json_fields.
    template <class Visit>
    void each_object(std::string_view key, Visit visit) const {
        each(key, [&](const json& element, const place& where) {
            visit(json_fields{element, where, *problems_});
        });
    }

    // Calls visit(name, const json& member) for each member of this object.
    template <class Visit>
    void members(Visit visit) const {
        for (const auto& [name, member] : object_->items())
            visit(name, member);
    }

    void complain(std::string_view key, std::string_view wanted) const {
        problems_->add(path(key), wanted);
    }

  private:
    // 2^63: every double below it converts to std::uint64_t exactly.
    static constexpr double count_limit = 9223372036854775808.0;
    static inline const json no_members = json::object();

    std::string path(std::string_view key) const {
        return (path_.empty() ? std::string{} : path_ + ".").append(key);
    }

    const json* find(std::string_view key) const {
        const auto found = object_->find(key);
        return found == object_->end() || found->is_null() ? nullptr : &*found;
    }

    void take(std::string& to, const json& value, const place& path) const {
        if (!value.is_string()) return problems_->add(path, "a text");
        to = value.get<std::string>();
    }
    void take(bool& to, const json& value, const place& path) const {
        if (!value.is_boolean()) return problems_->add(path, "true or false");
        to = value.get<bool>();
    }
    void take(std::int64_t& to, const json& value, const place& path) const {
        if (!value.is_number_integer()) return problems_->add(path, "a whole number");
        to = value.get<std::int64_t>();
    }
    void take(std::chrono::nanoseconds& to, const json& value, const place& path) const {
        constexpr double most_us = 9e15;
        double us = 0;
        take(us, value, path);
        to = std::chrono::nanoseconds(std::llround(std::min(us, most_us) * 1e3));
    }
    void take(histogram& to, const json& value, const place& path) const {
        std::string text;
        take(text, value, path);
        auto decoded = histogram::decode(text);
        if (!decoded) return problems_->add(path, "a histogram: " + decoded.error().message);
        to = std::move(*decoded);
    }
    // Words that are not known are of a later version, and mean none.
    template <class Enum>
    static constexpr bool may_be_newer =
        std::is_same_v<Enum, run_ending> || std::is_same_v<Enum, generator_verdict> ||
        std::is_same_v<Enum, generator_cause>;
    template <base::worded Enum>
    void take(Enum& to, const json& value, const place& path) const {
        std::string word;
        take(word, value, path);
        to = base::named<Enum>(word);
        if (may_be_newer<Enum> || base::name_of(to) == word) return;
        problems_->add(path, fmt::format("one of {}", fmt::join(words_of(to), ", ")));
    }
    void take(std::optional<generator_verdict>& to, const json& value, const place& path) const {
        std::string word;
        take(word, value, path);
        if (!word.empty()) to = base::named<generator_verdict>(word);
    }
    // Up to 49 days.
    void take(std::chrono::milliseconds& to, const json& value, const place& path) const {
        std::uint32_t number = 0;
        take(number, value, path);
        to = std::chrono::milliseconds(number);
    }
    void take(thread_share& to, const json& value, const place& path) const {
        take(to.busy, value, path);
    }
    void take(named_numbers& to, const json& value, const place& path) const {
        const json_fields inner(value, path, *problems_);
        inner.members([&](const std::string& name, const json& member) {
            auto& count = to.emplace_back(named_count{name, 0}).count;
            if (!member.is_null()) inner.take(count, member, place(inner, name));
        });
    }
    // Options are kept as they stand, whatever they are.
    void take(option_value& to, const json& value, const place&) const { to = option_of(value); }
    template <class Value>
    void take(std::vector<std::pair<std::string, Value>>& to, const json& value,
              const place& path) const {
        const json_fields inner(value, path, *problems_);
        inner.members([&](const std::string& name, const json& one) {
            inner.take(to.emplace_back(name, Value{}).second, one, place(inner, name));
        });
    }
    static std::string plain(const json& value) {
        return value.is_string() ? value.get<std::string>() : value.dump();
    }
    static option_value option_of(const json& value) {
        if (value.is_number_unsigned()) return value.get<std::uint64_t>();
        if (!value.is_array()) return plain(value);
        std::vector<std::string> all;
        for (const json& one : value)
            all.push_back(plain(one));
        return all;
    }
    template <class T>
    requires std::is_class_v<T>
    void take(T& to, const json& value, const place& path) const {
        const json_fields inner(value, path, *problems_);
        fields<const json_fields>(inner, to);
    }
    void take_any_sign(double& to, const json& value, const place& path) const {
        if (!value.is_number()) return problems_->add(path, "a number");
        to = value.get<double>();
    }
    void take_any_sign(std::optional<double>& to, const json& value, const place& path) const {
        if (!value.is_number()) return problems_->add(path, "a number");
        to = value.get<double>();
    }
    template <class T>
    void take_any_sign(T& to, const json& value, const place& path) const {
        take(to, value, path);
    }
    // Of any sign. A list of another length is as good as none.
    template <std::size_t size>
    void take(std::optional<std::array<double, size>>& to, const json& value,
              const place& path) const {
        if (!value.is_array()) return problems_->add(path, "a list");
        std::array<double, size> made{};
        std::size_t known = 0;
        for (std::size_t index = 0; index < value.size(); ++index) {
            if (value[index].is_null()) continue;
            double number = 0;
            take_any_sign(number, value[index], place(path, index));
            if (known < size) made[known] = number;
            ++known;
        }
        if (known == size) to = made;
    }
    void take(double& to, const json& value, const place& path) const {
        const double number = value.is_number() ? value.get<double>() : -1;
        if (!(number >= 0)) return problems_->add(path, "a number, 0 or more");
        to = number;
    }
    template <std::integral Number>
    void take(Number& to, const json& value, const place& path) const {
        constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
        const double number = value.is_number_float() ? value.get<double>() : -1;
        const bool whole = number >= 0 && number < count_limit && number == std::floor(number);
        if (!whole && !value.is_number_unsigned())
            return problems_->add(path, "a whole number, 0 or more");
        to = static_cast<Number>(std::min(value.get<std::uint64_t>(), most));
    }
    template <class Value>
    void take(std::optional<Value>& to, const json& value, const place& path) const {
        if (value.is_null()) return to.reset();
        take(to.emplace(), value, path);
    }
    template <class Element>
    void take(std::vector<Element>& to, const json& value, const place& path) const {
        if (!value.is_array()) return problems_->add(path, "a list");
        for (std::size_t index = 0; index < value.size(); ++index)
            take(to.emplace_back(), value[index], place(path, index));
    }

    const json* object_;
    std::string path_;
    complaint* problems_;
};

// The tree of a file of that schema; `is_none` begins what is said of a text that is no object.
inline base::expected<json> parse_schema(std::string_view text, std::string_view schema,
                                         std::string_view is_none) {
    auto tree = parse_foreign(text);
    if (!tree) return base::fail("{}: {}", is_none, tree.error().message);
    if (!tree->is_object()) return base::fail("{}: not a JSON object", is_none);
    complaint ignored;
    std::string named;
    json_fields(*tree, "", ignored).read("schema", named);
    if (named == schema) return tree;
    return base::fail("has schema \"{}\"; this program reads {}", base::printable(named, 60),
                      schema);
}

// The text as a T of that schema. check(const T&, complaint&) says what the list of fields cannot.
template <class T, class Check>
base::expected<T> parse_fields(std::string_view text, std::string_view schema, Check check) {
    T made;
    complaint problems;
    const auto all = parse_foreign(text);
    if (!all) return base::fail("is no JSON: {}", all.error().message);
    const json_fields from(*all, "", problems);
    std::string named;
    from.read("schema", named);
    if (!problems && named != schema) from.complain("schema", schema);
    if (!problems) fields<const json_fields>(from, made);
    if (!problems) check(std::as_const(made), problems);
    if (problems) return base::failure{problems.first};
    return {boost::system::in_place_value, std::move(made)};
}

}  // namespace postal::stats
