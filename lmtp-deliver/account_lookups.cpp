#include "lmtp-deliver/account_lookups.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace postal::lmtp_deliver {
namespace {

// One database server's time-out then does not stop everybody.
constexpr unsigned threads = 2;
constexpr auto patience_at_the_end = std::chrono::milliseconds(200);

}  // namespace

struct account_lookups::question {
    boost::asio::io_context& home;
    std::string name;
    seeker*
        whose;  // null when nobody wants to know; read and changed in its worker, or with the lock
};

struct account_lookups::desk {
    database from;
    std::mutex mutex;  // guards what follows, and every question's `whose` against being forgotten
    std::condition_variable changed;
    std::deque<std::shared_ptr<question>> open;
    unsigned threads = 0;
    bool closed = false;
};

account_lookups::account_lookups(database from) : desk_(std::make_shared<desk>()) {
    desk_->from = std::move(from);
    for (unsigned i = 0; i < threads; ++i) {
        ++desk_->threads;
        std::thread([at = desk_] { answer_questions(at); }).detach();
    }
}

account_lookups::~account_lookups() {
    std::unique_lock lock(desk_->mutex);
    desk_->closed = true;
    desk_->changed.notify_all();
    desk_->changed.wait_for(lock, patience_at_the_end, [&] { return desk_->threads == 0; });
}

void account_lookups::ask(seeker& who, const std::string& name) {
    auto one = std::make_shared<question>(question{who.home_, name, &who});
    {
        const std::scoped_lock lock(desk_->mutex);
        desk_->open.push_back(one);
    }
    who.asked_ = std::move(one);
    desk_->changed.notify_one();
}

// While the lock is held no answer is sent to its worker, which may end behind this.
void account_lookups::forget(seeker& who) noexcept {
    if (!who.asked_) return;
    const std::scoped_lock lock(desk_->mutex);
    std::erase(desk_->open, who.asked_);
    who.asked_->whose = nullptr;
    who.asked_.reset();
}

void account_lookups::answer_questions(const std::shared_ptr<desk>& at) {
    std::unique_lock lock(at->mutex);
    while (!at->closed) {
        if (at->open.empty()) {
            at->changed.wait(lock);
            continue;
        }
        const auto one = std::move(at->open.front());
        at->open.pop_front();
        lock.unlock();
        account what = base::fail("out of memory");
        try {
            what = at->from(one->name);
        } catch (const std::bad_alloc&) {  // that is its answer
        }
        lock.lock();
        if (one->whose == nullptr) continue;
        boost::asio::post(one->home, [one, what = std::move(what)]() mutable {
            seeker* const whose = std::exchange(one->whose, nullptr);
            if (whose == nullptr) return;
            whose->asked_.reset();
            whose->found(one->name, std::move(what));
        });
    }
    --at->threads;
    at->changed.notify_all();
}

}  // namespace postal::lmtp_deliver
