// SPDX-License-Identifier: GPL-3.0-or-later
// Whose recipient has enough stands aside until one of that recipient's slots is given back; as
// many of them as there are slots for stand in their lines again, so that none is forgotten:
//     aside is empty, or running + those in lines >= a_recipient
#include "lmtp-deliver/dispatcher.hpp"

#include <boost/asio/post.hpp>

#include <new>
#include <utility>

namespace postal::lmtp_deliver {

dispatcher::dispatcher(limits given)
    : free_(given.slots),
      longest_(given.longest),
      a_recipient_(given.a_recipient),
      bounds_recipients_(given.a_recipient < given.slots) {}

dispatcher::~dispatcher() = default;

// ---- connections ----

dispatcher::customer::customer(dispatcher& of, const std::string& address) : of_(of) {
    if (address.empty()) {
        own_ = std::make_unique<client>();
        from_ = own_.get();
        return;
    }
    const std::scoped_lock lock(of_.mutex_);
    from_ = &of_.clients_.try_emplace(address).first->second;
    if (from_->connections++ == 0) from_->address = address;
}

dispatcher::customer::~customer() {
    if (own_) return;
    const std::scoped_lock lock(of_.mutex_);
    if (--from_->connections == 0) of_.clients_.erase(of_.clients_.find(from_->address));
}

// ---- a waiter's calls ----

dispatcher::answer dispatcher::ask(waiter& who, std::string name) {
    waiter* turned_away = nullptr;
    bool more = false;
    {
        const std::scoped_lock lock(mutex_);
        meet_recipient(who, std::move(name));
        if (free_ != 0 && turn_.empty() && !has_enough(who)) {
            take_slot(who);
            return answer::start;
        }
        if (waiting_ >= longest_) {
            turned_away = make_room_for(*who.whose_.from_);
            if (turned_away == nullptr) {
                forget_recipient(who);
                return answer::refused;
            }
        }
        enter_queue(who, false);
        more = free_ != 0 && !turn_.empty();
    }
    if (turned_away != nullptr) call(*turned_away, answer::refused);
    if (more) hand_out();
    return answer::wait;
}

bool dispatcher::withdraw(waiter& who) {
    bool more = false;
    {
        const std::scoped_lock lock(mutex_);
        if (!who.waits()) return false;
        leave_queue(who);
        forget_recipient(who);
        more = free_ != 0 && !turn_.empty();
    }
    if (more) hand_out();
    return true;
}

void dispatcher::give_back(waiter& who) {
    {
        const std::scoped_lock lock(mutex_);
        free_slot(who);
        forget_recipient(who);
        if (turn_.empty()) return;
    }
    hand_out();
}

// ---- slots ----

// It stays where it is until it is called: withdraw() says so.
void dispatcher::hand_out() noexcept {
    for (bool more = true; more;) {
        waiter* called = nullptr;
        {
            const std::scoped_lock lock(mutex_);
            called = free_ == 0 ? nullptr : next();
            more = free_ != 0 && !turn_.empty();
        }
        if (called == nullptr || !call(*called, answer::start)) return;
    }
}

// Without memory for that it waits on, where it was; whoever asks or gives back next tries again.
bool dispatcher::call(waiter& who, answer how) noexcept {
    try {
        boost::asio::post(who.home_, [&who, how] { who.called(how); });
        return true;
    } catch (const std::bad_alloc&) {
        const std::scoped_lock lock(mutex_);
        if (how == answer::start) free_slot(who);
        enter_queue(who, how == answer::start);
        return false;
    }
}

// The first of the connection whose turn it is, of the client whose turn it is.
dispatcher::waiter* dispatcher::next() noexcept {
    while (!turn_.empty()) {
        client& from = turn_.front();
        customer& connection = from.lines.front();
        waiter& who = connection.line_.front();
        if (has_enough(who)) {
            leave_line(who);
            stand_aside(who);
            continue;
        }
        from.lines.splice(from.lines.end(), from.lines, from.lines.begin());
        turn_.splice(turn_.end(), turn_, turn_.begin());
        take_slot(who);
        leave_queue(who);
        return &who;
    }
    return nullptr;
}

void dispatcher::take_slot(waiter& who) noexcept {
    --free_;
    if (who.of_ != nullptr) ++who.of_->running;
}

void dispatcher::free_slot(waiter& who) noexcept {
    ++free_;
    if (who.of_ == nullptr) return;
    --who.of_->running;
    call_from_aside(who.of_);
}

// ---- recipients ----

void dispatcher::meet_recipient(waiter& who, std::string name) {
    if (!bounds_recipients_) return;
    who.of_ = &recipients_[name];
    ++who.of_->met;
    who.name_ = std::move(name);
}

void dispatcher::forget_recipient(waiter& who) noexcept {
    recipient* of = std::exchange(who.of_, nullptr);
    if (of != nullptr && --of->met == 0) recipients_.erase(who.name_);
}

void dispatcher::stand_aside(waiter& who) noexcept {
    who.aside_ = true;
    who.of_->aside.push_back(who);
}

void dispatcher::call_from_aside(recipient* of) noexcept {
    if (of == nullptr || of->aside.empty() || of->running >= a_recipient_) return;
    waiter& who = of->aside.front();
    of->aside.pop_front();
    who.aside_ = false;
    stand_in_line(who, true);
}

// ---- the queue ----

void dispatcher::enter_queue(waiter& who, bool first) noexcept {
    client& from = *who.whose_.from_;
    first ? from.all.push_front(who) : from.all.push_back(who);
    count(from, 1);
    has_enough(who) ? stand_aside(who) : stand_in_line(who, first);
}

void dispatcher::leave_queue(waiter& who) noexcept {
    client& from = *who.whose_.from_;
    from.all.erase(from.all.iterator_to(who));
    count(from, -1);
    if (std::exchange(who.aside_, false)) {
        who.of_->aside.erase(who.of_->aside.iterator_to(who));
        return;
    }
    leave_line(who);
    call_from_aside(who.of_);
}

void dispatcher::count(client& whose, std::ptrdiff_t change) noexcept {
    waiting_ += static_cast<std::size_t>(change);
    if (whose.waiting != 0) ranking_.erase(ranking_.iterator_to(whose));
    whose.waiting += static_cast<std::size_t>(change);
    if (whose.waiting != 0) ranking_.insert(whose);
}

void dispatcher::stand_in_line(waiter& who, bool first) noexcept {
    customer& connection = who.whose_;
    client& from = *connection.from_;
    first ? connection.line_.push_front(who) : connection.line_.push_back(who);
    if (!connection.is_linked()) from.lines.push_back(connection);
    if (!from.hook<in_turn>::is_linked()) turn_.push_back(from);
}

void dispatcher::leave_line(waiter& who) noexcept {
    customer& connection = who.whose_;
    client& from = *connection.from_;
    connection.line_.erase(connection.line_.iterator_to(who));
    if (!connection.line_.empty()) return;
    from.lines.erase(from.lines.iterator_to(connection));
    if (from.lines.empty()) turn_.erase(turn_.iterator_to(from));
}

// Only of a client that has more than `who` will have then.
dispatcher::waiter* dispatcher::make_room_for(const client& who) noexcept {
    if (ranking_.empty()) return nullptr;
    client& most = *ranking_.rbegin();
    if (most.waiting < who.waiting + 2) return nullptr;
    waiter& last = most.all.back();
    leave_queue(last);
    forget_recipient(last);
    return &last;
}

}  // namespace postal::lmtp_deliver
