// SPDX-License-Identifier: GPL-3.0-or-later
// Values by key, no more than a given number of them: the one that was idle longest makes room for
// a new one. Belongs to one thread at a time. Nothing here fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace postal::behaviour {

template <class Value>
class recent_keys {
  public:
    // At least one.
    explicit recent_keys(std::size_t most) : most_(std::max<std::size_t>(most, 1)) {}

    struct found {
        Value& value;  // until the next touch()
        bool added;    // the key was not known
    };

    // The value of a key, which is now the one that was used last.
    [[nodiscard]] found touch(std::string_view key) {
        if (const auto known = places_.find(key); known != places_.end()) {
            by_age_.splice(by_age_.end(), by_age_, known->second);
            return {known->second->value, false};
        }
        if (places_.size() >= most_) forget_oldest();
        by_age_.push_back({std::string(key), Value{}});
        const auto place = std::prev(by_age_.end());
        places_.emplace(place->key, place);
        return {place->value, true};
    }

    // Null for a key that is not known; one that is has now been used last.
    [[nodiscard]] Value* find(std::string_view key) {
        const auto known = places_.find(key);
        if (known == places_.end()) return nullptr;
        by_age_.splice(by_age_.end(), by_age_, known->second);
        return &known->second->value;
    }

    void erase(std::string_view key) {
        const auto known = places_.find(key);
        if (known == places_.end()) return;
        const auto place = known->second;
        places_.erase(known);
        by_age_.erase(place);
    }

    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

  private:
    struct entry {
        std::string key;
        Value value;
    };

    void forget_oldest() {
        places_.erase(by_age_.front().key);
        by_age_.pop_front();
    }

    const std::size_t most_;
    std::list<entry> by_age_;  // the longest idle first
    // The keys are views of the entries, which never move.
    std::unordered_map<std::string_view, typename std::list<entry>::iterator> places_;
};

}  // namespace postal::behaviour
