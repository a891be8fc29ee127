// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/dispatcher.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using postal::lmtp_deliver::dispatcher;
using answer = dispatcher::answer;

namespace {

// Deliveries by name, such as "a1": of connection a, for recipient 1. What is called, or is turned
// away (-name), is written down in that order.
class play {
  public:
    explicit play(dispatcher::limits given) : slots(given) {}
    ~play() {
        for (auto& [name, one] : all_)
            if (one->waits) slots.withdraw(*one);
        home.run();
    }

    // Connections with the same address are one client; without it each is one.
    void connect(char name, const std::string& address) {
        connections_.emplace(std::piecewise_construct, std::forward_as_tuple(name),
                             std::forward_as_tuple(slots, address));
    }
    answer ask(const std::string& name) {
        if (!connections_.contains(name[0])) connect(name[0], "");
        auto& one = all_[name];
        one = std::make_unique<entry>(*this, connections_.at(name[0]), name);
        const answer given = slots.ask(*one, name.substr(1));
        one->waits = given == answer::wait;
        return given;
    }
    void ask_all(const std::string& names) {
        for (std::size_t at = 0; at < names.size(); at += 3)
            ask(names.substr(at, 2));
    }
    bool withdraw(const std::string& name) {
        const bool left = slots.withdraw(*all_.at(name));
        if (left) all_.at(name)->waits = false;
        return left;
    }
    void give_back(const std::string& name) { slots.give_back(*all_.at(name)); }
    // What was called since.
    std::string called() {
        home.restart();
        home.run();
        return std::exchange(order_, "");
    }
    // Gives back what is called, until nothing is.
    std::string rest(const std::string& running) {
        std::string all;
        std::deque<std::string> now{running};
        while (!now.empty()) {
            give_back(now.front());
            now.pop_front();
            const std::string more = called();
            all += more;
            for (std::size_t at = 0; at < more.size(); at += 3)
                now.push_back(more.substr(at, 2));
        }
        return all;
    }

    boost::asio::io_context home;
    dispatcher slots;

  private:
    struct entry final : dispatcher::waiter {
        entry(play& of, dispatcher::customer& whose, std::string called)
            : waiter(of.home, whose), all(of), name(std::move(called)) {}
        void called(answer how) override {
            waits = false;
            all.order_ += (how == answer::start ? "" : "-") + name + " ";
        }
        play& all;
        std::string name;
        bool waits = false;
    };

    std::map<char, dispatcher::customer> connections_;
    std::map<std::string, std::unique_ptr<entry>> all_;
    std::string order_;
};

constexpr dispatcher::limits one_slot{.slots = 1, .longest = 100, .a_recipient = 1};

}  // namespace

TEST_CASE(
    "dispatcher: one client is served in the order in which it asked, as far as the queue goes") {
    play of({.slots = 1, .longest = 2, .a_recipient = 1});
    CHECK(of.ask("a1") == answer::start);
    CHECK(of.ask("a2") == answer::wait);
    CHECK(of.ask("a3") == answer::wait);
    CHECK(of.ask("a4") == answer::refused);
    of.give_back("a1");
    CHECK(of.called() == "a2 ");
    CHECK(of.ask("a4") == answer::wait);
    CHECK(of.rest("a2") == "a3 a4 ");
    CHECK(of.ask("a1") == answer::start);
}

TEST_CASE("dispatcher: who leaves the queue is not called; who was called cannot leave") {
    play of(one_slot);
    of.ask_all("a1 a2 a3");
    CHECK(of.withdraw("a2"));
    CHECK_FALSE(of.withdraw("a2"));
    CHECK_FALSE(of.withdraw("a1"));  // it has the slot
    of.give_back("a1");
    CHECK_FALSE(of.withdraw("a3"));  // on its way
    CHECK(of.called() == "a3 ");
}

