#include "postal-report/json_fields.hpp"

#include <cmath>
#include <utility>

namespace postal::report {

namespace {

const json no_members = json::object();
const json no_elements = json::array();

// 2^63: every double below it converts to std::uint64_t exactly.
constexpr double count_limit = 9223372036854775808.0;

}  // namespace

void complaint::add(const std::string& path, std::string_view wanted) {
    if (first.empty()) first = path + " is not " + std::string{wanted};
}

json_fields::json_fields(const json& object, std::string path, complaint& problems)
    : object_{&object}, path_{std::move(path)}, problems_{&problems} {
    if (object.is_object()) return;
    problems.add(path_, "an object");
    object_ = &no_members;
}

std::string json_fields::path(const char* key) const {
    return path_.empty() ? key : path_ + "." + key;
}

const json* json_fields::find(const char* key) const {
    const auto found = object_->find(key);
    if (found == object_->end() || found->is_null()) return nullptr;
    return &*found;
}

bool json_fields::has(const char* key) const {
    return find(key) != nullptr;
}

std::string json_fields::text(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) {
        problems_->add(path(key), "a text");
        return {};
    }
    return value->get<std::string>();
}

bool json_fields::flag(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) {
        problems_->add(path(key), "true or false");
        return false;
    }
    return value->get<bool>();
}

std::optional<std::uint64_t> json_fields::maybe_count(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_number_unsigned()) return value->get<std::uint64_t>();
    if (value->is_number_float()) {
        const double number = value->get<double>();
        if (number >= 0 && number < count_limit && number == std::floor(number)) {
            return static_cast<std::uint64_t>(number);
        }
    }
    problems_->add(path(key), "a whole number, 0 or more");
    return std::nullopt;
}

std::optional<double> json_fields::maybe_number(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_number() && value->get<double>() >= 0) return value->get<double>();
    problems_->add(path(key), "a number, 0 or more");
    return std::nullopt;
}

json_fields json_fields::object(const char* key) const {
    const json* value = find(key);
    return json_fields{value == nullptr ? no_members : *value, path(key), *problems_};
}

const json& json_fields::array(const char* key) const {
    const json* value = find(key);
    if (value == nullptr) return no_elements;
    if (value->is_array()) return *value;
    problems_->add(path(key), "a list");
    return no_elements;
}

}  // namespace postal::report
