// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/account_lookups.hpp"

#include "base/machine_trouble.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

namespace postal::lmtp_deliver {
namespace {

using std::chrono::steady_clock;

constexpr auto patience_at_the_end = std::chrono::milliseconds(200);
constexpr auto try_again = std::chrono::milliseconds(100);  // for lack of memory
constexpr std::size_t most_accounts_remembered = 1'000;
constexpr char out_of_memory[] = "out of memory";  // short enough to need none as a string

// What we lacked ourselves for the question; it may be there for the next one.
bool was_ours(const account_lookups::account& what) {
    return !what && (what.error().message == out_of_memory ||
                     base::is_machine_trouble(what.error().message));
}

}  // namespace

struct account_lookups::question {
    seeker*
        whose;  // null when nobody wants to know; read and changed in its worker, or with the lock
    boost::asio::io_context& home;
};

struct account_lookups::name {
    enum class state : std::uint8_t {
        waiting,  // for a thread
        asked,    // the database has it
        slow,     // and has had it for too long
        known     // `what`, until `due`
    };

    state now = state::waiting;
    steady_clock::time_point due;  // when those who wait are told that it takes too long
    account what = std::optional<os::account>();
    std::vector<std::shared_ptr<question>> askers;

    bool is_old() const {
        return now == state::known && askers.empty() && due <= steady_clock::now();
    }
};

// The mutex guards what follows, and every question's `whose` against being forgotten.
struct account_lookups::desk {
    using names = std::map<std::string, name, std::less<>>;
    using state = name::state;

    // False when somebody could not be told, for lack of memory.
    static bool tell(names::reference one, const account& what) noexcept;
    void take_answer(names::iterator of, account what) noexcept;
    void time_is_up(names::iterator of) noexcept;
    void make_room() noexcept;
    steady_clock::time_point look_around() noexcept;

