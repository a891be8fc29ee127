// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/delivery_options.hpp"

#include <utility>
#include <vector>

#include "base/units.hpp"
#include "cli/binders.hpp"
#include "program/shared_options.hpp"

namespace postal::bhm {
namespace {

using base::expected;
using cli::setter;

// The same, and remembers that it was given.
setter of_store(delivery_options& o, setter store) {
    return [&o, store = std::move(store)](const std::string& given) {
        o.store_detail_given = true;
        return store(given);
    };
}

std::vector<cli::option> store_rows(delivery_options& o) {
    return {
        {"--store", "DIR", "", "keep accepted mail in this folder, which is new or empty",
         cli::text(o.store.folder)},
        {"--store-format", "maildir|mbox", "maildir", "a Maildir, or one mbox file",
         of_store(o, cli::choice(o.store.format, {{"maildir", store_format::maildir},
                                                  {"mbox", store_format::mbox}}))},
        {"--store-messages", "N", "100000", "most messages that are kept",
         of_store(o, cli::count(o.store.most_messages, 1))},
        {"--store-size", "SIZE", "1G", "most octets that are kept",
         of_store(o, cli::size(o.store.most_octets))},
        {"--store-sync", "", "",
         "reply only once a message is on the disk: fsync of file and folder",
         of_store(o, cli::flag(o.store.sync))},
        {"--sample", "N%", "100%", "share of the messages that is kept",
         of_store(o, cli::percent(o.store.sample))},
    };
}

}  // namespace

cli::group delivery_group(delivery_options& o) {
    cli::group group{"Delivery of mail", store_rows(o)};
    const std::vector<cli::option> others{
        {"--bounce-via", "ENDPOINT", "", "relay for the bounces of users with b in USER-LIST",
         cli::text(o.bounce_via)},
        program::target_is_mine_option(o.allowed),
        {"--greylist-wait", "DURATION", "1m", "users with g: refuse for so long",
         cli::parsed(o.greylist_wait, base::parse_duration)},
        {"--greylist-window", "DURATION", "4h",
         "users with g: who comes later than this begins again",
         cli::parsed(o.greylist_window, base::parse_duration)},
        {"--greylist-lifetime", "DURATION", "840h",
         "users with g: remember for so long who has passed",
         cli::parsed(o.greylist_lifetime, base::parse_duration)},
    };
    group.options.insert(group.options.end(), others.begin(), others.end());
    return group;
}

expected<void> check(const delivery_options& chosen, const std::string& user_list) {
    if (chosen.store.folder.empty() && chosen.store_detail_given) {
        return base::fail(
            "--store-format, --store-messages, --store-size, --store-sync, --sample: mean nothing "
            "without "
            "--store");
    }
    if (chosen.store.sample == 0)
        return base::fail("--sample: 0 % keeps nothing; leave --store out");
    if (!chosen.bounce_via.empty() && user_list.empty()) {
        return base::fail("--bounce-via: whose mail bounces stands in a USER-LIST; give one");
    }
    if (!chosen.allowed.is_empty() && chosen.bounce_via.empty())
        return base::fail("--target-is-mine: means nothing without --bounce-via");
    if (!chosen.greylist_given()) return {};
    if (user_list.empty()) {
        return base::fail(
            "--greylist-wait, --greylist-window, --greylist-lifetime: who is "
            "greylisted stands in a USER-LIST; give one");
    }
    const delivery_options::duration wait = chosen.greylist_wait.value_or(default_greylist_wait);
    const delivery_options::duration window =
        chosen.greylist_window.value_or(default_greylist_window);
    if (wait < window) return {};
    return base::fail("--greylist-wait: {} is not before the end of --greylist-window, {}",
                      base::format_duration(wait), base::format_duration(window));
}

}  // namespace postal::bhm
