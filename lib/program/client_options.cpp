// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/client_options.hpp"

#include <algorithm>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "base/random.hpp"
#include "cli/binders.hpp"
#include "cluster/launcher.hpp"
#include "mail/identity.hpp"
#include "program/sample_options.hpp"
#include "program/search_flow.hpp"

namespace postal::program {

using base::expected;

namespace {

constexpr unsigned most_sessions_of_rank = 1'000'000;

expected<void> check_sessions(const client_options& chosen) {
    if (!chosen.sessions_total) return {};
    if (cli::is_given(chosen.effective, "sessions"))
        return base::fail("--sessions-total: is in place of --sessions; leave one of the two out");
    return {};
}

const char* family_of(const net::address& one) {
    return one.protocol().family() == AF_INET6 ? "IPv6" : "IPv4";
}

// From an address of another family no connection comes about.
expected<void> check_families(const net::endpoint& where, const std::vector<net::address>& found,
                              const std::vector<net::address>& locals) {
    for (const net::address& local : locals) {
        const int family = local.protocol().family();
        if (std::ranges::any_of(
                found, [&](const net::address& one) { return one.protocol().family() == family; }))
            continue;
        if (where.is_unix())
            return base::fail("--local-address: {} is a Unix socket, which has none; leave it out",
                              where.text);
        return base::fail(
            "--local-address: {} has only {} addresses, and one of {} is given; give {} ones",
            where.text, family_of(found.front()), family_of(local), family_of(found.front()));
    }
    return {};
}

expected<std::vector<net::address>> find_local_addresses(const client_options& chosen) {
    if (chosen.local_addresses.empty()) return std::vector<net::address>{};
    auto locals = net::parse_local_addresses(chosen.local_addresses);
    if (!locals) return base::at("--local-address", locals.error());
    return locals;
}

// A search has no pace of its own: it begins with none, and each trial adds some.
void plan_search(client::load_plan& into, client_options& chosen) {
    chosen.open_loop = into.open_loop = true;
    if (cli::is_given(chosen.effective, "rate")) chosen.search.start = chosen.rate;
    chosen.search.time = std::exchange(chosen.run.duration, {});
    into.rate = load::rate_curve::constant({});
    into.tickets.put_off(search_flow::put_off);
}

void plan_pace(client::load_plan& into, client_options& chosen) {
    into.open_loop = chosen.open_loop;
    into.arrival = chosen.arrival;
    into.connect_rate = chosen.connect_rate;
    if (chosen.search.in_trials()) return plan_search(into, chosen);
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
    const bool needs_servers =
        chosen.search.in_trials() || (of.tickets.limited() && chosen.run.duration.count() == 0);
    if (!needs_servers) return {};
    return std::max<std::chrono::nanoseconds>(std::chrono::minutes(1), of.patience.longest());
}

}  // namespace

run_identity fresh_identity() {
    return {base::fresh_entropy() >> 11U, base::fresh_entropy()};
}

cli::option sessions_total_option(client_options& target, std::string_view each) {
    return {"--sessions-total", "N", "",
            fmt::format("sessions at once over all servers and ranks, in place of {}", each),
            cli::count(target.sessions_total, 1)};
}

cli::option start_at_option(client_options& target) {
    return {"--start-at", "TIME", "",
            "begin then: 2026-11-21T12:00:00Z, or 12:00 or 12:00:30 by this host's clock",
            cli::parsed(target.start_at, [](std::string_view text) {
                return parse_start(text, std::chrono::system_clock::now());
            })};
}

expected<void> check(const client_options& chosen) {
    auto sessions = check_sessions(chosen);
    if (!sessions) return sessions.error();
    auto tls = check(chosen.tls);
    if (!tls) return tls.error();
    auto origin = check(chosen.origin);
    if (!origin) return origin.error();
    if (chosen.resolve && !chosen.dry_run && !chosen.dry_run_message)
        return base::fail("--resolve: a run looks names up by itself; give it with --dry-run");
    auto samples = check(chosen.samples, chosen.run.thresholds);
    if (!samples) return samples.error();
    return cli::check(chosen.run);
}

expected<unsigned> own_sessions(const client_options& chosen, const load::run_share& share,
                                unsigned otherwise) {
    if (!chosen.sessions_total) return otherwise;
    const std::uint64_t all = *chosen.sessions_total;
    if (all < share.of) {
        return base::fail("--sessions-total: {} are too few for {} ranks; give at least {}", all,
                          share.of, share.of);
    }
    if (share.part_of(all) > most_sessions_of_rank) {
        return base::fail("--sessions-total: {} are more than {} a rank; give fewer", all,
                          most_sessions_of_rank);
    }
    return static_cast<unsigned>(share.part_of(all));
}

void plan_give_up(client::load_plan& into, const client_options& chosen) {
    into.give_up = chosen.give_up.value_or(default_give_up(into, chosen));
}

expected<void> prepare(client::load_plan& into, client_options& chosen, const run_identity& who) {
    into.seed = chosen.seed.value_or(who.seed);
    into.run = who.run;
    auto auth = client::auth_plan::make(chosen.auth);
    if (!auth) return auth.error();
    into.auth = std::move(*auth);
    into.auth.client_certificate = !chosen.tls.settings.certificate.empty();
    auto locals = find_local_addresses(chosen);
    if (!locals) return locals.error();
    into.local_addresses = std::move(*locals);
    auto tls = make_security(chosen.tls);
    if (!tls) return tls.error();
    into.tls = std::move(*tls);
    into.origin = origin_of(chosen.origin);
    into.workers = std::clamp(chosen.run.workers, 1U, into.sessions);
    into.transcripts = chosen.transcripts;
    plan_pace(into, chosen);
    plan_give_up(into, chosen);
    if (chosen.search.wanted && !chosen.samples.every)
        chosen.samples.every = sampling::choice::usual_in_search;
    if (chosen.samples.any() && who.share.rank == 0) {
        auto opened = sampling::sampler::open(chosen.samples);
        if (!opened) return opened.error();
        chosen.sampler = std::move(*opened);
    }
    return net::check_transcripts(chosen.transcripts);
}

expected<void> plan_start(client::load_plan& into, const client_options& chosen) {
    if (!chosen.start_at || into.share.rank != 0) return {};
    const auto over = std::chrono::system_clock::now() - *chosen.start_at;
    if (over.count() > 0) {
        return base::fail(
            "--start-at: {} was over by {} before the run was ready; give a later time",
            format_start(*chosen.start_at), base::format_latency(over));
    }
    into.start_at = on_steady_clock(*chosen.start_at);
    return {};
}

void describe(const client::load_plan& plan, const client_options& chosen,
              stats::run_description& into) {
    into.seed = plan.seed;
    into.workers = plan.workers;
    into.sampled = sampling::names_of(chosen.samples);
    if (chosen.start_at) into.started = *chosen.start_at;
    into.transcript = plan.transcripts.wanted();
    if (!chosen.give_up) into.options["give-up"] = base::format_duration(plan.give_up);
    if (plan.tls.context) into.tls_library = net::tls_library(chosen.tls.settings.backend);
    if (chosen.ledger.empty()) return;
    std::string run;
    mail::append_run(plan.run, run);
    into.options["run"] = run;
}

stats::run_description describe_share(stats::run_description whole, const load::run_share& share) {
    if (!whole.asked) return whole;
    whole.asked = [all = std::move(whole.asked), share](double seconds) {
        return share.part_of_curve(all(seconds));
    };
    return whole;
}

expected<std::vector<mail::user>> load_list(const std::string& path, std::string_view option) {
    auto users = mail::load_users(path);
    if (!users) return base::at(option, users.error());
    return users;
}

expected<void> check_lists(const std::vector<named_list>& lists) {
    std::string_view reader;
    for (const named_list& one : lists) {
        if (one.path != mail::standard_input) continue;
        if (!reader.empty())
            return base::fail("{}: {} reads standard input already; name a file", one.option,
                              reader);
        reader = one.option;
    }
    const auto here = cluster::launched_here();
    if (reader.empty() || !here || here->ranks < 2) return {};
    return base::fail("{}: the {} ranks of a run have no standard input together; name a file",
                      reader, here->ranks);
}

expected<std::vector<client::target>> find_servers(const std::string& text, std::string_view option,
                                                   std::uint16_t port,
                                                   const client_options& chosen) {
    auto servers = net::parse_endpoints(text, port);
    if (!servers) return base::at(option, servers.error());
    const auto locals = find_local_addresses(chosen);
    if (!locals) return locals.error();
    std::vector<client::target> result;
    for (net::endpoint& where : *servers) {
        if (leaves_names(chosen) && where.is_unix() &&
            ::access(where.unix_path.c_str(), F_OK) != 0) {
            result.push_back({std::move(where), {}, chosen.allowed});
            continue;
        }
        auto fit = net::check_destination(where);
        if (!fit) return base::at(option, fit.error());
        if (leaves_names(chosen) && !where.is_unix() && !net::parse_ip(where.host)) {
            result.push_back({std::move(where), {}, chosen.allowed});
            continue;
        }
        auto found = net::resolve(where);
        if (!found) return base::at(option, found.error());
        auto allowed = chosen.allowed.check(where, *found);
        if (!allowed) return base::at(option, allowed.error());
        auto reachable = check_families(where, *found, *locals);
        if (!reachable) return reachable.error();
        if (where.fresh_lookup) found->clear();
        result.push_back({std::move(where), std::move(*found), chosen.allowed});
    }
    auto named = check_names(chosen.tls, result);
    if (!named) return named.error();
    return result;
}

}  // namespace postal::program
