// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/poller.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <unistd.h>

namespace postal::net {

namespace asio = boost::asio;

namespace {

// So many events are served before Asio's timers and posts get their turn: some two milliseconds.
constexpr std::size_t events_a_turn = 256;
// And so many before what was put off is sent: a batch of hundreds must not delay its first answer.
constexpr std::size_t events_a_burst = 16;

}  // namespace

asio::execution_context::id poller::id;

poller::poller(asio::execution_context& context)
    : service(context),
      context_(static_cast<asio::io_context&>(context)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      watch_(context_) {
    if (epoll_ >= 0) watch_.assign(epoll_);
}

poller::~poller() = default;

void poller::shutdown() {
    boost::system::error_code ignored;
    watch_.close(ignored);
}

int poller::add(descriptor& one) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.ptr = &one;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, one.fd_, &event) != 0) return errno;
    ++registered_;
    try {
        arm();
    } catch (const std::bad_alloc&) {
        --registered_;
        ::epoll_ctl(epoll_, EPOLL_CTL_DEL, one.fd_, nullptr);
        throw;
    }
    return 0;
}

// Closing takes it out of the set; the batch that is being served may still name it.
void poller::remove(descriptor& one) noexcept {
    for (std::size_t i = batch_next_; i < batch_end_; ++i) {
        if (batch_[i].data.ptr == &one) batch_[i].data.ptr = nullptr;
    }
    std::replace(woken_.begin(), woken_.end(), &one, static_cast<descriptor*>(nullptr));
    --registered_;
    if (registered_ == 0 && armed_) {
        boost::system::error_code ignored;
        watch_.cancel(ignored);
    }
}

void poller::arm() {
    if (armed_ || registered_ == 0) return;
    watch_.async_wait(asio::posix::descriptor_base::wait_read,
                      [this](const boost::system::error_code& error) {
                          armed_ = false;
                          if (!error) serve();
                          arm();
                      });
    armed_ = true;
}

// While the peers keep answering, their next events are here before the last batch is through:
// asking again is cheaper than a round through Asio's loop.
void poller::serve() {
    serving_ = true;
    for (std::size_t served = 0; served < events_a_turn;) {
        const int found = epoll_wait(epoll_, batch_.data(), static_cast<int>(batch_.size()), 0);
        if (found <= 0) break;
        batch_end_ = static_cast<std::size_t>(found);
        for (batch_next_ = 0; batch_next_ < batch_end_;) {
            const epoll_event& event = batch_[batch_next_++];
            if (event.data.ptr == nullptr) continue;
            static_cast<descriptor*>(event.data.ptr)->on_events(event.events);
            if (batch_next_ % events_a_burst == 0) send_all();
        }
        send_all();
        served += batch_end_;
        batch_next_ = batch_end_ = 0;
    }
    serving_ = false;
}

bool poller::put_off(sender& whose, std::span<const iovec> parts, std::size_t octets) {
    if (!serving_ || letter_end_ + octets > room_put_off) return false;
    if (!letter_text_) letter_text_ = std::make_unique<char[]>(room_put_off);
    letters_.push_back({&whose, letter_end_, octets});
    for (const iovec& part : parts) {
        std::memcpy(letter_text_.get() + letter_end_, part.iov_base, part.iov_len);
        letter_end_ += part.iov_len;
    }
    return true;
}

void poller::send_all() {
    for (const letter& one : letters_) {
        one.whose->send_put_off({letter_text_.get() + one.begin, one.size});
    }
    letters_.clear();
    letter_end_ = 0;
}

int descriptor::open(asio::io_context& context, int fd) noexcept {
    fd_ = fd;
    readable_ = writable_ = ended_ = false;
    int problem = ENOMEM;
    try {
        of_ = &asio::use_service<poller>(context);
        problem = of_->add(*this);
    } catch (const std::bad_alloc&) {
    }
    if (problem == 0) return 0;
    ::close(fd_);
    fd_ = -1;
    return problem;
}

void descriptor::close() noexcept {
    if (fd_ < 0) return;
    of_->remove(*this);
    ::close(fd_);
    fd_ = -1;
}

// The reader's coroutine may close or destroy this descriptor, so the writer is looked at first; a
// session that is about to write does not read.
void descriptor::on_events(std::uint32_t events) {
    constexpr std::uint32_t broken = EPOLLHUP | EPOLLERR;
    ended_ = ended_ || (events & (broken | EPOLLRDHUP)) != 0;
    readable_ = readable_ || ended_ || (events & EPOLLIN) != 0;
    writable_ = writable_ || (events & (broken | EPOLLOUT)) != 0;
    if (writable_ && leftover_ != nullptr) std::exchange(leftover_, nullptr)->send_put_off({});
    if (writable_ && writer_.waiting()) return writer_.resume();
    if (readable_) reader_.resume();
}

void descriptor::cancel() {
    readable_ = writable_ = ended_ = true;
    of_->wake(*this);
}

void descriptor::alert() {
    readable_ = ended_ = true;
    of_->wake(*this);
}

void poller::wake(descriptor& one) {
    if (woken_.empty()) asio::post(context_, [this] { resume_woken(); });
    woken_.push_back(&one);
}

// A resumed coroutine may close or destroy any descriptor: remove() takes it out of the list.
void poller::resume_woken() {
    for (std::size_t i = 0; i < woken_.size(); ++i) {
        if (woken_[i] != nullptr) woken_[i]->writer_.resume();
        if (woken_[i] != nullptr && woken_[i]->readable_) woken_[i]->reader_.resume();
    }
    woken_.clear();
}

}  // namespace postal::net
