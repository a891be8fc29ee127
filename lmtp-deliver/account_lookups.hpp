// Looks users of the system up in threads of their own: names that clients choose go to whatever
// nsswitch.conf names, which may take its time, and no worker shall stand still for that.
//
// Flow, in a worker's thread; a session is a seeker and looks up one name after the other:
//   lookups.ask(*this, name);    found() comes in the seeker's worker, once
//   lookups.forget(*this);       nobody wants to know any more; found() does not come
// Questions are answered in the order in which they were asked. Each seeker has one at a time, so that
// no session can put a thousand names in front of another's.
//
// Limits: a database that does not answer at all holds its thread, and when it holds both, all
// look-ups; whoever waits for one must have a time limit. The destructor waits for a moment only.
#pragma once

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "os/system_user.hpp"

namespace postal::lmtp_deliver {

class account_lookups {
    struct question;
    struct desk;

  public:
    using account = base::expected<std::optional<os::account>>;
    using database = std::function<account(std::string_view name)>;

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

    explicit account_lookups(database from = os::find_account);
    ~account_lookups();
    account_lookups(const account_lookups&) = delete;
    account_lookups& operator=(const account_lookups&) = delete;

    void ask(seeker& who, const std::string& name);
    void forget(seeker& who) noexcept;

  private:
    static void answer_questions(const std::shared_ptr<desk>& at);

    std::shared_ptr<desk> desk_;  // outlives this while a thread is at it
};

}  // namespace postal::lmtp_deliver
