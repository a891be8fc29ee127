// A listening socket and the loop that lets clients in.
//
// All doors live on the first worker; guests are handed to the workers in turn, and stay there. A
// full house (-t) is said with 421 4.3.2. When descriptors run out the door rests for a moment
// instead of spinning. Closing the doors is the first thing that a stop does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "bhm/reception.hpp"
#include "bhm/room.hpp"
#include "load/fleet.hpp"
#include "load/watched.hpp"
#include "net/listener.hpp"

namespace postal::bhm {

// Opens every place of the plan in the context of the first worker.
base::expected<std::vector<net::listener>> open_listeners(const plan& plan,
                                                          boost::asio::io_context& context);

class door final : public load::watched {
  public:
    // Rooms by worker; all must outlive it.
    door(net::listener& entrance, std::vector<std::unique_ptr<room>>& rooms, reception& front);

    boost::asio::awaitable<void> run();

    void on_deadline() override {}
    void on_stop(load::stop_kind how) override;

  private:
    bool let_in(const net::accepted& guest);
    void turn_away(const net::accepted& guest);
    boost::asio::awaitable<void> rest();

    net::listener& entrance_;
    std::vector<std::unique_ptr<room>>& rooms_;
    reception& front_;
    bool closed_ = false;
};

boost::asio::awaitable<void> attend(net::listener& entrance,
                                    std::vector<std::unique_ptr<room>>& rooms, reception& front);

}  // namespace postal::bhm
