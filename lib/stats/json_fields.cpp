// SPDX-License-Identifier: GPL-3.0-or-later
// What values may be, whatever list of fields they are read by.
#include "stats/json_fields.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"

#include <cmath>

#include <fmt/format.h>

namespace postal::stats {
namespace {

// 2^63: every double below it converts to std::uint64_t exactly.
constexpr double count_limit = 9223372036854775808.0;

const json& no_members() {
    static const json made = json::object();
    return made;
}

std::string plain_text(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

option_value option_of(const json& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    if (!value.is_array()) return plain_text(value);
    std::vector<std::string> all;
    for (const json& one : value)
        all.push_back(plain_text(one));
    return all;
}

}  // namespace

void complaint::add(const std::string& path, std::string_view wanted) {
    const std::string_view blank = path.empty() ? "" : " ";  // of the whole text
    if (first.empty())
        first = fmt::format("{}{}is not {}", base::printable(path, 300), blank, wanted);
}

json_fields::json_fields(const json& object, std::string path, complaint& problems)
    : object_{&object}, path_{std::move(path)}, problems_{&problems} {
    if (object.is_object()) return;
    problems.add(path_, path_.empty() ? "a JSON object" : "an object");
    object_ = &no_members();
}

json_fields json_fields::object(std::string_view key) const {
    const json* value = find(key);
    return json_fields{value == nullptr ? no_members() : *value, path(key), *problems_};
}

json_fields::place::operator std::string() const {
    const std::string list = object_->path(key_);
    return index_ ? list + "[" + std::to_string(*index_) + "]" : list;
}

void json_fields::complain(std::string_view key, std::string_view wanted) const {
    problems_->add(path(key), wanted);
}

std::string json_fields::path(std::string_view key) const {
    return (path_.empty() ? std::string{} : path_ + ".").append(key);
}

const json* json_fields::find(std::string_view key) const {
    const auto found = object_->find(key);
    return found == object_->end() || found->is_null() ? nullptr : &*found;
}

void json_fields::members(const std::function<void(const std::string&, const json&)>& visit) const {
    for (const auto& [name, member] : object_->items())
        visit(name, member);
}

bool json_fields::is_none(const json& value) {
    return value.is_null();
}

std::size_t json_fields::list_size(const json& value, const place& path) const {
    if (value.is_array()) return value.size();
    problems_->add(path, "a list");
    return 0;
}

const json& json_fields::element(const json& list, std::size_t index) {
    return list[index];
}

void json_fields::take(std::string& to, const json& value, const place& path) const {
    if (!value.is_string()) return problems_->add(path, "a text");
    to = value.get<std::string>();
}

void json_fields::take(bool& to, const json& value, const place& path) const {
    if (!value.is_boolean()) return problems_->add(path, "true or false");
    to = value.get<bool>();
}

void json_fields::take(std::int64_t& to, const json& value, const place& path) const {
    if (!value.is_number_integer()) return problems_->add(path, "a whole number");
    to = value.get<std::int64_t>();
}

void json_fields::take(std::chrono::nanoseconds& to, const json& value, const place& path) const {
    constexpr double most_us = 9e15;
    double us = 0;
    take(us, value, path);
    to = std::chrono::nanoseconds(std::llround(std::min(us, most_us) * 1e3));
}

// Up to 49 days.
void json_fields::take(std::chrono::milliseconds& to, const json& value, const place& path) const {
    std::uint32_t number = 0;
    take(number, value, path);
    to = std::chrono::milliseconds(number);
}

void json_fields::take(histogram& to, const json& value, const place& path) const {
    std::string text;
    take(text, value, path);
    auto decoded = histogram::decode(text);
    if (!decoded) return problems_->add(path, "a histogram: " + decoded.error().message);
    to = std::move(*decoded);
}

void json_fields::take(std::optional<generator_verdict>& to, const json& value,
                       const place& path) const {
    std::string word;
    take(word, value, path);
    if (!word.empty()) to = base::named<generator_verdict>(word);
}

void json_fields::take(thread_share& to, const json& value, const place& path) const {
    take(to.busy, value, path);
}

void json_fields::take(named_numbers& to, const json& value, const place& path) const {
    const json_fields inner(value, path, *problems_);
    inner.members([&](const std::string& name, const json& member) {
        auto& count = to.emplace_back(named_count{name, 0}).count;
        if (!member.is_null()) inner.take(count, member, place(inner, name));
    });
}

void json_fields::take(option_value& to, const json& value, const place&) const {
    to = option_of(value);
}

void json_fields::take(double& to, const json& value, const place& path) const {
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0)) return problems_->add(path, "a number, 0 or more");
    to = number;
}

std::size_t json_fields::which_word(std::span<const std::string_view> words, const json& value,
                                    const place& path, bool newer) const {
    std::string word;
    take(word, value, path);
    const auto found = std::find(words.begin(), words.end(), word);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    if (!newer) problems_->add(path, fmt::format("one of {}", fmt::join(words, ", ")));
    return 0;
}

void json_fields::take_any_sign(double& to, const json& value, const place& path) const {
    if (!value.is_number()) return problems_->add(path, "a number");
    to = value.get<double>();
}

void json_fields::take_any_sign(std::optional<double>& to, const json& value,
                                const place& path) const {
    if (!value.is_number()) return problems_->add(path, "a number");
    to = value.get<double>();
}

std::size_t json_fields::take_known(std::span<double> to, const json& value,
                                    const place& path) const {
    const std::size_t size = list_size(value, path);
    std::size_t known = 0;
    for (std::size_t index = 0; index < size; ++index) {
        if (value[index].is_null()) continue;
        double number = 0;
        take_any_sign(number, value[index], place(path, index));
        if (known < to.size()) to[known] = number;
        ++known;
    }
    return known;
}

std::optional<std::uint64_t> json_fields::whole_number(const json& value, const place& path) const {
    const double number = value.is_number_float() ? value.get<double>() : -1;
    const bool whole = number >= 0 && number < count_limit && number == std::floor(number);
    if (whole || value.is_number_unsigned()) return value.get<std::uint64_t>();
    problems_->add(path, "a whole number, 0 or more");
    return std::nullopt;
}

base::expected<json> parse_schema(std::string_view text, std::string_view schema,
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

base::expected<void> read_foreign(
    std::string_view text, std::string_view schema,
    const std::function<void(const json_fields& from, complaint& problems)>& take) {
    complaint problems;
    const auto all = parse_foreign(text);
    if (!all) return base::fail("is no JSON: {}", all.error().message);
    const json_fields from(*all, "", problems);
    std::string named;
    from.read("schema", named);
    if (!problems && named != schema) from.complain("schema", schema);
    if (!problems) take(from, problems);
    if (problems) return base::failure{problems.first};
    return {};
}

}  // namespace postal::stats
