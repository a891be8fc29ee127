// SPDX-License-Identifier: GPL-3.0-or-later
// One IMAP connection that fills an account's mailboxes (--populate): what is missing is appended,
// and what is there in the end is read back.
//
// Flow: population_visit visit(who, books); if (co_await visit.run()) the account is done; else the
// next connection goes on from what it finds.
//
// Of each folder first the identities of what lies there are fetched, and only what is missing is
// appended, in the order of dates: in commands of up to most_messages messages (MULTIAPPEND, RFC
// 3502) where that is offered, one for each else. Where a connection breaks within a command it is
// not known what has arrived, and nobody guesses: the next visit looks. A command of several that
// is refused is said again one by one, so that only what the server does not take is refused. An
// account of which three in a row, or one for want of room, are refused is given up.
//
// A listing that leaves a number out, or within which messages go, is made again, and nothing is
// appended on it. A folder that the server refuses, or does not list completely three times, is
// left alone, and the others are gone on with: only a connection that is lost ends the visit.
//
// Of the reading of a folder at the end (all messages whole, or a share of them, and of the others
// the identity, each with flags and INTERNALDATE) nothing counts before all of it is over; then it
// counts once, and no later visit does it again.
// RFC 3501 6.3.11, RFC 3502, RFC 4315 (APPENDUID), RFC 7888.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rabid/imap_dialogue.hpp"
#include "rabid/imap_reader.hpp"
#include "rabid/population.hpp"
#include "rabid/visit_context.hpp"

namespace postal::rabid {

class flag_check;

class population_visit {
  public:
    static constexpr std::size_t most_messages = 100;  // of one command
    static constexpr std::uint64_t most_octets = std::uint64_t{8} << 20U;

    // Both outlive it.
    population_visit(const visit_context& who, population& all);

    // True when there is nothing left to do for this account.
    asio::awaitable<bool> run();

  private:
    enum class taken : std::uint8_t { yes, no, broken };

    using look_at = std::function<asio::awaitable<taken>()>;
    // With what the server says beside the identity.
    using listed_listener = std::function<void(const listed_message&, const identity_reader&)>;

    asio::awaitable<bool> begin();
    asio::awaitable<bool> fill_all();
    asio::awaitable<bool> read_all();
    asio::awaitable<taken> open(std::size_t folder);
    asio::awaitable<taken> survey(std::size_t folder, const look_at& look);
    asio::awaitable<bool> look(std::size_t folder);
    asio::awaitable<taken> list_identities(listed_listener who);
    asio::awaitable<bool> fill(std::size_t folder, std::vector<std::uint32_t> missing);
    asio::awaitable<bool> append_each(std::size_t folder, std::span<const std::uint32_t> batch);
    asio::awaitable<taken> append(std::size_t folder, std::span<const std::uint32_t> left);
    asio::awaitable<bool> say_append(std::size_t folder, std::span<const std::uint32_t> left);
    asio::awaitable<bool> read_back(std::size_t folder);
    asio::awaitable<taken> read_messages();

    bool names_differ();
    std::string name_of(std::size_t folder) const;
    std::string ledger_name_of(std::size_t folder) const;
    void note(std::size_t folder, std::uint32_t sequence, std::uint64_t octets,
              ledger::outcome what);
    asio::awaitable<void> note_present(std::size_t folder, const folder_state& found);
    found_identity identity_of(const listed_message& one) const;
    bool undisturbed(std::uint32_t there) const noexcept;
    bool as_made(const found_identity& id, const flag_check& flags,
                 const identity_reader& beside) const;
    void settle(std::size_t folder, std::span<const std::uint32_t> batch, placed how);
    void check_uids(std::size_t messages);
    void tell(std::size_t folder, const folder_state& found);
    void tell_numbers(std::size_t folder, base::error_name reason, std::string_view what,
                      std::span<const std::uint32_t> which);
    void count(const examiner::findings& held);

    const visit_context& visit_;
    population& all_;
    account_books& books_;
    imap_dialogue dialogue_;
    imap_reader reader_;
    std::vector<std::uint64_t> octets_;  // of each message of the command in hand
    bool filled_ = false;                // all folders: what follows is reading
    bool given_up_ = false;              // the server takes no more
    bool whole_ = false;                 // all of the last command was sent
    bool may_create_ = true;             // the folder in hand, once, where the server says so
    int refused_in_a_row_ = 0;
    // With a ledger: what lies in the folder in hand, and how large the server says it is.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> sizes_;
};

}  // namespace postal::rabid
