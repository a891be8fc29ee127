// Typed access to the members of a JSON object that somebody else wrote.
//
// Reading sixty members one by one would need sixty checks; instead the first member of the wrong
// type is remembered in a `complaint` with its path ("totals.messages: ..."), its target stays as it
// is, and the caller looks once at the end. Absent and null members leave theirs without complaint.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::stats {

// Keeps the order of the members, so that what a record lists in order is shown in order.
using json = nlohmann::ordered_json;

struct complaint {
    std::string first;

    void add(const std::string& path, std::string_view wanted) {
        if (first.empty()) first = path + " is not " + std::string{wanted};
    }
    explicit operator bool() const noexcept { return !first.empty(); }
};

// Why a text is no JSON, without the library's number for it:
// "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
inline std::string_view reason_of(const json::exception& broken) {
    std::string_view reason = broken.what();
    if (const auto end = reason.find("] "); end != reason.npos) reason.remove_prefix(end + 2);
    return reason;
}

class json_fields {
  public:
    // `object` and `problems` must outlive this. Anything but an object is a complaint.
    json_fields(const json& object, std::string path, complaint& problems)
        : object_{&object}, path_{std::move(path)}, problems_{&problems} {
        if (object.is_object()) return;
        problems.add(path_, "an object");
        object_ = &no_members;
    }

    bool has(std::string_view key) const { return find(key) != nullptr; }

    // read("name", to.name, "cpus", to.cpus, ...): each member into its target: a text, a list of
    // texts or numbers, true or false, a whole number (the largest that fits instead of a larger one) or any
    // number, both 0 or more. An element of a list may be null where its target is optional.
    template <class Target, class... More>
    void read(std::string_view key, Target& to, More&&... more) const {
        if (const json* value = find(key)) take(to, *value, place(*this, key));
        if constexpr (sizeof...(more) > 0) read(std::forward<More>(more)...);
    }

    // A number that may be below 0.
    void read_signed(std::string_view key, std::optional<double>& to) const {
        const json* value = find(key);
        if (value == nullptr) return;
        if (!value->is_number()) return complain(key, "a number");
        to = value->get<double>();
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

}  // namespace postal::stats
