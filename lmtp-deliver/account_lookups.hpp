// SPDX-License-Identifier: GPL-3.0-or-later
// Looks users of the system up in threads of their own: names that clients choose go to whatever
// nsswitch.conf names, which may take its time, and no worker shall stand still for that.
//
// Flow, in a worker's thread; a session is a seeker and looks up one name after the other:
//   lookups.ask(*this, name);    found() comes in the seeker's worker, once
//   lookups.forget(*this);       nobody wants to know any more; found() does not come
// Names are looked up in the order in which they were asked for, each once for all who ask
// meanwhile. Each seeker has one at a time, so that no session can put a thousand names in front of
// another's.
//
// Whoever has waited for `patience` is told that the database does not answer. A name that did not
// come in time is slow until it has come: who asks for it is told so at once, so that it holds one
// thread and no more. What came late, and what the database could not say, is remembered for
// `remembered`; that we lacked memory or descriptors for the question is not. There are as many
// threads as names that are looked up at once, up to most_threads; those that were needed once
// stay.
//
// Failures, memory's too, are answers. One that cannot be handed over for lack of memory is handed
// over later. Limits: most_threads names whose database does not answer at all hold all look-ups;
// whoever asks meanwhile is told after `patience`. The destructor joins the threads that end
// within a moment. One that the database keeps cannot be interrupted, and must not hold the
// program's end: it is left with the desk, which is its own by then, and ends with its answer or
// with the process.
#pragma once

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "os/system_user.hpp"

namespace postal::lmtp_deliver {

class account_lookups {
    struct question;
    struct name;
    struct desk;

  public:
    using account = base::expected<std::optional<os::account>>;
    using database = std::function<account(std::string_view name)>;

    struct limits {
        std::chrono::nanoseconds patience = std::chrono::seconds(10);
        std::chrono::nanoseconds remembered = std::chrono::seconds(5);
        unsigned most_threads = 8;
    };

    class seeker {
      public:
        explicit seeker(boost::asio::io_context& home) : home_(home) {}
        seeker(const seeker&) = delete;
        seeker& operator=(const seeker&) = delete;

      protected:
        ~seeker() = default;  // has forgotten its question

      private:
        friend class account_lookups;
        virtual void found(const std::string& name, account what) = 0;

        boost::asio::io_context& home_;
        std::shared_ptr<question> asked_;
    };

    account_lookups() : account_lookups(os::find_account, limits{}) {}
    account_lookups(database from, limits within);
    ~account_lookups();
    account_lookups(const account_lookups&) = delete;
    account_lookups& operator=(const account_lookups&) = delete;

    void ask(seeker& who, const std::string& called);
    void forget(seeker& who) noexcept;

  private:
    // Throws where there is none to be had; with the lock, once others may ask.
    void start(void (*what)(const std::shared_ptr<desk>&));
    static void look_up(const std::shared_ptr<desk>& at) noexcept;
    static void watch(const std::shared_ptr<desk>& at) noexcept;

    std::shared_ptr<desk> desk_;  // outlives this while a thread is at it
    // The one that watches, and those that look names up; with the desk's lock.
    std::vector<std::pair<std::future<void>, std::thread>> threads_;
};

}  // namespace postal::lmtp_deliver