    const account too_slow = base::failure{"the user database does not answer"};
    database from;
    limits within;
    std::mutex mutex;
    std::condition_variable asked;    // a name waits for a thread
    std::condition_variable changed;  // something has a due time
    names all;
    std::deque<names::iterator> open;
    unsigned idle = 0;
    bool closed = false;
};

// ---- with the lock ----

bool account_lookups::desk::tell(names::reference one, const account& what) noexcept {
    auto& [called, of] = one;
    try {
        while (!of.askers.empty()) {
            boost::asio::post(of.askers.back()->home,
                              [asker = of.askers.back(), name = called, what]() mutable {
                                  seeker* const whose = std::exchange(asker->whose, nullptr);
                                  if (whose == nullptr) return;
                                  whose->asked_.reset();
                                  whose->found(name, std::move(what));
                              });
            of.askers.pop_back();
        }
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

// What came in time is kept by who asked, and asked for again where it was our own trouble.
void account_lookups::desk::take_answer(names::iterator of, account what) noexcept {
    name& one = of->second;
    const bool keeps = one.now == state::slow || (!what && !was_ours(what));
    one.now = state::known;
    one.what = std::move(what);
    const bool told = tell(*of, one.what);
    if (told && !keeps) {
        all.erase(of);
        return;
    }
    one.due = steady_clock::now() + within.remembered;
    changed.notify_all();
}

void account_lookups::desk::time_is_up(names::iterator of) noexcept {
    name& one = of->second;
    const bool told = tell(*of, too_slow);
    if (one.now == state::asked) one.now = state::slow;
    if (!told) {
        one.due = steady_clock::now() + try_again;
    } else if (one.now == state::waiting) {
        std::erase(open, of);
        all.erase(of);
    }
}

// What is due is done; gives when it is to be looked again.
steady_clock::time_point account_lookups::desk::look_around() noexcept {
    const auto now = steady_clock::now();
    auto next = now + std::chrono::hours(1);
    for (auto at = all.begin(); at != all.end();) {
        const auto one = at++;
        name& of = one->second;
        if (of.now == state::known && !of.askers.empty()) {
            if (!tell(*one, of.what)) next = std::min(next, now + try_again);
        } else if (of.now == state::slow && of.askers.empty()) {
            continue;  // until it comes
        } else if (of.due <= now && of.now == state::known) {
            all.erase(one);
            continue;
        } else if (of.due <= now) {
            time_is_up(one);
            next = std::min(next, now + try_again);
            continue;
        }
        next = std::min(next, std::max(of.due, now + try_again));
    }
    return next;
}

void account_lookups::desk::make_room() noexcept {
    if (all.size() < most_accounts_remembered) return;
    std::erase_if(all, [&](const auto& one) {
        return one.second.now == state::known && one.second.askers.empty();
    });
}

// ---- the threads ----

account_lookups::account_lookups(database from, limits within) : desk_(std::make_shared<desk>()) {
    desk_->from = std::move(from);
    desk_->within = within;
    start(watch);
}

account_lookups::~account_lookups() {
    {
        const std::scoped_lock lock(desk_->mutex);
        desk_->closed = true;
        desk_->asked.notify_all();
        desk_->changed.notify_all();
    }
    const auto until = steady_clock::now() + patience_at_the_end;
    for (auto& [ended, running] : threads_)
        ended.wait_until(until) == std::future_status::ready ? running.join() : running.detach();
}

void account_lookups::start(void (*what)(const std::shared_ptr<desk>&)) {
    std::packaged_task<void()> task([what, at = desk_] { what(at); });
    auto ended = task.get_future();
    threads_.reserve(threads_.size() + 1);
    threads_.emplace_back(std::move(ended), std::thread(std::move(task)));
}

void account_lookups::ask(seeker& who, const std::string& called) {
    auto mine = std::make_shared<question>(question{&who, who.home_});
    const std::scoped_lock lock(desk_->mutex);
    desk& at = *desk_;
    at.make_room();
    const auto before = at.all.find(called);
    if (before != at.all.end() && before->second.is_old()) at.all.erase(before);
    const auto [one, fresh] = at.all.try_emplace(called);
    name& of = one->second;
    try {
        of.askers.push_back(mine);
        if (fresh) at.open.push_back(one);
    } catch (const std::bad_alloc&) {
        std::erase(of.askers, mine);
        if (fresh) at.all.erase(one);
        throw;
    }
    who.asked_ = std::move(mine);
    if (fresh) of.due = steady_clock::now() + at.within.patience;
    if (of.now == desk::state::slow) of.due = steady_clock::now();
    at.changed.notify_all();
    if (!fresh) return;
    if (at.open.size() <= at.idle) return at.asked.notify_one();
    if (threads_.size() > at.within.most_threads) return;
    try {
        start(look_up);
    } catch (
        const std::exception&) {  // those that there are must do; without any it is not in time
    }
}

// While the lock is held no answer is sent to its worker, which may end behind this.
void account_lookups::forget(seeker& who) noexcept {
    if (!who.asked_) return;
    const std::scoped_lock lock(desk_->mutex);
    who.asked_->whose = nullptr;
    for (auto one = desk_->all.begin(); one != desk_->all.end(); ++one) {
        if (std::erase(one->second.askers, who.asked_) == 0) continue;
        if (one->second.now != desk::state::waiting || !one->second.askers.empty()) break;
        std::erase(desk_->open, one);
        desk_->all.erase(one);
        break;
    }
    who.asked_.reset();
}

void account_lookups::look_up(const std::shared_ptr<desk>& at) noexcept {
    std::unique_lock lock(at->mutex);
    while (!at->closed) {
        if (at->open.empty()) {
            ++at->idle;
            at->asked.wait(lock);
            --at->idle;
            continue;
        }
        const auto one = at->open.front();
        at->open.pop_front();
        one->second.now = desk::state::asked;
        lock.unlock();
        account what = base::failure{out_of_memory};
        try {
            what = at->from(one->first);
        } catch (const std::bad_alloc&) {  // that is its answer
        }
        lock.lock();
        at->take_answer(one, std::move(what));
    }
}

void account_lookups::watch(const std::shared_ptr<desk>& at) noexcept {
    std::unique_lock lock(at->mutex);
    while (!at->closed)
        at->changed.wait_until(lock, at->look_around());
}

}  // namespace postal::lmtp_deliver
