#include "rabid/plan.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/random.hpp"
#include "mail/user_list.hpp"
#include "net/transcript.hpp"
#include "os/host.hpp"
#include "os/limits.hpp"
#include "program/shared_options.hpp"
#include "rabid/phases.hpp"

namespace postal::rabid {
namespace {

using base::expected;

constexpr std::uint16_t pop3_port = 110;
constexpr std::uint16_t imap_port = 143;
constexpr std::uint16_t pop3s_port = 995;  // RFC 8314 3
constexpr std::uint16_t imaps_port = 993;
constexpr std::uint64_t descriptors_beside_sessions = 64;

// Without SASL a password is always needed.
bool needs_passwords(const plan& of) {
    return !of.auth.chosen.wanted() || of.auth.needs_passwords();
}

expected<void> plan_auth(plan& into) {
    auto made = client::auth_plan::make(into.chosen.auth);
    if (!made) return made.error();
    into.auth = std::move(*made);
    into.auth.client_certificate = !into.chosen.tls.settings.certificate.empty();
    if (into.chosen.apop && into.chosen.auth.wanted()) {
        return base::fail("--apop: is not for --auth; leave one of the two out");
    }
    return {};
}

expected<void> load_accounts(plan& into) {
    auto users = mail::load_users(into.chosen.user_list);
    if (!users) return base::fail("USER-LIST: {}", users.error().message);
    const auto bare = std::find_if(users->begin(), users->end(),
                                   [](const mail::user& one) { return one.password.empty(); });
    if (needs_passwords(into) && bare != users->end()) {
        return base::fail("USER-LIST: {}:{}: no password; give one behind the address",
                          into.chosen.user_list, bare->line);
    }
    const sharing how = into.chosen.shared_accounts ? sharing::shared : sharing::exclusive;
    into.users = std::make_unique<accounts>(accounts_of(*users, into.chosen.strip_domain), how);
    return {};
}

expected<void> find_servers(plan& into) {
    const bool implicit = into.chosen.tls.implicit();
    auto pop3 = client::find_targets(into.chosen.servers, implicit ? pop3s_port : pop3_port);
    if (!pop3) return base::fail("SERVER: {}", pop3.error().message);
    into.pop3 = std::move(*pop3);
    const bool own = !into.chosen.imap_servers.empty();
    auto imap = client::find_targets(own ? into.chosen.imap_servers : into.chosen.servers,
                                     implicit ? imaps_port : imap_port);
    if (!imap) return base::fail("--imap: {}", imap.error().message);
    into.imap = std::move(*imap);
    for (const auto* servers : {&into.pop3, &into.imap}) {
        auto named = program::check_names(into.chosen.tls, *servers);
        if (!named) return named.error();
    }
    if (into.chosen.local_addresses.empty()) return {};
    auto locals = net::parse_local_addresses(into.chosen.local_addresses);
    if (!locals) return base::fail("--local-address: {}", locals.error().message);
    into.local_addresses = std::move(*locals);
    return {};
}

expected<void> prepare_profile(plan& into) {
    auto loaded = load_profile(into.chosen.profile);
    if (!loaded) return base::fail("--profile: {}", loaded.error().message);
    into.behaviour = std::move(*loaded);
    mail::message_options wanted;
    wanted.seed = into.seed;
    wanted.run = into.run;
    wanted.host = os::describe_host().name;
    wanted.version = POSTAL_VERSION;
    auto sizes = mail::size_spec::uniform(0, 10 * 1024);
    if (!sizes) return sizes.error();
    wanted.sizes = *sizes;
    auto made = mail::message_plan::create(std::move(wanted));
    if (!made) return made.error();
    into.appends = std::move(*made);
    return {};
}

expected<void> plan_pace(plan& into) {
    options& chosen = into.chosen;
    if (!chosen.stages.empty()) {
        into.rate = load::rate_curve::ramp(base::rate{}, chosen.stages);
        if (chosen.run.duration.count() == 0) chosen.run.duration = into.rate->length();
    } else if (chosen.rate) {
        into.rate = load::rate_curve::constant(*chosen.rate);
    }
    into.sessions = chosen.sessions;
    into.workers = std::clamp(chosen.run.workers, 1U, into.sessions);
    return {};
}

expected<void> prepare_tls(plan& into) {
    auto made = program::make_security(into.chosen.tls);
    if (!made) return made.error();
    into.tls = std::move(*made);
    into.origin = program::origin_of(into.chosen.origin);
    return {};
}

expected<void> check_transcripts(plan& into) {
    return net::check_transcripts(into.chosen.transcripts);
}

}  // namespace

expected<std::unique_ptr<plan>> make_plan(options given) {
    auto result = std::make_unique<plan>(std::move(given));
    result->seed = result->chosen.seed.value_or(base::fresh_entropy() >> 11U);
    result->run = base::fresh_entropy();
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    result->started_us = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now).count());
    for (auto* step : {plan_auth, load_accounts, find_servers, prepare_profile, prepare_tls,
                       plan_pace, check_transcripts}) {
        auto done = step(*result);
        if (!done) return done.error();
    }
    return result;
}

expected<void> claim_descriptors(const plan& plan) {
    const net::transcript_options& wanted = plan.chosen.transcripts;
    const bool transcripts = !wanted.session_base.empty() || !wanted.connection_base.empty();
    return os::raise_descriptor_limit(plan.sessions * (transcripts ? 3U : 1U) +
                                      descriptors_beside_sessions);
}

ledger::run_entry ledger_entry(const plan& plan, int argc, char** argv) {
    return {.run = plan.run,
            .program = "rabid",
            .started = std::chrono::system_clock::now(),
            .seed = plan.seed,
            .argv = {argv, argv + argc}};
}

stats::run_description describe(const plan& plan, int argc, char** argv) {
    const options& chosen = plan.chosen;
    stats::run_description result =
        program::describe({"rabid", chosen.run, chosen.effective, {argv, argv + argc}});
    result.seed = plan.seed;
    result.phases = phase_names();
    result.message_phase = static_cast<std::size_t>(phase::retrieve);
    result.workers = plan.workers;
    result.transcript = chosen.transcripts.wanted();
    if (plan.tls.context) result.tls_library = net::tls_library(chosen.tls.settings.backend);
    result.checks_integrity = true;
    result.reads_mail = true;
    if (chosen.watch.count() > 0) {
        result.options["delivery-clock"] =
            "delivery times compare this host's clock with the sender's: right on one host, or as "
            "far as the clocks agree";
    }
    result.options["accounts"] = plan.users->size();
    return result;
}

}  // namespace postal::rabid
