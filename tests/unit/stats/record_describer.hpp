// SPDX-License-Identifier: GPL-3.0-or-later
// The archive that describes a record in place of holding one: what its JSON Schema and the
// manual's table of keys are made from.
#pragma once

#include <nlohmann/json.hpp>

#include "stats/record_fields.hpp"

namespace postal::stats::test {

class describer {
  public:
    using json = nlohmann::ordered_json;
    template <class T>
    using field = T;

    template <class T>
    void operator()(std::string_view key, T& value, std::string_view means = {},
                    postal::stats::as how = {}) {
        json schema = of(value, how);
        if (!how.words.empty()) schema = {{"enum", words_in(how.words)}};
        if (!how.form.empty()) schema["pattern"] = how.form;
        if (how.empty_null) schema["type"] = json::array({"string", "null"});
        add(key, std::move(schema), means, how);
    }
    template <class List>
    void group(std::string_view key, List list, std::string_view means = {},
               postal::stats::as how = {}) {
        describer inner;
        list(inner);
        add(key, inner.schema(), means, how);
    }
    template <class Element, class Name, class Owner>
    void named(std::string_view key, std::vector<Element>&, Name Owner::*,
               std::string_view means = {}) {
        Element one;
        add(key, {{"type", "object"}, {"additionalProperties", of(one, {})}}, means, {});
    }
    template <class Wanted>
    void counters(postal::stats::counts&, Wanted wanted) {
        using namespace postal::stats;
        for (const counter& one : all_counters())
            if (wanted(one))
                add(one.name, {{"$ref", "#/$defs/count"}}, one.title,
                    as{.left_out = one.by != counted_by::all,
                       .newer = one.kind == counter_kind::schedule});
    }
    template <class List>
    void with(bool, List list) {
        list();
    }

    json schema() const {
        json made{{"type", "object"}, {"properties", properties_}};
        if (!required_.empty()) made["required"] = required_;
        return made;
    }

  private:
    void add(std::string_view key, json schema, std::string_view means, postal::stats::as how) {
        if (!means.empty()) schema["description"] = means;
        properties_[std::string(key)] = std::move(schema);
        if (!how.left_out && !how.newer) required_.push_back(key);
    }
    static json words_in(std::string_view words) {
        json all = json::array();
        for (std::size_t end = 0; end != words.npos;
             words.remove_prefix(std::min(end + 1, words.size()))) {
            end = words.find(' ');
            all.push_back(words.substr(0, end));
        }
        return all;
    }
    static json null_or(json schema) {
        if (schema.contains("type") && schema["type"].is_string() && schema["type"] != "object") {
            schema["type"] = json::array({schema["type"], "null"});
            return schema;
        }
        return {{"oneOf", json::array({json{{"type", "null"}}, std::move(schema)})}};
    }

    using how_it_is = postal::stats::as;
    static json of(bool, how_it_is) { return {{"type", "boolean"}}; }
    static json of(std::int64_t, how_it_is) { return {{"type", "integer"}}; }
    template <std::integral Number>
    static json of(Number, how_it_is) {
        return {{"$ref", "#/$defs/count"}};
    }
    static json of(double, how_it_is how) {
        if (how.any_sign) return {{"type", "number"}};
        return {{"type", "number"}, {"minimum", 0}};
    }
    static json of(std::chrono::nanoseconds, how_it_is) {
        return {{"type", "number"}, {"minimum", 0}};
    }
    static json of(std::string&, how_it_is) { return {{"type", "string"}}; }
    template <postal::base::worded Enum>
    static json of(Enum& one, how_it_is) {
        json words = json::array();
        for (const std::string_view word : words_of(one))
            words.push_back(word);
        return {{"enum", words}};
    }
    static json of(postal::stats::histogram&, how_it_is) { return {{"type", "string"}}; }
    static json of(postal::stats::run_ending&, how_it_is) { return {{"type", "string"}}; }
    static json of(postal::stats::thread_share& one, how_it_is how) { return of(one.busy, how); }
    static json of(std::vector<std::pair<std::string, postal::stats::option_value>>&, how_it_is) {
        return {{"type", "object"}, {"additionalProperties", {{"$ref", "#/$defs/option"}}}};
    }
    static json of(std::vector<std::pair<std::string, std::string>>&, how_it_is) {
        return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
    }
    static json of(postal::stats::named_numbers&, how_it_is) {
        return {{"type", "object"}, {"additionalProperties", {{"$ref", "#/$defs/count"}}}};
    }
    template <class T>
    static json of(std::optional<T>&, how_it_is how) {
        T value{};
        if (how.null_empty) return {{"type", "string"}};
        return how.left_out ? of(value, how) : null_or(of(value, how));
    }
    template <class T>
    static json of(std::vector<T>&, how_it_is) {
        T element{};
        return {{"type", "array"}, {"items", of(element, {})}};
    }
    template <class T, std::size_t size>
    static json of(std::array<T, size>&, how_it_is how) {
        return {{"type", "array"}, {"items", of(T{}, how)}, {"minItems", size}, {"maxItems", size}};
    }
    template <class T>
    requires std::is_class_v<T>
    static json of(T& one, how_it_is) {
        describer inner;
        fields<describer>(inner, one);
        return inner.schema();
    }

    json properties_ = json::object();
    json required_ = json::array();
};

}  // namespace postal::stats::test
