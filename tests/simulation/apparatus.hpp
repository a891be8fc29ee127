// SPDX-License-Identifier: GPL-3.0-or-later
// What takes long to make and serves one run after the other: texts of messages, workers whose
// tallies count, room for messages that are checked.
#pragma once

#include <memory>
#include <vector>

#include "ledger/examination.hpp"
#include "load/worker.hpp"
#include "mail/message_factory.hpp"
#include "mail/rebuild.hpp"
#include "stats/tally.hpp"

namespace simulation {

class apparatus {
  public:
    static constexpr std::uint64_t run = 0x51;  // the number of every simulated one
    static constexpr std::size_t server_data_phase = 0;
    static constexpr std::size_t server_message_phase = 1;

    apparatus();

    // Everything counted is 0 again.
    void reset();

    [[nodiscard]] std::shared_ptr<const postal::mail::message_plan> messages(
        std::size_t kind) const {
        return messages_[kind];
    }
    postal::stats::tally& senders() noexcept { return senders_; }
    postal::load::worker& servers() noexcept { return servers_; }
    postal::mail::body_rebuilder& rebuilder() noexcept { return rebuilder_; }
    std::unique_ptr<postal::ledger::examination> lend();
    void take_back(std::unique_ptr<postal::ledger::examination> one);

  private:
    std::vector<std::shared_ptr<const postal::mail::message_plan>> messages_;
    postal::stats::tally senders_;
    postal::load::worker servers_;
    postal::ledger::evidence_memory evidence_{};
    postal::mail::body_rebuilder rebuilder_;
    std::vector<std::unique_ptr<postal::ledger::examination>> spare_;
};

}  // namespace simulation
