#include "lmtp-deliver/dispatcher.hpp"

#include <catch2/catch.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

using postal::lmtp_deliver::dispatcher;
using answer = dispatcher::answer;

namespace {

class customer final : public dispatcher::waiter {
  public:
    customer(boost::asio::io_context& home, std::vector<int>& order, int name)
        : waiter(home), order_(order), name_(name) {}

  private:
    void called() override { order_.push_back(name_); }

    std::vector<int>& order_;
    int name_;
};

}  // namespace

TEST_CASE("dispatcher: first come, first served, and no more waiters than the queue holds") {
    boost::asio::io_context home;
    std::vector<int> order;
    dispatcher slots(1, 2);
    customer one(home, order, 1), two(home, order, 2), three(home, order, 3), four(home, order, 4);
    CHECK(slots.ask(one) == answer::start);
    CHECK(slots.ask(two) == answer::wait);
    CHECK(slots.ask(three) == answer::wait);
    CHECK(slots.ask(four) == answer::refused);
    slots.give_back();
    CHECK(order.empty());  // called from its loop, not from here
    home.run();
    CHECK(order == std::vector<int>{2});
    CHECK(slots.ask(four) == answer::wait);
    slots.give_back();
    slots.give_back();
    home.restart();
    home.run();
    CHECK(order == std::vector<int>{2, 3, 4});
    slots.give_back();
    CHECK(slots.ask(one) == answer::start);
}

TEST_CASE("dispatcher: who leaves the queue is not called; who was called cannot leave") {
    boost::asio::io_context home;
    std::vector<int> order;
    dispatcher slots(1, 10);
    customer one(home, order, 1), two(home, order, 2), three(home, order, 3);
    slots.ask(one);
    slots.ask(two);
    slots.ask(three);
    CHECK(slots.withdraw(two));
    CHECK_FALSE(slots.withdraw(two));
    CHECK_FALSE(slots.withdraw(one));  // it has the slot
    slots.give_back();
    CHECK_FALSE(slots.withdraw(three));  // on its way
    home.run();
    CHECK(order == std::vector<int>{3});
}

TEST_CASE("dispatcher: never more at once than there are slots, from several threads") {
    constexpr int slots_there = 3;
    dispatcher slots(slots_there, 1000);

    // Takes a slot, lets others run, gives it back, and asks again.
    class worker final : public dispatcher::waiter {
      public:
        worker(boost::asio::io_context& home, dispatcher& at, std::atomic<int>* counts)
            : waiter(home), home_(home), at_(at), counts_(counts) {}
        void ask() {
            if (left_-- == 0) return;
            if (at_.ask(*this) == answer::start) called();
        }
        void called() override {
            const int now = ++counts_[0];
            for (int seen = counts_[1]; now > seen && !counts_[1].compare_exchange_weak(seen, now);)
                continue;
            boost::asio::post(home_, [this] {
                --counts_[0];
                ++counts_[2];
                at_.give_back();
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
    std::vector<std::unique_ptr<boost::asio::io_context>> loops;
    std::vector<std::unique_ptr<worker>> workers;
    for (int t = 0; t < 4; ++t) {
        loops.push_back(std::make_unique<boost::asio::io_context>(1));
        for (int i = 0; i < 5; ++i)
            workers.push_back(std::make_unique<worker>(*loops.back(), slots, counts));
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
    CHECK(counts[1] <= slots_there);
    CHECK(counts[0] == 0);
}
