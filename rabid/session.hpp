// One of rabid's sessions: connection after connection, each for an account that is nobody else's.
//
// It lives on one worker until the run stops or no more connections are to be made. A connection
// that fails is counted under the stage it failed at, and the next is made after a pause that
// doubles from 100 ms. What is said on it is pop3_visit's or imap_visit's business.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>

#include "base/random.hpp"
#include "client/dialer.hpp"
#include "load/turnstile.hpp"
#include "load/watched.hpp"
#include "rabid/examiner.hpp"
#include "rabid/line.hpp"
#include "rabid/workshop.hpp"

namespace postal::rabid {

class session final : public load::watched {
  public:
    // `index` counts over the whole run, and says which server is this session's.
    session(workshop& shop, unsigned index);

    boost::asio::awaitable<void> run();

    void on_deadline() override { line_.connection().cancel(net::cancelled_by::deadline); }
    void on_stop(load::stop_kind how) override;

  private:
    boost::asio::awaitable<bool> wait_to_open();
    boost::asio::awaitable<bool> may_connect();
    boost::asio::awaitable<void> back_off();
    boost::asio::awaitable<bool> call_on(std::size_t account_number);
    boost::asio::awaitable<bool> connect(const client::target& server);
    void return_ticket();

    workshop& shop_;
    const plan& plan_;
    load::turnstile::waiter place_;
    line line_;
    client::dialer dialer_;
    examiner examiner_;
    load::ticket ticket_;
    base::random_source random_;
    unsigned index_;
    unsigned failures_ = 0;  // connections in a row that brought nothing
    bool connecting_ = false;
};

}  // namespace postal::rabid
