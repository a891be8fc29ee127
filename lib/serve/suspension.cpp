// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/suspension.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace postal::serve {

namespace asio = boost::asio;

std::vector<std::string> session_states() {
    return {"idle", "transaction", "content", "delivery", "delayed", "replies", "tls"};
}

asio::awaitable<void> suspension::sleep_until_woken() {
    asio::steady_timer timer(context_, asio::steady_timer::time_point::max());
    begin(what::awaiting_answers, &timer);
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    end();
}

void suspension::wake() {
    if (is(what::awaiting_answers)) timer_->cancel();
}

void suspension::cut_short() {
    if (is(what::held_back)) timer_->cancel();
}

std::size_t suspension::shown(const proto::smtp_server& machine) const noexcept {
    if (what_ >= what::awaiting_answers)
        return 3 + static_cast<std::size_t>(what_) -
               static_cast<std::size_t>(what::awaiting_answers);
    return machine.reading_content() ? 2 : machine.in_transaction() ? 1 : 0;
}

}  // namespace postal::serve
