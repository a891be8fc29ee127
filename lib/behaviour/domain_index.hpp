// SPDX-License-Identifier: GPL-3.0-or-later
// Rules, by number, by a domain that they cannot do without: asked once for each command, however
// many rules there are.
//
// Flow: add() in the order of the file, complete(), then find(), which allocates nothing and takes
// time that is bounded by the square of the domain's length.
#pragma once

#include "behaviour/stage.hpp"

#include "base/folded.hpp"

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace postal::behaviour {

class domain_index {
  public:
    // `name` is a domain, or "." and a domain for all that lie below it; `at` are the stages that
    // the rule is about.
    void add(const std::string& name, std::uint32_t rule, stage_set at);
    // Gives each name the rules of the domains above it, so that one list answers find().
    void complete();

    struct found {
        std::span<const std::uint32_t> rules{};  // in the order of the file, each once
        stage_set at{};                          // all that these are about
    };
    // Case does not matter.
    [[nodiscard]] found find(std::string_view domain) const;

  private:
    struct entry {
        std::vector<std::uint32_t> rules;
        stage_set at;
    };

    [[nodiscard]] const entry* named(std::string_view name) const;

    std::unordered_map<std::string, entry, base::folded_hash, base::folded_equal> by_name_;
    std::bitset<256> lengths_;  // of all names: most others need not be looked up
    bool any_below_ = false;
};

}  // namespace postal::behaviour
