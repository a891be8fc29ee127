// The slots for agents (--max-deliveries), shared by all workers, and the queue in front of them.
//
// Flow, in a worker's thread:
//   switch (dispatcher.ask(me)) {
//     start:   the slot is mine
//     wait:    called() comes in my worker's thread when it is; or withdraw()
//     refused: the queue is full
//   }
//   ... the agent ends ...  dispatcher.give_back();
// First come, first served, over all workers. A slot that is given back goes straight to the first
// in the queue. One short lock a call; nothing here waits or fails.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace postal::lmtp_deliver {

class dispatcher {
  public:
    class waiter : public boost::intrusive::list_base_hook<> {
      public:
        explicit waiter(boost::asio::io_context& home) : home_(home) {}
        waiter(const waiter&) = delete;
        waiter& operator=(const waiter&) = delete;

      protected:
        ~waiter() = default;

      private:
        friend class dispatcher;
        // In the thread of its io_context: the slot is yours.
        virtual void called() = 0;

        boost::asio::io_context& home_;
    };

    enum class answer : std::uint8_t { start, wait, refused };

    dispatcher(unsigned slots, std::size_t longest_queue)
        : free_(slots), longest_queue_(longest_queue) {}

    answer ask(waiter& who);
    // Leaves the queue; false when called() is on its way already, and must be waited for.
    bool withdraw(waiter& who);
    void give_back();

  private:
    std::mutex mutex_;  // guards what follows
    unsigned free_;
    const std::size_t longest_queue_;
    boost::intrusive::list<waiter> queue_;
};

}  // namespace postal::lmtp_deliver
