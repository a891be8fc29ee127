// SPDX-License-Identifier: GPL-3.0-or-later
#include "behaviour/domain_index.hpp"

#include <algorithm>

namespace postal::behaviour {
namespace {

// Those that no domain of a path has stand for each other.
std::size_t length_of(std::string_view name) noexcept {
    return std::min<std::size_t>(name.size(), 255);
}

}  // namespace

void domain_index::add(const std::string& name, std::uint32_t rule, stage_set at) {
    entry& own = by_name_[name];
    own.rules.push_back(rule);
    own.at |= at;
    lengths_.set(length_of(name));
    any_below_ = any_below_ || name.starts_with('.');
}

void domain_index::complete() {
    for (auto& [name, own] : by_name_) {
        const std::string_view whole = name;
        for (auto dot = whole.find('.', 1); dot != whole.npos; dot = whole.find('.', dot + 1)) {
            const auto above = by_name_.find(whole.substr(dot));
            if (above == by_name_.end()) continue;
            const std::vector<std::uint32_t>& others = above->second.rules;
            own.rules.insert(own.rules.end(), others.begin(), others.end());
            own.at |= above->second.at;
        }
        std::sort(own.rules.begin(), own.rules.end());
        own.rules.erase(std::unique(own.rules.begin(), own.rules.end()), own.rules.end());
    }
}

const domain_index::entry* domain_index::named(std::string_view name) const {
    if (!lengths_.test(length_of(name))) return nullptr;
    const auto place = by_name_.find(name);
    return place == by_name_.end() ? nullptr : &place->second;
}

domain_index::found domain_index::find(std::string_view domain) const {
    if (const entry* exact = named(domain)) return {exact->rules, exact->at};
    if (!any_below_) return {};
    // The longest name counts: it has the rules of the shorter ones.
    for (auto dot = domain.find('.'); dot != domain.npos; dot = domain.find('.', dot + 1)) {
        if (const entry* below = named(domain.substr(dot))) return {below->rules, below->at};
    }
    return {};
}

}  // namespace postal::behaviour
