// SPDX-License-Identifier: GPL-3.0-or-later
// The options that say what becomes of mail beyond being counted: kept in a store, bounced,
// greylisted. Rows and checks; options.hpp has the rest.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "bhm/mail_store.hpp"
#include "cli/options.hpp"
#include "net/allowed_targets.hpp"

namespace postal::bhm {

struct delivery_options {
    using duration = std::chrono::nanoseconds;

    store_options store{};
    // Whether one of those was given that mean nothing without --store.
    bool store_detail_given = false;
    std::string bounce_via;          // an endpoint; empty: nobody bounces
    net::allowed_targets allowed{};  // --target-is-mine: for bounce_via
    // Of users with g; nothing: the default.
    std::optional<duration> greylist_wait;
    std::optional<duration> greylist_window;
    std::optional<duration> greylist_lifetime;

    bool greylist_given() const noexcept {
        return greylist_wait || greylist_window || greylist_lifetime;
    }
};

inline constexpr auto default_greylist_wait = std::chrono::minutes(1);
inline constexpr auto default_greylist_window = std::chrono::hours(4);
inline constexpr auto default_greylist_lifetime = std::chrono::hours(24 * 35);

cli::group delivery_group(delivery_options& target);

// What only shows when all options are known; `user_list` is the file's name, empty for none.
base::expected<void> check(const delivery_options& chosen, const std::string& user_list);

}  // namespace postal::bhm
