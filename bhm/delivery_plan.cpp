// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/delivery_plan.hpp"

#include <utility>

#include "bhm/options.hpp"
#include "bhm/recipients.hpp"
#include "os/host.hpp"

namespace postal::bhm {
namespace {

using base::expected;

constexpr std::uint16_t smtp_port = 25;

expected<bounce_route> find_route(const delivery_options& chosen, std::string host_name,
                                  std::uint64_t run) {
    auto where = net::parse_endpoint(chosen.bounce_via, smtp_port);
    if (!where) return where.error();
    if (where->fresh_lookup) {
        return base::fail("\"+{}\" is looked up once, at the start; give it without the +",
                          where->text);
    }
    auto addresses = net::resolve(*where);
    if (!addresses) return addresses.error();
    const auto allowed = chosen.allowed.check(*where, *addresses);
    if (!allowed) return allowed.error();
    return bounce_route{where->text, std::move(*addresses), std::move(host_name), run};
}

expected<void> prepare_bounces(delivery_plan& into, const options& chosen, const recipients& users,
                               std::uint64_t run) {
    const std::string& via = chosen.delivery.bounce_via;
    const recipient* bounced = users.first(fate::bounced);
    if (bounced == nullptr && via.empty()) return {};
    if (bounced == nullptr) {
        return base::fail("--bounce-via: {}: no user has b in the third column", chosen.user_list);
    }
    if (via.empty()) {
        return base::fail("{}:{}: behaviour \"b\" needs a way for bounces; give --bounce-via",
                          chosen.user_list, bounced->line);
    }
    auto route = find_route(chosen.delivery, into.host_name, run);
    if (!route) return base::at("--bounce-via", route.error());
    into.bounces = std::move(*route);
    return {};
}

expected<void> prepare_greylists(delivery_plan& into, const options& chosen,
                                 const recipients& users) {
    const delivery_options& given = chosen.delivery;
    const bool wanted = users.first(fate::greylisted) != nullptr;
    if (!wanted && given.greylist_given()) {
        return base::fail(
            "--greylist-wait, --greylist-window, --greylist-lifetime: {}: no user has g in the "
            "third column",
            chosen.user_list);
    }
    if (!wanted) return {};
    const behaviour::greylist how{
        .wait = given.greylist_wait.value_or(default_greylist_wait),
        .window = given.greylist_window.value_or(default_greylist_window),
        .lifetime = given.greylist_lifetime.value_or(default_greylist_lifetime)};
    into.greylists = std::make_unique<behaviour::greylists>(how);
    return {};
}

}  // namespace

expected<void> prepare(delivery_plan& into, const options& chosen, const recipients& users,
                       std::uint64_t run) {
    into.host_name = os::describe_host().name;
    if (into.host_name.empty()) into.host_name = "localhost";
    auto done = prepare_bounces(into, chosen, users, run);
    if (done) done = prepare_greylists(into, chosen, users);
    if (!done || chosen.delivery.store.folder.empty()) return done;
    auto store = mail_store::open(chosen.delivery.store, into.host_name);
    if (!store) return base::at("--store", store.error());
    into.store = std::move(*store);
    return {};
}

}  // namespace postal::bhm
