// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/worker_context.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace postal::lmtp_deliver {
namespace {

constexpr std::size_t most_known = 10'000;  // of either kind; more are looked up again
constexpr auto known_for = std::chrono::minutes(1);

}  // namespace

std::string worker_context::next_id() {
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    return fmt::format("{:X}-{:X}-{:X}", now.count(), own.index(), transactions_++);
}

worker_context::home worker_context::known_home(const std::string& user) {
    if (!asks_) return own_home_;
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_up_ > known_for) {
        homes_.clear();
        strangers_.clear();
        looked_up_ = now;
    }
    if (strangers_.contains(user)) return own_home_;
    const auto known = homes_.find(user);
    return known == homes_.end() ? nullptr : known->second;
}

worker_context::home worker_context::remember(const std::string& user,
                                              const std::optional<os::account>& found) {
    if (!found) {
        if (strangers_.size() >= most_known) strangers_.clear();
        strangers_.insert(user);
        return own_home_;
    }
    if (homes_.size() >= most_known) homes_.clear();
    auto made = std::make_shared<const home_and_user>(home_and_user{found->home, found->name});
    return homes_.insert_or_assign(user, std::move(made)).first->second;
}

void worker_context::leave(const os::child& agent) {
    if (!left_.is_linked()) own.watch(left_);
    left_.agents.push_back(agent);
    left_.set_deadline({});
}

// With each tick of the worker, while there are any.
void worker_context::left_behind::on_deadline() {
    std::erase_if(agents, [](const os::child& one) { return os::reap(one).has_value(); });
    if (!agents.empty()) set_deadline({});
}

}  // namespace postal::lmtp_deliver
