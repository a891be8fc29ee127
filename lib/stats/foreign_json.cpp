// SPDX-License-Identifier: GPL-3.0-or-later
// nlohmann's parser calls the builder at each step. An ordered object looks through all of its
// members for each one that it gets, so the builder appends behind its back, and looks for keys
// that are there twice when the object ends.
#include "stats/foreign_json.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace postal::stats {
namespace {

constexpr double relative_difference = 1e-9;

// Why a text is no JSON, without the library's number for it:
// "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
std::string reason_of(const nlohmann::detail::exception& broken) {
    std::string_view reason = broken.what();
    if (const auto end = reason.find("] "); end != reason.npos) reason.remove_prefix(end + 2);
    return std::string(reason);
}

std::vector<const json::object_t::value_type*> by_key(const json& object) {
    std::vector<const json::object_t::value_type*> all;
    const auto& members = object.get_ref<const json::object_t&>();
    all.reserve(members.size());
    for (const auto& one : members)
        all.push_back(&one);
    std::sort(all.begin(), all.end(),
              [](const auto* a, const auto* b) { return a->first < b->first; });
    return all;
}

class builder final : public nlohmann::json_sax<json> {
  public:
    explicit builder(const json_bounds& bounds) : bounds_(bounds) {}

    bool null() override { return add(json()); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return refuse("has octets in place of text"); }

    bool start_array(std::size_t) override { return open(json::array()); }
    bool end_array() override {
        open_.pop_back();
        return true;
    }
    bool start_object(std::size_t) override { return open(json::object()); }
    bool key(string_t& name) override {
        auto& members = open_.back()->get_ref<json::object_t&>();
        if (members.size() >= bounds_.members)
            return refuse(fmt::format("has an object with more than {} members", bounds_.members));
        if (name.size() > bounds_.key)
            return refuse(fmt::format("has a key of more than {} octets", bounds_.key));
        members.emplace_back(std::move(name), nullptr);
        return true;
    }
    bool end_object() override {
        const auto all = by_key(*open_.back());
        const auto twice =
            std::adjacent_find(all.begin(), all.end(),
                               [](const auto* a, const auto* b) { return a->first == b->first; });
        if (twice != all.end())
            return refuse(fmt::format("has the key \"{}\" twice in one object",
                                      base::printable((*twice)->first, 100)));
        open_.pop_back();
        return true;
    }

    bool parse_error(std::size_t, const std::string&,
                     const nlohmann::detail::exception& broken) override {
        return refuse(reason_of(broken));
    }

    [[nodiscard]] base::expected<json> take(bool whole) {
        if (!whole || !reason_.empty())
            return base::failure{reason_.empty() ? "cannot be read" : reason_};
        return {boost::system::in_place_value, std::move(root_)};
    }

  private:
    bool refuse(std::string why) {
        if (reason_.empty()) reason_ = std::move(why);
        return false;
    }
    // To the list that is open, or behind the key of the object.
    json* place(json&& value) {
        if (open_.empty()) return &(root_ = std::move(value));
        json& around = *open_.back();
        if (!around.is_array())
            return &(around.get_ref<json::object_t&>().back().second = std::move(value));
        auto& list = around.get_ref<json::array_t&>();
        list.push_back(std::move(value));
        return &list.back();
    }
    bool add(json&& value) {
        if (++values_ > bounds_.values)
            return refuse(fmt::format("has more than {} values", bounds_.values));
        place(std::move(value));
        return true;
    }
    bool open(json&& value) {
        if (++values_ > bounds_.values)
            return refuse(fmt::format("has more than {} values", bounds_.values));
        if (open_.size() >= bounds_.depth)
            return refuse(fmt::format("nests more than {} lists and objects", bounds_.depth));
        open_.push_back(place(std::move(value)));
        return true;
    }

    const json_bounds& bounds_;
    json root_;
    std::vector<json*> open_;  // whoever is around them gets nothing more meanwhile
    std::size_t values_ = 0;
    std::string reason_;
};

bool are_same_objects(const json& one, const json& other) {
    const auto left = by_key(one);
    const auto right = by_key(other);
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](const auto* a, const auto* b) {
                          return a->first == b->first && is_same(a->second, b->second);
                      });
}

}  // namespace

base::expected<json> parse_foreign(std::string_view text, const json_bounds& bounds) {
    if (text.size() > bounds.octets) return base::fail("is longer than {} octets", bounds.octets);
    builder made(bounds);
    return made.take(json::sax_parse(text.begin(), text.end(), &made));
}

bool is_same(const json& one, const json& other) {
    if (one.is_number_float() || other.is_number_float()) {
        if (!one.is_number() || !other.is_number()) return false;
        const auto a = one.get<double>();
        const auto b = other.get<double>();
        return std::abs(a - b) <= relative_difference * std::max(std::abs(a), std::abs(b));
    }
    if (one.type() != other.type() && !(one.is_number() && other.is_number())) return false;
    if (one.is_object()) return are_same_objects(one, other);
    if (one.is_array())
        return std::equal(one.begin(), one.end(), other.begin(), other.end(), is_same);
    return one == other;
}

}  // namespace postal::stats
