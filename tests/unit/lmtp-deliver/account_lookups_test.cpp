// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/account_lookups.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/executor_work_guard.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

using namespace postal;
using lmtp_deliver::account_lookups;

namespace {

// A database that answers only when it is let; "nobody" is none of its users.
class slow_database {
  public:
    account_lookups::account ask(std::string_view name) {
        std::unique_lock lock(mutex_);
        ++asked_;
        changed_.notify_all();
        if (name.starts_with("slow")) changed_.wait(lock, [&] { return open_; });
        if (name == "memory") throw std::bad_alloc();
        if (name == "no room") return base::fail("cannot look up: Cannot allocate memory");
        if (name == "broken") return base::fail("the database is broken");
        if (name == "nobody") return std::optional<os::account>();
        return std::optional(os::account{std::string(name), "/home/" + std::string(name)});
    }
    void open() {
        const std::scoped_lock lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    void wait_for(unsigned questions) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return asked_ >= questions; });
    }
    unsigned asked() {
        const std::scoped_lock lock(mutex_);
        return asked_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    unsigned asked_ = 0;
    bool open_ = false;
};

struct session final : account_lookups::seeker {
    explicit session(boost::asio::io_context& home) : seeker(home) {}
    void found(const std::string& name, account_lookups::account what) override {
        heard += name + "=" + (!what ? what.error().message : *what ? (*what)->home : "none") + " ";
    }
    std::string heard;
};

constexpr account_lookups::limits patient{
    .patience = std::chrono::hours(1), .remembered = std::chrono::hours(1), .most_threads = 2};
constexpr account_lookups::limits impatient{.patience = std::chrono::milliseconds(10),
                                            .remembered = std::chrono::hours(1),
                                            .most_threads = 2};
constexpr std::string_view no_answer = "the user database does not answer";

struct play {
    explicit play(account_lookups::limits within = patient)
        : lookups([from = database](std::string_view name) { return from->ask(name); }, within) {}

    std::shared_ptr<slow_database> database = std::make_shared<slow_database>();
    account_lookups lookups;
    boost::asio::io_context home;

    void run_until_heard(const session& one) {
        auto guard = boost::asio::make_work_guard(home);
        home.restart();
        while (one.heard.empty())
            home.run_one_for(std::chrono::seconds(10));
    }
    std::string answer_for(const std::string& name) {
        session one(home);
        lookups.ask(one, name);
        run_until_heard(one);
        return one.heard.substr(name.size() + 1, one.heard.size() - name.size() - 2);
    }
};

}  // namespace

TEST_CASE("account look-ups: each answer comes in its seeker's loop, and says what there is") {
    play of;
    for (const auto& [name, wanted] :
         {std::pair("user", "user=/home/user "), std::pair("nobody", "nobody=none "),
          std::pair("broken", "broken=the database is broken "),
          std::pair("memory", "memory=out of memory ")}) {
        session one(of.home);
        of.lookups.ask(one, name);
        of.run_until_heard(one);
        CHECK(one.heard == wanted);
        of.lookups.forget(one);
    }
}

TEST_CASE("account look-ups: a name that takes long holds up neither who asks nor the next") {
    play of;
    session slow(of.home), quick(of.home);
    of.lookups.ask(slow, "slow");
    of.database->wait_for(1);
    of.lookups.ask(quick, "user");
    of.run_until_heard(quick);
    CHECK(slow.heard.empty());
    of.database->open();
    of.run_until_heard(slow);
    CHECK(slow.heard == "slow=/home/slow ");
}

TEST_CASE("account look-ups: what is forgotten is not heard of, wherever it is") {
    play of;
    {
        session asked(of.home), also(of.home), waiting(of.home);
        of.lookups.ask(asked, "slow1");
        of.lookups.ask(also, "slow2");
        of.database->wait_for(2);  // both threads are busy
        of.lookups.ask(waiting, "user");
        of.lookups.forget(asked);
        of.lookups.forget(waiting);
        of.database->open();
        of.run_until_heard(also);
        CHECK(asked.heard.empty());
        CHECK(waiting.heard.empty());
    }
    CHECK(of.database->asked() == 2);
    session again(of.home);
    of.lookups.ask(again, "user");
    of.database->wait_for(3);
    of.lookups.forget(again);  // its answer may be in the loop already
    of.home.restart();
    of.home.poll();
    CHECK(again.heard.empty());
}

TEST_CASE("account look-ups: a slow name is given up, known as slow, and remembered when it came") {
    play of(impatient);
    CHECK(of.answer_for("slow") == no_answer);
    CHECK(of.answer_for("slow") == no_answer);
    CHECK(of.database->asked() == 1);
    of.database->open();
    std::string late;
    while ((late = of.answer_for("slow")) == no_answer) {
    }
    CHECK(late == "/home/slow");
    CHECK(of.database->asked() == 1);
}

TEST_CASE("account look-ups: names that hold all threads hold nobody up for longer") {
    play of(impatient);
    CHECK(of.answer_for("slow1") == no_answer);
    CHECK(of.answer_for("slow2") == no_answer);
    CHECK(of.answer_for("user") == no_answer);
    CHECK(of.database->asked() == 2);
    of.database->open();
    std::string then;
    while ((then = of.answer_for("user")) == no_answer) {  // it is no slow name
    }
    CHECK(then == "/home/user");
}

TEST_CASE(
    "account look-ups: a name is looked up once for all who ask, and a failure is remembered") {
    play of;
    session first(of.home), second(of.home);
    of.lookups.ask(first, "slow");
    of.database->wait_for(1);
    of.lookups.ask(second, "slow");
    of.database->open();
    of.run_until_heard(first);
    of.run_until_heard(second);
    CHECK(of.database->asked() == 1);
    for (int i = 0; i < 3; ++i)
        CHECK(of.answer_for("broken") == "the database is broken");
    CHECK(of.database->asked() == 2);
}

TEST_CASE("account look-ups: what we lacked for a question is no answer to the next one") {
    play of;
    for (unsigned asked = 1; asked <= 3; ++asked) {
        CHECK(of.answer_for("memory") == "out of memory");
        CHECK(of.answer_for("no room") == "cannot look up: Cannot allocate memory");
        CHECK(of.database->asked() == 2 * asked);
    }
}

TEST_CASE(
    "account look-ups: what was remembered is asked for again, however often it was asked for") {
    play of({.patience = std::chrono::hours(1),
             .remembered = std::chrono::milliseconds(20),
             .most_threads = 2});
    while (of.database->asked() < 3)
        CHECK(of.answer_for("broken") == "the database is broken");
}

TEST_CASE("account look-ups: an end does not wait for a database that never answers") {
    auto of = std::make_unique<play>();
    const auto database = of->database;
    session one(of->home);
    of->lookups.ask(one, "slow");
    database->wait_for(1);
    of->lookups.forget(one);
    const auto begun = std::chrono::steady_clock::now();
    of.reset();
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(30));
    database->open();
}
