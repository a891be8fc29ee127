// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/plan.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "behaviour/behaviour_file.hpp"
#include "bhm/phases.hpp"
#include "bhm/rule_listeners.hpp"
#include "mail/identity.hpp"
#include "mail/user_list.hpp"
#include "program/shared_options.hpp"

namespace postal::bhm {
namespace {

using base::expected;

constexpr std::uint16_t submissions_port = 465;  // RFC 8314 3.3

expected<void> find_places(plan& into) {
    const options& chosen = into.chosen;
    const bool default_place = (chosen.listen.empty() && chosen.tls.listen.empty()) ||
                               !chosen.bind_address.empty() || chosen.port_given;
    if (default_place && chosen.bind_address.empty()) {
        for (const bool required : {true, false}) {
            auto any = net::parse_endpoint(required ? "0.0.0.0" : "[::]", chosen.port);
            if (!any) return any.error();
            into.places.push_back({std::move(*any), required});
        }
    } else if (default_place) {
        auto where = net::parse_endpoint(chosen.bind_address, chosen.port);
        if (!where) return base::fail("--bind: {}", where.error().message);
        const auto found = net::resolve(*where);
        if (!found) return base::fail("--bind: {}", found.error().message);
        into.places.push_back({std::move(*where)});
    }
    return program::add_places(into.places, chosen, chosen.port, submissions_port);
}

expected<void> load_files(plan& into) {
    if (!into.chosen.user_list.empty()) {
        const std::string& path = into.chosen.user_list;
        auto users = mail::load_users(path);
        if (!users) return base::at("USER-LIST", users.error());
        auto admitted = into.valid.admit(*users, mail::list_name(path));
        if (!admitted) return base::at("USER-LIST", admitted.error());
    }
    if (!into.chosen.host_names.empty()) {
        auto names = host_names::load(into.chosen.host_names);
        if (!names) return base::fail("--reverse-dns: {}", names.error().message);
        into.names = std::move(*names);
    }
    return {};
}

bool needs_passwords(sasl::mechanism_set some) {
    some.remove(sasl::mechanism::anonymous);
    some.remove(sasl::mechanism::external);
    return !some.empty();
}

sasl::mechanism_set with_tls(sasl::mechanism_set some, bool bound, bool certified) {
    for (std::size_t i = 0; i < sasl::mechanism_count && !bound; ++i) {
        const auto one = static_cast<sasl::mechanism>(i);
        if (sasl::binds_channel(one)) some.remove(one);
    }
    if (!certified) some.remove(sasl::mechanism::external);
    return some;
}

expected<void> announce_auth(plan& into) {
    const options& chosen = into.chosen;
    sasl::mechanism_set plain = with_tls(chosen.auth, false, false);
    sasl::mechanism_set over_tls;
    for (std::size_t i = 0; i < sasl::mechanism_count; ++i) {
        const auto one = static_cast<sasl::mechanism>(i);
        if (!chosen.auth.has(one) || !sasl::sends_secret(one) || chosen.auth_insecure) continue;
        plain.remove(one);
        over_tls.add(one);
    }
    into.auth.plain = sasl::to_text(plain);
    into.auth.over_tls = sasl::to_text(over_tls);
    for (const bool bound : {false, true}) {
        for (const bool certified : {false, true}) {
            into.auth.secure[bound][certified] =
                sasl::to_text(with_tls(chosen.auth, bound, certified));
        }
    }
    if (needs_passwords(chosen.auth) && !into.valid.any_password()) {
        return base::fail("--auth: {}: no user has a password; give one behind the address",
                          mail::list_name(chosen.user_list));
    }
    into.rules.server.requires_auth = chosen.requires_auth;
    return {};
}

// Without --behaviour an empty one, where sessions still differ by speed.
expected<void> load_behaviour(plan& into) {
    const options& chosen = into.chosen;
    behaviour::behaviour rules;
    if (!chosen.behaviour_file.empty()) {
        auto loaded = behaviour::load_behaviour(chosen.behaviour_file);
        if (!loaded) {
            return base::fail("{}: {}",
                              chosen.check_behaviour ? "--check-behaviour" : "--behaviour",
                              loaded.error().message);
        }
        rules = std::move(*loaded);
    }
    into.rules_name_listeners =
        std::any_of(rules.rules.begin(), rules.rules.end(),
                    [](const behaviour::rule& one) { return !one.when.listener.empty(); });
    if (into.rules_name_listeners && !chosen.check_behaviour) {
        const auto resolved = resolve_listeners(rules, into.places);
        if (!resolved) return base::fail("--behaviour: {}", resolved.error().message);
    }
    if (!rules.empty() || chosen.speed)
        into.engine = std::make_unique<behaviour::engine>(std::move(rules), into.seed());
    return {};
}

expected<void> configure_server(plan& into) {
    into.rules.data_phase = static_cast<std::size_t>(phase::data);
    into.rules.message_phase = static_cast<std::size_t>(phase::message);
    into.rules.tls_phase = static_cast<std::size_t>(phase::tls);
    into.rules.tls_resumed_phase = static_cast<std::size_t>(phase::tls_resumed);
    proto::server_config& server = into.rules.server;
    server.speaks = into.chosen.dialect;
    server.delivery_options = true;
    server.judges_stages = server.judges_senders = into.engine != nullptr;
    into.rules.delays = into.chosen.delays;
    return program::prepare(into.rules, into.chosen);
}

// By rules, and by the letters of the user list.
expected<void> prepare_retries(plan& into) {
    if (into.engine) into.defers = deferrals_of(into.engine->what());
    for (const fate one : {fate::deferred, fate::greylisted})
        into.defers.any = into.defers.any || into.valid.first(one) != nullptr;
    if (!into.defers.any) return {};
    into.retries = std::make_unique<waiting_recipients>();
    into.rules.server.judges_senders = true;
    return {};
}

// The last step, since it makes files.
expected<void> prepare_delivery(plan& into) {
    if (into.chosen.check_behaviour) return {};
    auto done = prepare(into.delivery, into.chosen, into.valid, into.run);
    if (done && into.delivery.wanted()) into.rules.server.judges_senders = true;
    return done;
}

}  // namespace

expected<std::unique_ptr<plan>> make_plan(options given) {
    auto result = std::make_unique<plan>();
    result->chosen = std::move(given);
    result->run = base::fresh_entropy();
    for (auto* step : {find_places, load_files, announce_auth, load_behaviour, configure_server,
                       prepare_retries, prepare_delivery}) {
        auto done = step(*result);
        if (!done) return done.error();
    }
    return result;
}

std::uint64_t plan::speed_of(std::uint64_t session) const {
    if (!chosen.speed) return 0;
    base::random_source random(base::mix(seed(), session, 0));
    return behaviour::draw_rate(*chosen.speed, random);
}

stats::run_description describe(const plan& plan, int argc, char** argv) {
    const options& chosen = plan.chosen;
    stats::run_description result =
        program::describe({"bhm", chosen.run, chosen.effective, {argv, argv + argc}});
    program::describe(chosen, plan.rules, result);
    result.phases = phase_names();
    result.message_phase = static_cast<std::size_t>(phase::message);
    result.checks_integrity = chosen.verify;
    result.defers = plan.retries != nullptr;
    result.ends_mail = plan.delivery.store || plan.delivery.bounces;
    if (!chosen.ledger.empty()) {
        std::string run;
        mail::append_run(plan.run, run);
        result.options["run"] = run;
    }
    if (!chosen.auth.empty()) result.options["auth"] = sasl::to_text(chosen.auth);
    if (plan.engine) result.seed = plan.seed();
    if (plan.valid.size() != 0) result.options["recipients"] = plan.valid.size();
    return result;
}

}  // namespace postal::bhm
