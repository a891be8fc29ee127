// SPDX-License-Identifier: GPL-3.0-or-later
// What holds of whatever is read by a list of fields: the members of a text, each harmed in turn.
#pragma once

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <set>
#include <string>

namespace postal::stats::test {

using ordered_json = nlohmann::ordered_json;

// Calls visit(object, key, "intervals[0].t_s") for each member of an object, of a list's elements
// the first's. Not for the schema and for options, which may be anything.
template <class Visit>
void each_member(ordered_json& of, const std::string& path, Visit visit) {
    if (of.is_array() && !of.empty() && of.front().is_structured())
        each_member(of.front(), path + "[0]", visit);
    if (!of.is_object()) return;
    for (auto& [key, member] : of.items()) {
        const std::string place = (path.empty() ? "" : path + ".") + key;
        if (place == "options" || place == "schema") continue;
        visit(of, key, place);
        each_member(member, place, visit);
    }
}

// A value of another type is refused by its name, wherever it stands; what is null or absent is not
// known, and no failure but where it is needed. refusal(text) says why; empty: it is taken. Returns
// how many members there were.
template <class Refusal>
std::size_t check_members(const std::string& text, const std::set<std::string>& needed,
                          Refusal refusal) {
    auto whole = ordered_json::parse(text);
    REQUIRE(refusal(whole.dump()) == "");
    std::size_t tried = 0;
    each_member(whole, "", [&](ordered_json& of, const std::string& key, const std::string& place) {
        const ordered_json right = of[key];
        INFO(place);
        of[key] = right.is_string() ? ordered_json(7) : ordered_json("seven");
        const std::string said = refusal(whole.dump());
        CHECK_THAT(said, Catch::Contains(place + " is not "));
        CHECK(said.find('\n') == said.npos);
        of[key] = nullptr;
        CHECK(refusal(whole.dump()).empty() != needed.contains(place));
        of[key] = right;
        ++tried;
    });
    return tried;
}

}  // namespace postal::stats::test
