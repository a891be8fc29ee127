// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/accounts.hpp"

#include <numeric>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"

namespace postal::rabid {

accounts::accounts(std::vector<account> all, sharing how, std::optional<std::uint64_t> rounds)
    : all_(std::move(all)), how_(how), rounds_(rounds), free_(all_.size()), turns_(all_.size()) {
    std::iota(free_.begin(), free_.end(), std::size_t{0});
}

accounts::accounts(std::vector<account> all, sharing how, mail::account_draw weights)
    : all_(std::move(all)), how_(how), weights_(std::move(weights)), out_(all_.size()) {}

// One of those that seldom come is taken where the others are out.
std::optional<std::size_t> accounts::take_by_weight(base::random_source& random) {
    constexpr int most_draws = 16;
    for (int i = 0; i < most_draws; ++i) {
        const std::size_t number = weights_.draw(random);
        if (out_[number]) continue;
        out_[number] = how_ == sharing::exclusive;
        return number;
    }
    const std::size_t first = random.below(all_.size());
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const std::size_t number = (first + i) % all_.size();
        if (out_[number]) continue;
        out_[number] = true;
        return number;
    }
    return std::nullopt;
}

std::optional<std::size_t> accounts::take(base::random_source& random) {
    const std::scoped_lock lock(mutex_);
    if (!weights_.alike()) return take_by_weight(random);
    if (free_.empty()) {
        if (visited_.empty() || (rounds_ && round_ + 1 >= *rounds_)) return std::nullopt;
        free_.swap(visited_);
        ++round_;
    }
    std::swap(free_[random.below(free_.size())], free_.back());
    const std::size_t number = free_.back();
    free_.pop_back();
    turns_[number] = rounds_ ? turns_[number] + 1 : round_ + 1;
    if (how_ == sharing::shared) visited_.push_back(number);
    return number;
}

void accounts::give_back(std::size_t number, visit_result how) {
    if (how_ == sharing::shared) return;
    const std::scoped_lock lock(mutex_);
    if (!weights_.alike()) {
        out_[number] = false;
        return;
    }
    if (how == visit_result::unfinished) --turns_[number];
    const bool had_its_turn = (how == visit_result::done || rounds_) && turns_[number] > round_;
    (had_its_turn ? visited_ : free_).push_back(number);
}

void accounts::keep(std::size_t number, memory what) {
    auto kept = std::make_unique<memory>(std::move(what));
    const std::scoped_lock lock(mutex_);
    if (memories_.empty()) memories_.resize(all_.size());
    memories_[number].swap(kept);
}

proto::imap_memory accounts::recall(std::size_t number, std::size_t server) const {
    const std::scoped_lock lock(mutex_);
    if (memories_.empty() || !memories_[number] || memories_[number]->server != server) return {};
    return memories_[number]->inbox;
}

std::vector<account> accounts_of(const std::vector<mail::user>& users, bool strip_domain) {
    std::vector<account> result;
    std::unordered_set<std::string> known;
    for (const mail::user& one : users) {
        std::string address = base::lower(one.address);
        if (!known.insert(address).second) continue;
        const std::string login =
            strip_domain ? one.address.substr(0, one.address.rfind('@')) : one.address;
        result.push_back({login, std::move(address), one.password});
    }
    return result;
}

std::vector<account> part_of(std::vector<account> all, const load::run_share& share) {
    std::vector<account> result;
    for (std::size_t own = 0; share.number(own) < all.size(); ++own)
        result.push_back(std::move(all[share.number(own)]));
    return result;
}

}  // namespace postal::rabid
