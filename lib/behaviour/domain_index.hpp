// Rules, by number, by a domain that they cannot do without: asked once for each command, however
// many rules there are.
//
// Flow: add() in the order of the file, complete(), then find(), which allocates nothing and takes
// time that is bounded by the square of the domain's length.
#pragma once

#include "base/folded.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace postal::behaviour {

class domain_index {
  public:
    // `name` is a domain, or "." and a domain for all that lie below it.
    void add(const std::string& name, std::uint32_t rule);
    // Gives each name the rules of the domains above it, so that one list answers find().
    void complete();

    // In the order of the file, each once. Case does not matter.
    [[nodiscard]] std::span<const std::uint32_t> find(std::string_view domain) const;

  private:
    std::unordered_map<std::string, std::vector<std::uint32_t>, base::folded_hash,
                       base::folded_equal>
        by_name_;
};

}  // namespace postal::behaviour