TEST_CASE("dispatcher: clients take turns, and so do the connections of one") {
    struct row {
        std::string_view reason;
        std::string addresses;  // of connections a, b, c and d, one letter each; "-" for none
        std::string asked;
        std::string called;
    };
    const std::array rows{
        row{"one client", "x", "a0 a1 a2 a3", "a1 a2 a3 "},
        row{"who comes late with little is not behind who came with much", "xy",
            "a0 a1 a2 a3 a4 b1 b2", "a1 b1 a2 b2 a3 a4 "},
        row{"two connections of one address", "xx", "a0 a1 a2 a3 b1 b2", "a1 b1 a2 b2 a3 "},
        row{"many connections of one address have one client's turn", "xxxy",
            "a0 a1 a2 b1 b2 c1 c2 d1 d2 d3", "a1 d1 b1 d2 c1 d3 a2 b2 c2 "},
        row{"without addresses each connection is a client", "---x", "a0 a1 a2 b1 c1 d1 d2",
            "a1 b1 c1 d1 a2 d2 "},
    };
    for (const row& one : rows) {
        INFO(one.reason);
        play of(one_slot);
        for (std::size_t i = 0; i < one.addresses.size(); ++i) {
            const char address = one.addresses[i];
            of.connect("abcd"[i], address == '-' ? "" : std::string(1, address));
        }
        of.ask_all(one.asked);
        CHECK(of.rest(one.asked.substr(0, 2)) == one.called);
    }
}

TEST_CASE("dispatcher: no recipient has more than its share, and costs nobody a turn meanwhile") {
    play of({.slots = 3, .longest = 100, .a_recipient = 2});
    CHECK(of.ask("a1") == answer::start);
    CHECK(of.ask("b1") == answer::start);
    CHECK(of.ask("c1") == answer::wait);  // although there is a slot
    CHECK(of.ask("d1") == answer::wait);
    CHECK(of.ask("d2") == answer::start);
    CHECK(of.ask("d3") == answer::wait);
    of.give_back("a1");
    CHECK(of.called() == "d3 ");  // its connection has waited for its turn; c comes next
    of.give_back("d2");
    CHECK(of.called() == "c1 ");
    SECTION("who is called from aside may leave, and the next takes its place") {
        of.give_back("d3");
        CHECK(of.called().empty());
        CHECK(of.withdraw("d1"));
        of.give_back("b1");
        CHECK(of.called().empty());
    }
    SECTION("all of them in the end") {
        of.give_back("b1");
        CHECK(of.called() == "d1 ");
    }
}

TEST_CASE("dispatcher: a full queue has room for who holds less of it") {
    play of({.slots = 1, .longest = 4, .a_recipient = 1});
    of.connect('a', "x");
    of.connect('b', "y");
    of.connect('c', "x");
    of.ask_all("a0 a1 a2 a3 a4");
    CHECK(of.ask("c1") == answer::refused);  // the same client
    CHECK(of.called().empty());
    CHECK(of.ask("b1") == answer::wait);
    CHECK(of.called() == "-a4 ");
    CHECK(of.ask("b2") == answer::wait);
    CHECK(of.called() == "-a3 ");
    CHECK(of.ask("b3") == answer::refused);
    CHECK(of.ask("a5") == answer::refused);
    CHECK(of.ask("d1") == answer::wait);
    CHECK(of.called().size() == 4);
    CHECK(of.ask("e1") == answer::wait);
    CHECK(of.called().size() == 4);
    CHECK(of.ask("f1") == answer::refused);  // all have as little
    CHECK(of.rest("a0").size() == 12);
}

