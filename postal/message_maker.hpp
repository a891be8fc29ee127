// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the message of a transaction: who it is from, who receives it, and its octets.
//
// But for the date and a sender who has logged in it is a function of the plan and of the message's
// numbers: equal seeds make equal runs. Messages are lent from the first command until they are
// written, so that a session that waits holds none. One worker's own.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "mail/message.hpp"
#include "postal/plan.hpp"
#include "postal/transaction.hpp"

namespace postal::sender {

class message_maker {
  public:
    explicit message_maker(const plan& of) : plan_(of), source_(of.make_source()) {}

    // How many recipients the transaction with these numbers has.
    std::uint64_t recipients_of(std::uint64_t session, std::uint64_t sequence) const;
    // Fills in sender, recipients, at most that many, and message of the transaction with these
    // numbers. With a `sender` it is from that one of the plan's, who has logged in.
    void make(transaction& tx, std::optional<std::uint32_t> sender, std::uint64_t most_recipients,
              std::chrono::system_clock::time_point now);

    // The octets are needed no more.
    void take_back(mail::message* one) { spare_.push_back(one); }

  private:
    base::random_source numbers_of(std::uint64_t session, std::uint64_t sequence) const noexcept;
    mail::message* lend();

    const plan& plan_;
    std::unique_ptr<mail::message_source> source_;
    std::vector<std::string_view> addresses_;  // scratch of make()
    std::vector<std::unique_ptr<mail::message>> messages_;
    std::vector<mail::message*> spare_;
};

}  // namespace postal::sender
