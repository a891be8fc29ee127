#include "behaviour/domain_index.hpp"

#include <algorithm>

namespace postal::behaviour {

void domain_index::add(const std::string& name, std::uint32_t rule) {
    by_name_[name].push_back(rule);
}

void domain_index::complete() {
    for (auto& [name, rules] : by_name_) {
        const std::string_view whole = name;
        for (auto dot = whole.find('.', 1); dot != whole.npos; dot = whole.find('.', dot + 1)) {
            const auto above = by_name_.find(whole.substr(dot));
            if (above == by_name_.end()) continue;
            rules.insert(rules.end(), above->second.begin(), above->second.end());
        }
        std::sort(rules.begin(), rules.end());
        rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
    }
}

std::span<const std::uint32_t> domain_index::find(std::string_view domain) const {
    if (by_name_.empty()) return {};
    if (const auto exact = by_name_.find(domain); exact != by_name_.end()) return exact->second;
    // The longest name counts: it has the rules of the shorter ones.
    for (auto dot = domain.find('.'); dot != domain.npos; dot = domain.find('.', dot + 1)) {
        const auto below = by_name_.find(domain.substr(dot));
        if (below != by_name_.end()) return below->second;
    }
    return {};
}

}  // namespace postal::behaviour
