#include "lmtp-deliver/worker_context.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace postal::lmtp_deliver {
namespace {

constexpr std::size_t most_homes = 10'000;  // more users than that are looked up again
constexpr auto known_for = std::chrono::minutes(1);

}  // namespace

std::string worker_context::next_id() {
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    return fmt::format("{:X}-{:X}-{:X}", now.count(), own.index(), transactions_++);
}

base::expected<home_and_user> worker_context::home_of(const std::string& user) {
    if (of_run.run_as) return of_run.own_home;
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_up_ > known_for || homes_.size() >= most_homes) {
        homes_.clear();
        looked_up_ = now;
    }
    const auto known = homes_.find(user);
    if (known != homes_.end()) return known->second;
    const auto found = os::find_account(user);
    if (!found) return found.error();
    home_and_user home = *found ? home_and_user{(*found)->home, (*found)->name} : of_run.own_home;
    return homes_.emplace(user, std::move(home)).first->second;
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
