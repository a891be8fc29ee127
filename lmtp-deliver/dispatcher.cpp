#include "lmtp-deliver/dispatcher.hpp"

#include <boost/asio/post.hpp>

namespace postal::lmtp_deliver {

dispatcher::answer dispatcher::ask(waiter& who) {
    const std::scoped_lock lock(mutex_);
    if (free_ != 0) {
        --free_;
        return answer::start;
    }
    if (queue_.size() >= longest_queue_) return answer::refused;
    queue_.push_back(who);
    return answer::wait;
}

bool dispatcher::withdraw(waiter& who) {
    const std::scoped_lock lock(mutex_);
    if (!who.is_linked()) return false;
    queue_.erase(queue_.iterator_to(who));
    return true;
}

void dispatcher::give_back() {
    waiter* next = nullptr;
    {
        const std::scoped_lock lock(mutex_);
        if (queue_.empty()) {
            ++free_;
            return;
        }
        next = &queue_.front();
        queue_.pop_front();
    }
    // It stays where it is until it is called: withdraw() says so.
    boost::asio::post(next->home_, [next] { next->called(); });
}

}  // namespace postal::lmtp_deliver
