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

std::optional<std::size_t> accounts::take(base::random_source& random) {
    const std::scoped_lock lock(mutex_);
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
