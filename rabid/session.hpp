// SPDX-License-Identifier: GPL-3.0-or-later
// One of rabid's sessions: connection after connection, each for an account that is nobody else's
// unless accounts are shared.
//
// It lives on one worker until the run stops or no more connections are to be made. When they are
// made is opening's business; what is said on them is pop3_visit's or imap_visit's.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <optional>

#include "base/random.hpp"
#include "client/channel.hpp"
#include "client/opening.hpp"
#include "load/watched.hpp"
#include "rabid/examiner.hpp"
#include "rabid/worker_context.hpp"

namespace postal::rabid {

class session final : public load::watched {
  public:
    // `index` counts over the whole run, and says which server is this session's.
    session(worker_context& context, unsigned index);

    asio::awaitable<void> run();

    void on_deadline() override { channel_.connection().cancel(net::cancelled_by::deadline); }
    void on_stop(load::stop_kind how) override { channel_.on_stop(how); }
    std::optional<std::size_t> session_state() const noexcept override {
        return channel_.session_state();
    }

  private:
    asio::awaitable<void> visit_someone();
    std::optional<std::size_t> take_account();
    asio::awaitable<std::optional<std::size_t>> wait_for_account();
    asio::awaitable<bool> call_on(std::size_t account_number);
    asio::awaitable<void> fill_someone(std::size_t account_number);
    void time(bool succeeded, load::steady_time begun, load::steady_time due);
    asio::awaitable<bool> converse(bool imap, std::size_t account_number);

    worker_context& context_;
    const plan& plan_;
    client::opening opening_;
    client::channel channel_;
    examiner examiner_;
    base::random_source random_;
    unsigned index_;
    std::uint64_t appended_ = 0;
};

}  // namespace postal::rabid
