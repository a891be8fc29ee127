// SPDX-License-Identifier: GPL-3.0-or-later
// What is published of run records, the JSON Schema and the manual postal-record(5), against the
// lists of fields that it is made from. After a change of these `unit_stats '[write]'` makes both
// anew.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <set>

#include "record_describer.hpp"

using json = nlohmann::ordered_json;

namespace {

const std::string schema_file = POSTAL_SOURCES "/share/postal-record-1.schema.json";
const std::string manual_file = POSTAL_SOURCES "/docs/man/postal-record.5.md";

json described() {
    postal::stats::run_record record;
    postal::stats::test::describer each;
    each.group("schema", [](auto&) {});
    postal::stats::fields<postal::stats::test::describer>(each, record);
    json made = each.schema();
    made["properties"]["schema"] = {{"const", "postal-record/1"}};
    return made;
}

// What fits into a line stands in one.
std::string text_of(const json& value, std::size_t depth = 0) {
    constexpr std::size_t widest = 120;
    std::string line = value.dump();
    if (!value.is_structured() || value.empty()) return line;
    const std::string margin(2 * depth + 2, ' ');
    const bool may_fit = line.size() <= widest;  // without the blanks
    std::string wide, tall;
    for (const auto& [key, member] : value.items()) {
        const std::string name = value.is_object() ? json(key).dump() + ": " : "";
        if (may_fit) wide += (wide.empty() ? "" : ", ") + name + text_of(member, 0);
        tall += (tall.empty() ? "" : ",") + ("\n" + margin) + name + text_of(member, depth + 1);
    }
    const char* const brackets = value.is_object() ? "{}" : "[]";
    const bool fits =
        may_fit && wide.size() + margin.size() <= widest && wide.find('\n') == wide.npos;
    return fits ? brackets[0] + wide + brackets[1]
                : brackets[0] + tall + "\n" + margin.substr(2) + brackets[1];
}

std::string schema_text() {
    json made{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", "Record of a run: postal-record/1"},
              {"description",
               "What --record of postal, rabid, bhm and lmtp-deliver writes. Readers must ignore "
               "members that "
               "they do not know. What is not known is null. The manual page postal(8), RUN "
               "RECORD, explains "
               "the members."}};
    made.update(described());
    made["$defs"] = {
        {"count", {{"type", "integer"}, {"minimum", 0}}},
        {"option",
         {{"oneOf", json::array({json{{"type", json::array({"string", "number", "boolean"})}},
                                 json{{"type", "array"}, {"items", {{"type", "string"}}}}})}}}};
    return text_of(made) + "\n";
}

std::string type_of(const json& schema) {
    if (schema.contains("enum")) return "word";
    if (schema.contains("$ref")) return schema["$ref"] == "#/$defs/count" ? "count" : "";
    if (schema.contains("const")) return "text";
    if (schema.contains("oneOf")) return type_of(schema["oneOf"][1]) + " or null";
    const json& type = schema["type"];
    const std::string word = type.is_array() ? type[0].get<std::string>() : type.get<std::string>();
    const std::string name = word == "string" ? "text" : word == "array" ? "list" : word;
    return type.is_array() ? name + " or null" : name;
}

// Where a record has counters.
bool holds_counters(std::string_view path) {
    for (const std::string_view place :
         {"totals", "totals_with_warmup", "integrity", "intervals[]"})
        if (path == place || path.ends_with("." + std::string(place))) return true;
    return false;
}

// The members of an object, and of what lies in it, each by its path; a counter only where it first
// stands.
void add_keys(std::string& to, std::set<std::string>& told, const json& schema,
              const std::string& path) {
    if (schema.contains("oneOf")) return add_keys(to, told, schema["oneOf"][1], path);
    if (schema.contains("items")) return add_keys(to, told, schema["items"], path + "[]");
    if (schema.contains("additionalProperties"))
        return add_keys(to, told, schema["additionalProperties"], path + ".*NAME*");
    if (!schema.contains("properties")) return;
    for (const auto& [key, member] : schema["properties"].items()) {
        static const auto rows = postal::stats::all_counters();
        const bool counts =
            holds_counters(path) && postal::stats::find_counter(rows, key) != nullptr;
        if (counts && !told.insert(key).second) continue;
        const std::string place = path.empty() ? key : path + "." + key;
        const std::string means = member.value("description", "");
        to += fmt::format("- **{}** ({}){}{}\n", place, type_of(member), means.empty() ? "" : ": ",
                          means);
        add_keys(to, told, member, place);
    }
}

std::string manual_text() {
    std::string text = R"(% POSTAL-RECORD(5) | Mail benchmark

# NAME

postal-record - the keys of a run record

# DESCRIPTION

**--record** of **postal**(8), **rabid**(8), **bhm**(8) and **lmtp-deliver**(8) writes one JSON object of the schema
**postal-record/1**. The sections RUN RECORD of their manuals explain what the figures mean; here is every key, with what it
holds. Of the counters a record has those that mean something in its run. They are listed where they first stand, in
**totals** and **integrity**; **totals_with_warmup**, **intervals** and the totals of **ranks** have them, too. What is not
known is null or left out. Readers must ignore keys that they do not know.

# KEYS

)";
    std::set<std::string> told;
    add_keys(text, told, described(), "");
    return text + "\n# SEE ALSO\n\n**postal**(8), **postal-report**(1)\n";
}

// What of the schema has no line of its own in the manual, nor is a counter that stands elsewhere.
std::string untold(const json& schema, const std::string& path, const std::string& manual) {
    if (schema.contains("oneOf")) return untold(schema["oneOf"][1], path, manual);
    if (schema.contains("items")) return untold(schema["items"], path + "[]", manual);
    if (schema.contains("additionalProperties"))
        return untold(schema["additionalProperties"], path + ".*NAME*", manual);
    std::string found;
    if (!schema.contains("properties")) return found;
    for (const auto& [key, member] : schema["properties"].items()) {
        const std::string place = path.empty() ? key : path + "." + key;
        const auto told = [&](const std::string& where) {
            return manual.find("**" + where + "**") != manual.npos;
        };
        const bool elsewhere =
            holds_counters(path) && (told("totals." + key) || told("integrity." + key));
        if (!told(place) && !elsewhere) found += place + "\n";
        found += untold(member, place, manual);
    }
    return found;
}

std::string content_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("record: its schema and its manual have the fields that it has") {
    CHECK(content_of(schema_file) == schema_text());
    CHECK(content_of(manual_file) == manual_text());
    CHECK(untold(described(), "", content_of(manual_file)).empty());
}

TEST_CASE("record: schema and manual are written anew", "[.write]") {
    std::ofstream(schema_file) << schema_text();
    std::ofstream(manual_file) << manual_text();
}
