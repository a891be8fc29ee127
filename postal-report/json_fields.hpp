// Typed access to the members of a JSON object that somebody else wrote.
//
// Reading sixty members one by one would need sixty checks; instead the first member of the wrong
// type is remembered in a `complaint` with its path ("totals.messages: ..."), every getter answers
// with its default from then on, and the caller looks once at the end. Absent and null members give
// the default and no complaint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace postal::report {

// Keeps the order of the members, so that what a record lists in order is shown in order.
using json = nlohmann::ordered_json;

struct complaint {
    std::string first;

    void add(const std::string& path, std::string_view wanted);
    explicit operator bool() const noexcept { return !first.empty(); }
};

class json_fields {
  public:
    // `object` and `problems` must outlive this. Anything but an object is a complaint.
    json_fields(const json& object, std::string path, complaint& problems);

    bool has(const char* key) const;
    std::string text(const char* key) const;
    bool flag(const char* key) const;
    std::uint64_t count(const char* key) const { return maybe_count(key).value_or(0); }
    std::optional<std::uint64_t> maybe_count(const char* key) const;  // whole, 0 or more
    double number(const char* key) const { return maybe_number(key).value_or(0); }
    std::optional<double> maybe_number(const char* key) const;  // 0 or more
    json_fields object(const char* key) const;

    // Calls visit(const json& element, path of the element) for each element of an array.
    template <class Visit>
    void each(const char* key, Visit visit) const {
        const json& list = array(key);
        for (std::size_t index = 0; index < list.size(); ++index) {
            visit(list[index], path(key) + "[" + std::to_string(index) + "]");
        }
    }

    // Calls visit(name, const json& member) for each member of this object.
    template <class Visit>
    void members(Visit visit) const {
        for (const auto& [name, member] : object_->items())
            visit(name, member);
    }

    std::string path(const char* key) const;

  private:
    const json* find(const char* key) const;
    const json& array(const char* key) const;

    const json* object_;
    std::string path_;
    complaint* problems_;
};

}  // namespace postal::report
