// SPDX-License-Identifier: GPL-3.0-or-later
// The accounts of the user list, lent to one session at a time (RFC 1939 8: a POP3 server locks the
// mailbox).
//
// Shared by all workers, under one lock that is held for a moment each connection. Accounts are
// lent in random order, each once before any is lent again, so that as many connections as there
// are accounts read all mail. One that is out when a round ends is not waited for; it comes back
// into the round that runs by then. With `shared` the same one may be lent again before it is back,
// as IMAP allows. With weights there are no rounds: an account is drawn, and one that is out is
// passed over. Nothing here fails; no account is free when more sessions than accounts ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "load/run_share.hpp"
#include "mail/account_weights.hpp"
#include "mail/user_list.hpp"
#include "proto/imap/memory.hpp"

namespace postal::rabid {

struct account {
    std::string login;    // without the domain, if that is wanted
    std::string address;  // whose mail it is, in lower case
    std::string password;
};

enum class sharing { exclusive, shared };
// unfinished: its turn is not over, whatever the rounds.
enum class visit_result { done, failed, unfinished };

class accounts {
  public:
    // With `rounds` each is lent so many times, whatever its visits come to.
    accounts(std::vector<account> all, sharing how,
             std::optional<std::uint64_t> rounds = std::nullopt);
    // By weights, which are of so many accounts.
    accounts(std::vector<account> all, sharing how, mail::account_draw weights);

    // The number of an account that is nobody else's now, or of any where they are shared; nothing
    // also where only such accounts have turns left as are out.
    std::optional<std::size_t> take(base::random_source& random);
    // One whose mailbox could not be visited comes sooner again.
    void give_back(std::size_t number, visit_result how);

    // What a visit leaves for the next one to the same INBOX: what it knew of it (RFC 7162), and on
    // which server. At most 2 KiB each, and only where profiles want it.
    struct memory {
        std::size_t server = 0;
        proto::imap_memory inbox;
    };
    void keep(std::size_t number, memory what);
    // Nothing known, or of another server: not usable().
    proto::imap_memory recall(std::size_t number, std::size_t server) const;

    const account& at(std::size_t number) const noexcept { return all_[number]; }
    std::size_t size() const noexcept { return all_.size(); }

  private:
    std::optional<std::size_t> take_by_weight(base::random_source& random);

    const std::vector<account> all_;
    const sharing how_;
    const std::optional<std::uint64_t> rounds_;
    const mail::account_draw weights_;
    mutable std::mutex mutex_;          // guards what follows
    std::vector<std::size_t> free_;     // in this round
    std::vector<std::size_t> visited_;  // free as well, but not before the others
    std::uint64_t round_ = 0;
    // Of each account: the round of its last turn, from 1; with `rounds` how many it had, so that
    // one that is out for longer than a round catches up.
    std::vector<std::uint64_t> turns_;
    std::vector<bool> out_;  // with weights
    std::vector<std::unique_ptr<memory>> memories_;
};

// Of a user list; addresses that stand there twice are one account.
std::vector<account> accounts_of(const std::vector<mail::user>& users, bool strip_domain);
// Those of one rank, so that no two ranks open one mailbox.
std::vector<account> part_of(std::vector<account> all, const load::run_share& share);

}  // namespace postal::rabid
