// Typed access to the members of a JSON object that somebody else wrote; for record_reader.cpp.
//
// Reading sixty members one by one would need sixty checks; instead the first member of the wrong
// type is remembered in a `complaint` with its path ("totals.messages: ..."), its getter answers with
// the default, and the caller looks once at the end. Absent and null members give the default and
// no complaint.
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

    std::string text(std::string_view key) const {
        const json* value = find(key, &json::is_string, "a text");
        return value == nullptr ? std::string{} : value->get<std::string>();
    }

    bool flag(std::string_view key) const {
        const json* value = find(key, &json::is_boolean, "true or false");
        return value != nullptr && value->get<bool>();
    }

    // Whole, 0 or more.
    std::optional<std::uint64_t> maybe_count(std::string_view key) const {
        const json* value = find(key);
        if (value == nullptr) return std::nullopt;
        if (value->is_number_unsigned()) return value->get<std::uint64_t>();
        const double number = value->is_number_float() ? value->get<double>() : -1;
        if (number >= 0 && number < count_limit && number == std::floor(number))
            return static_cast<std::uint64_t>(number);
        problems_->add(path(key), "a whole number, 0 or more");
        return std::nullopt;
    }
    std::uint64_t count(std::string_view key) const { return maybe_count(key).value_or(0); }

    // 0 or more.
    std::optional<double> maybe_number(std::string_view key) const {
        const json* value = find(key);
        if (value == nullptr) return std::nullopt;
        if (value->is_number() && value->get<double>() >= 0) return value->get<double>();
        problems_->add(path(key), "a number, 0 or more");
        return std::nullopt;
    }
    double number(std::string_view key) const { return maybe_number(key).value_or(0); }

    json_fields object(std::string_view key) const {
        const json* value = find(key);
        return json_fields{value == nullptr ? no_members : *value, path(key), *problems_};
    }

    // Calls visit(const json& element, path of the element) for each element of an array.
    template <class Visit>
    void each(std::string_view key, Visit visit) const {
        const json* list = find(key, &json::is_array, "a list");
        for (std::size_t index = 0; list != nullptr && index < list->size(); ++index)
            visit((*list)[index], path(key) + "[" + std::to_string(index) + "]");
    }

    // Calls visit(name, const json& member) for each member of this object.
    template <class Visit>
    void members(Visit visit) const {
        for (const auto& [name, member] : object_->items())
            visit(name, member);
    }

    std::string path(std::string_view key) const {
        return (path_.empty() ? std::string{} : path_ + ".").append(key);
    }

  private:
    using kind = bool (json::*)() const noexcept;

    // 2^63: every double below it converts to std::uint64_t exactly.
    static constexpr double count_limit = 9223372036854775808.0;
    static inline const json no_members = json::object();

    const json* find(std::string_view key) const {
        const auto found = object_->find(key);
        return found == object_->end() || found->is_null() ? nullptr : &*found;
    }

    // Null, and a complaint, also if it is of another kind.
    const json* find(std::string_view key, kind is_right, std::string_view wanted) const {
        const json* value = find(key);
        if (value == nullptr || (value->*is_right)()) return value;
        problems_->add(path(key), wanted);
        return nullptr;
    }

    const json* object_;
    std::string path_;
    complaint* problems_;
};

}  // namespace postal::stats
