// SPDX-License-Identifier: GPL-3.0-or-later
// The slots for agents (--max-deliveries), shared by all workers, and the queue in front of them.
//
// Flow, in a worker's thread; a session is a customer, each of its deliveries a waiter:
//   switch (dispatcher.ask(me, recipient)) {
//     start:   the slot is mine
//     wait:    called() comes in my worker's thread, with a slot or without; or withdraw()
//     refused: the queue is full
//   }
//   ... the agent ends ...  dispatcher.give_back(me);
//
// Slots go to clients in turn, by address; of one address to its connections in turn; of one
// connection in the order in which it asked. Clients of Unix sockets have no address: each
// connection is a client. No recipient has more than `a_recipient` slots at once; its other
// deliveries stand aside meanwhile, and cost nobody a turn. The queue holds `longest` waiters. When
// it is full, a client that holds less of it than another takes the place of that one's last
// waiter, which is turned away: no client can fill it against the others, and one that is alone has
// it all.
//
// One short lock a call, held for a bounded number of steps, and one search among the clients that
// wait, by how many of theirs do. Nothing waits here. ask() may throw std::bad_alloc, and has done
// nothing then.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace postal::lmtp_deliver {

class dispatcher {
    struct in_turn;    // the hook of whatever stands in a line
    struct of_client;  // the hook of all that a client has waiting
    struct by_number;  // the hook of clients, by how much they have waiting
    struct recipient;
    struct client;

    template <class Tag>
    using hook = boost::intrusive::list_base_hook<boost::intrusive::tag<Tag>>;
    template <class Value, class Tag = in_turn>
    using line = boost::intrusive::list<Value, boost::intrusive::base_hook<hook<Tag>>>;

  public:
    enum class answer : std::uint8_t { start, wait, refused };
    class customer;

    class waiter : public hook<in_turn>, public hook<of_client> {
      public:
        waiter(boost::asio::io_context& home, customer& whose) : home_(home), whose_(whose) {}
        waiter(const waiter&) = delete;
        waiter& operator=(const waiter&) = delete;

      protected:
        ~waiter() = default;

      private:
        friend class dispatcher;
        // In the thread of its io_context: the slot is yours (start), or your place in the queue
        // was given to another client (refused).
        virtual void called(answer how) = 0;

        bool waits() const noexcept { return hook<of_client>::is_linked(); }

        boost::asio::io_context& home_;
        customer& whose_;
        std::string name_;         // of its recipient
        recipient* of_ = nullptr;  // while it waits or has a slot
        bool aside_ = false;       // waits until its recipient has less
    };

    // One connection. Has no waiters any more when it ends.
    class customer : public hook<in_turn> {
      public:
        // `address` is empty for one that is a client by itself.
        customer(dispatcher& of, const std::string& address);
        ~customer();
        customer(const customer&) = delete;
        customer& operator=(const customer&) = delete;

      private:
        friend class dispatcher;

        dispatcher& of_;
        std::unique_ptr<client> own_;
        client* from_;
        line<waiter> line_;  // those that may have a slot, as far as is known
    };

    struct limits {
        unsigned slots = 1;
        std::size_t longest = 0;
        unsigned a_recipient = 1;
    };
    explicit dispatcher(limits given);
    ~dispatcher();

    // By `name` recipients are told apart.
    answer ask(waiter& who, std::string name);
    // Leaves the queue; false when called() is on its way already, and must be waited for.
    bool withdraw(waiter& who);
    void give_back(waiter& who);

  private:
    struct recipient {
        std::size_t met = 0;  // waiters that refer to it
        unsigned running = 0;
        line<waiter> aside;
    };
    using number_hook = boost::intrusive::set_base_hook<boost::intrusive::tag<by_number>>;
    // What the connections from one address have waiting.
    struct client : hook<in_turn>, number_hook {
        std::string address;
        std::size_t connections = 0;
        std::size_t waiting = 0;
        line<customer> lines;         // of which something may be called
        line<waiter, of_client> all;  // in the order in which they came
    };
    struct fewer {
        bool operator()(const client& a, const client& b) const noexcept {
            return a.waiting < b.waiting;
        }
    };
    using ranking = boost::intrusive::multiset<client, boost::intrusive::base_hook<number_hook>,
                                               boost::intrusive::compare<fewer>>;

    // All with the lock held.
    void meet_recipient(waiter& who, std::string name);
    void forget_recipient(waiter& who) noexcept;
    bool has_enough(const waiter& who) const noexcept {
        return who.of_ != nullptr && who.of_->running >= a_recipient_;
    }
    void enter_queue(waiter& who, bool first) noexcept;
    void leave_queue(waiter& who) noexcept;
    void stand_in_line(waiter& who, bool first) noexcept;
    void leave_line(waiter& who) noexcept;
    void stand_aside(waiter& who) noexcept;
    void call_from_aside(recipient* of) noexcept;
    void count(client& whose, std::ptrdiff_t change) noexcept;
    void take_slot(waiter& who) noexcept;
    void free_slot(waiter& who) noexcept;
    waiter* next() noexcept;
    waiter* make_room_for(const client& who) noexcept;

    // Without it.
    void hand_out() noexcept;
    bool call(waiter& who, answer how) noexcept;

    std::mutex mutex_;  // guards what follows
    unsigned free_;
    std::size_t waiting_ = 0;
    const std::size_t longest_;
    const unsigned a_recipient_;
    const bool bounds_recipients_;
    std::unordered_map<std::string, recipient> recipients_;  // for whom anything waits or runs
    std::unordered_map<std::string, client> clients_;        // with addresses, that are connected
    line<client> turn_;                                      // of which something may be called
    ranking ranking_;                                        // of which something waits
};

}  // namespace postal::lmtp_deliver