// Random calls, against the rules themselves.
TEST_CASE("dispatcher: nobody waits for ever, each ends once, and no bound is passed") {
    constexpr unsigned slots_there = 4;
    constexpr unsigned a_recipient = 2;
    constexpr std::size_t longest = 30;
    struct one_waiter final : dispatcher::waiter {
        one_waiter(boost::asio::io_context& home, dispatcher::customer& whose, int who)
            : waiter(home, whose), recipient(who) {}
        void called(answer how) override {
            ++ends;
            got = how;
        }
        int recipient;
        int ends = 0;  // called, or started or refused at once, or left
        answer got = answer::wait;
        bool has_slot = false;
    };
    for (unsigned seed = 0; seed < 50; ++seed) {
        INFO("seed " << seed);
        std::minstd_rand random(seed);
        const auto below = [&](unsigned most) { return static_cast<unsigned>(random() % most); };
        boost::asio::io_context home;
        dispatcher slots({slots_there, longest, a_recipient});
        std::deque<dispatcher::customer> connections;
        for (unsigned i = 0; i < 8; ++i)
            connections.emplace_back(slots, i < 4 ? std::string(1, "xy"[i % 2]) : "");
        std::vector<std::unique_ptr<one_waiter>> all;
        std::size_t asked = 0;
        bool fine = true;
        const auto look = [&] {
            home.restart();
            home.poll();
            std::map<int, unsigned> running;
            unsigned total = 0;
            std::size_t waiting = 0;
            bool could_start = false;
            for (auto& one : all) {
                if (one->got == answer::start && one->ends == 1 && !one->has_slot)
                    one->has_slot = true;
                if (one->has_slot) ++running[one->recipient], ++total;
                waiting += one->ends == 0 ? 1 : 0;
            }
            for (const auto& one : all)
                could_start =
                    could_start || (one->ends == 0 && running[one->recipient] < a_recipient);
            const bool bounded = total <= slots_there && waiting <= longest &&
                                 std::all_of(running.begin(), running.end(), [&](const auto& each) {
                                     return each.second <= a_recipient;
                                 });
            fine = fine && bounded && !(could_start && total < slots_there);
        };
        for (int turn = 0; turn < 400; ++turn) {
            const unsigned what = below(10);
            if (what < 5) {
                auto& one = all.emplace_back(std::make_unique<one_waiter>(
                    home, connections[below(8)], static_cast<int>(below(3) == 0 ? below(6) : 0)));
                one->got = slots.ask(*one, std::to_string(one->recipient));
                if (one->got != answer::wait) ++one->ends;
                ++asked;
            } else if (!all.empty()) {
                one_waiter& one = *all[below(static_cast<unsigned>(all.size()))];
                if (what < 9 && one.has_slot) {
                    one.has_slot = false;
                    ++one.ends;
                    slots.give_back(one);
                } else if (what == 9 && one.ends == 0 && slots.withdraw(one)) {
                    ++one.ends;
                }
            }
            look();
        }
        for (bool more = true; more;) {
            more = false;
            look();
            for (auto& one : all) {
                if (!one->has_slot) continue;
                one->has_slot = false;
                ++one->ends;
                slots.give_back(*one);
                more = true;
            }
        }
        CHECK(fine);
        const bool once = std::all_of(all.begin(), all.end(), [](const auto& one) {
            return one->ends == (one->got == answer::start ? 2 : 1);
        });
        CHECK(once);
        CHECK(asked > 100);
    }
}

TEST_CASE("dispatcher: never more at once than there are slots, from several threads") {
    constexpr unsigned slots_there = 3;
    dispatcher slots({.slots = slots_there, .longest = 1000, .a_recipient = 2});

    // Takes a slot, lets others run, gives it back, and asks again.
    class worker final : public dispatcher::waiter {
      public:
        worker(boost::asio::io_context& home, dispatcher& at, dispatcher::customer& whose,
               std::atomic<int>* counts)
            : waiter(home, whose), home_(home), at_(at), counts_(counts) {}
        void ask() {
            if (left_-- == 0) return;
            if (at_.ask(*this, std::to_string(left_ % 3)) == answer::start) called(answer::start);
        }
        void called(answer) override {
            const int now = ++counts_[0];
            for (int seen = counts_[1]; now > seen && !counts_[1].compare_exchange_weak(seen, now);)
                continue;
            boost::asio::post(home_, [this] {
                --counts_[0];
                ++counts_[2];
                at_.give_back(*this);
                ask();
            });
        }

      private:
        boost::asio::io_context& home_;
        dispatcher& at_;
        std::atomic<int>* counts_;
        int left_ = 50;
    };

    std::atomic<int> counts[3] = {};
    std::vector<std::thread> threads;
    std::deque<dispatcher::customer> connections;
    std::vector<std::unique_ptr<boost::asio::io_context>> loops;
    std::vector<std::unique_ptr<worker>> workers;
    for (int t = 0; t < 4; ++t) {
        loops.push_back(std::make_unique<boost::asio::io_context>(1));
        connections.emplace_back(slots, t < 2 ? "192.0.2.1" : "");
        for (int i = 0; i < 5; ++i)
            workers.push_back(
                std::make_unique<worker>(*loops.back(), slots, connections.back(), counts));
    }
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            auto guard = boost::asio::make_work_guard(*loops[static_cast<std::size_t>(t)]);
            for (int i = 0; i < 5; ++i) {
                boost::asio::post(
                    *loops[static_cast<std::size_t>(t)],
                    [one = workers[static_cast<std::size_t>(t * 5 + i)].get()] { one->ask(); });
            }
            while (counts[2] < 20 * 50)
                loops[static_cast<std::size_t>(t)]->run_for(std::chrono::milliseconds(1));
        });
    }
    for (std::thread& one : threads)
        one.join();
    CHECK(counts[2] == 20 * 50);
    CHECK(counts[1] <= static_cast<int>(slots_there));
    CHECK(counts[0] == 0);
}
