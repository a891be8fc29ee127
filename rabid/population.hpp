// SPDX-License-Identifier: GPL-3.0-or-later
// What a run with --populate shares: the recipe, how many messages each account is to hold, what is
// known of those accounts whose turn it is, and the messages themselves.
//
// books(n) is the account's that a session has at the moment; nobody else touches it. It is made
// when the account is visited first, kept while that has to be visited again, and dropped when it
// is done: memory is for as many accounts as sessions, and those that failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "load/run_share.hpp"
#include "mail/message_factory.hpp"
#include "rabid/accounts.hpp"
#include "rabid/population_books.hpp"
#include "rabid/population_recipe.hpp"

namespace postal::rabid {

class population {
  public:
    // For the accounts of a share, of a list of so many.
    [[nodiscard]] static base::expected<std::unique_ptr<population>> make(
        population_recipe recipe, const accounts& ours, const load::run_share& share,
        std::size_t accounts_of_all);

    [[nodiscard]] const population_recipe& recipe() const noexcept { return recipe_; }
    [[nodiscard]] std::uint64_t run() const noexcept { return run_; }
    // Of all accounts of this share, and of all shares.
    [[nodiscard]] std::uint64_t wanted() const noexcept { return wanted_; }
    [[nodiscard]] std::uint64_t wanted_of_all() const noexcept { return wanted_of_all_; }
    [[nodiscard]] const std::shared_ptr<const mail::message_plan>& messages() const noexcept {
        return messages_;
    }

    [[nodiscard]] account_books& books(std::size_t number, const account& whose);
    void done(std::size_t number) { books_[number].reset(); }

  private:
    explicit population(population_recipe recipe) : recipe_(std::move(recipe)) {}

    population_recipe recipe_;
    std::uint64_t run_ = 0;
    std::uint64_t wanted_ = 0;
    std::uint64_t wanted_of_all_ = 0;
    std::vector<std::uint64_t> messages_of_;  // by account of this share
    std::vector<std::unique_ptr<account_books>> books_;
    std::shared_ptr<const mail::message_plan> messages_;
};

// Makes the messages of mailboxes, for one worker.
class population_maker {
  public:
    explicit population_maker(const population& of);

    // Holds until the next call.
    const mail::message& make(const account& whose, const account_books& books,
                              std::uint32_t sequence);

  private:
    void write_subject(const account_books& books, std::uint32_t sequence);
    void write_fields(const account_books& books, std::uint32_t sequence);

    const population& of_;
    mail::message_factory factory_;
    mail::message made_;
    std::string subject_;
    std::string fields_;
};

}  // namespace postal::rabid
