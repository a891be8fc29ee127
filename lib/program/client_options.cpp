#include "program/client_options.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "mail/identity.hpp"

namespace postal::program {

using base::expected;

namespace {

expected<void> find_local_addresses(client::load_plan& into, const client_options& chosen) {
    if (chosen.local_addresses.empty()) return {};
    auto locals = net::parse_local_addresses(chosen.local_addresses);
    if (!locals) return base::at("--local-address", locals.error());
    into.local_addresses = std::move(*locals);
    return {};
}

void plan_pace(client::load_plan& into, client_options& chosen) {
    into.open_loop = chosen.open_loop;
    into.arrival = chosen.arrival;
    into.connect_rate = chosen.connect_rate;
    if (!chosen.stages.empty()) {
        into.rate = load::rate_curve::ramp(chosen.rate.value_or(base::rate{}), chosen.stages);
        if (chosen.run.duration.count() == 0) chosen.run.duration = into.rate->length();
    } else if (chosen.rate) {
        into.rate = load::rate_curve::constant(*chosen.rate);
    }
}

// A server that takes the time it has is not given up.
std::chrono::nanoseconds default_give_up(const client::load_plan& of,
                                         const client_options& chosen) {
    const bool needs_servers = of.tickets.limited() && chosen.run.duration.count() == 0;
    if (!needs_servers) return {};
    return std::max<std::chrono::nanoseconds>(std::chrono::minutes(1), of.patience.longest());
}

}  // namespace

expected<void> check(const client_options& chosen) {
    auto tls = check(chosen.tls);
    if (!tls) return tls.error();
    auto origin = check(chosen.origin);
    if (!origin) return origin.error();
    return cli::check(chosen.run);
}

expected<void> prepare(client::load_plan& into, client_options& chosen) {
    into.seed = chosen.seed.value_or(base::fresh_entropy() >> 11U);
    into.run = base::fresh_entropy();
    auto auth = client::auth_plan::make(chosen.auth);
    if (!auth) return auth.error();
    into.auth = std::move(*auth);
    into.auth.client_certificate = !chosen.tls.settings.certificate.empty();
    auto locals = find_local_addresses(into, chosen);
    if (!locals) return locals.error();
    auto tls = make_security(chosen.tls);
    if (!tls) return tls.error();
    into.tls = std::move(*tls);
    into.origin = origin_of(chosen.origin);
    into.workers = std::clamp(chosen.run.workers, 1U, into.sessions);
    into.transcripts = chosen.transcripts;
    plan_pace(into, chosen);
    into.give_up = chosen.give_up.value_or(default_give_up(into, chosen));
    return net::check_transcripts(chosen.transcripts);
}

void describe(const client::load_plan& plan, const client_options& chosen,
              stats::run_description& into) {
    into.seed = plan.seed;
    into.workers = plan.workers;
    into.transcript = plan.transcripts.wanted();
    if (plan.tls.context) into.tls_library = net::tls_library(chosen.tls.settings.backend);
    if (chosen.ledger.empty()) return;
    std::string run;
    mail::append_run(plan.run, run);
    into.options["run"] = run;
}

expected<std::vector<mail::user>> load_list(const std::string& path, std::string_view option) {
    auto users = mail::load_users(path);
    if (!users) return base::at(option, users.error());
    return users;
}

expected<std::vector<client::target>> find_servers(const std::string& text, std::string_view option,
                                                   std::uint16_t port, const client_tls& tls) {
    auto servers = net::parse_endpoints(text, port);
    if (!servers) return base::at(option, servers.error());
    std::vector<client::target> result;
    for (net::endpoint& where : *servers) {
        auto found = net::resolve(where);
        if (!found) return base::at(option, found.error());
        if (where.fresh_lookup) found->clear();
        result.push_back({std::move(where), std::move(*found)});
    }
    auto named = check_names(tls, result);
    if (!named) return named.error();
    return result;
}

}  // namespace postal::program
