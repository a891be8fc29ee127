// SPDX-License-Identifier: GPL-3.0-or-later
// What --populate puts into mailboxes, as words or a file (TOML) say it; rabid(8), POPULATING, has
// the keys.
//
//   --populate messages=10000,folders=8,years=5        --populate mailboxes.toml
//
// Text with a "=" in it is words, other text a file. A piece without a key that there is belongs to
// the value before it, so that "size=lognormal:4K,1,body=ascii=90,8bit=10" has three keys.
// Everything may be left out. parse() fails with one line: which key, why, and what would be right;
// of a file with its name and line.
//
// The run that stands in the messages' identities follows from all of it and the seed: another
// recipe makes other messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "mail/account_weights.hpp"
#include "mail/body_kind.hpp"
#include "mail/population.hpp"
#include "mail/size_spec.hpp"

namespace postal::rabid {

struct population_recipe {
    std::uint64_t messages = 1000;   // of an account, or on the average of all
    mail::account_weights spread{};  // over the accounts of the whole list
    mail::population_plan plan{};
    mail::size_spec sizes;
    mail::body_mix bodies{mail::body_kind::multipart};
    double verify = 1;  // the share of messages that are read back whole

    // Of each account of a list of so many.
    [[nodiscard]] std::vector<std::uint64_t> messages_of(std::size_t accounts) const;
    // In identities; never 0.
    [[nodiscard]] std::uint64_t run() const;
};

// Of a folder a visit knows imap_reader::most_messages: the rest is for messages of others.
inline constexpr std::uint64_t most_messages_of_account = 900'000;
inline constexpr std::size_t most_folders = 1000;

[[nodiscard]] base::expected<population_recipe> read_population(const std::string& words_or_file,
                                                                std::uint64_t seed);
// The same of a file's text; `name` stands for the file in failures.
[[nodiscard]] base::expected<population_recipe> parse_population_file(std::string_view text,
                                                                      const std::string& name,
                                                                      std::uint64_t seed);

}  // namespace postal::rabid
