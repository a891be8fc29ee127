// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/plan.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/units.hpp"
#include "base/version.hpp"
#include "os/host.hpp"
#include "program/shared_options.hpp"
#include "rabid/command_kinds.hpp"
#include "rabid/phases.hpp"

namespace postal::rabid {
namespace {

using base::expected;

constexpr std::uint16_t pop3_port = 110;
constexpr std::uint16_t imap_port = 143;
constexpr std::uint16_t pop3s_port = 995;  // RFC 8314 3
constexpr std::uint16_t imaps_port = 993;
// With all of its header fields a message may be larger than it was to be.
constexpr std::uint64_t least_largest = std::uint64_t{16} << 10U;

std::string hex_of_run(std::uint64_t run) {
    std::string text;
    mail::append_run(run, text);
    return text;
}

// Without SASL a password is always needed.
bool needs_passwords(const plan& of) {
    return !of.load.auth.chosen.wanted() || of.load.auth.needs_passwords();
}

expected<void> prepare_load(plan& into) {
    // The same command makes the same mailboxes.
    if (!into.chosen.populate.empty() && !into.chosen.seed)
        into.chosen.seed = options::usual_population_seed;
    auto sessions = program::own_sessions(into.chosen, into.load.share, into.chosen.sessions);
    if (!sessions) return sessions.error();
    into.load.sessions = *sessions;
    into.load.patience = client::timeouts::all(into.chosen.timeout);
    // The default is that of the original; stages begin at rest unless a rate is given.
    if (!into.chosen.rate && into.chosen.stages.empty())
        into.chosen.rate = base::rate{24'000.0 / 60};
    auto done = program::prepare(into.load, into.chosen, into.identity);
    if (!done) return done;
    if (into.chosen.apop && into.chosen.auth.wanted()) {
        return base::fail("--apop: is not for --auth; leave one of the two out");
    }
    return {};
}

// Each account has one turn, and more where a visit breaks off.
expected<void> plan_population(plan& into, std::vector<account> ours) {
    auto recipe = read_population(into.chosen.populate, into.load.seed);
    if (!recipe) return base::fail("--populate: {}", recipe.error().message);
    const std::uint64_t largest = std::max(recipe->sizes.largest(), least_largest);
    if (largest > into.chosen.max_message)
        return base::fail(
            "--populate: size: messages of up to {} could not be read back with --max-message {}; "
            "give smaller ones, or a larger --max-message",
            base::format_size(largest), base::format_size(into.chosen.max_message));
    into.users = std::make_unique<accounts>(std::move(ours), sharing::exclusive, 1);
    auto made =
        population::make(std::move(*recipe), *into.users, into.load.share, into.accounts_of_all);
    if (!made) return base::fail("--populate: {}", made.error().message);
    into.populates = std::move(*made);
    into.load.tickets.limit(into.users->size());
    program::plan_give_up(into.load, into.chosen);
    return {};
}

expected<void> load_accounts(plan& into) {
    auto users = program::load_list(into.chosen.user_list, "USER-LIST");
    if (!users) return users.error();
    const auto bare = std::find_if(users->begin(), users->end(),
                                   [](const mail::user& one) { return one.password.empty(); });
    if (needs_passwords(into) && bare != users->end()) {
        return base::fail("USER-LIST: {}:{}: no password; give one behind the address",
                          mail::list_name(into.chosen.user_list), bare->line);
    }
    const sharing how = into.chosen.shared_accounts ? sharing::shared : sharing::exclusive;
    auto all = accounts_of(*users, into.chosen.strip_domain);
    const load::run_share& share = into.load.share;
    if (all.size() < share.of) {
        return base::fail("USER-LIST: {}: {} accounts are too few for {} ranks; give at least {}",
                          mail::list_name(into.chosen.user_list), all.size(), share.of, share.of);
    }
    into.accounts_of_all = all.size();
    auto ours = part_of(std::move(all), share);
    if (!into.chosen.populate.empty()) return plan_population(into, std::move(ours));
    if (!into.chosen.weights.alike()) {
        mail::account_draw weights(ours.size(), into.chosen.weights, {share.rank, share.of});
        into.users = std::make_unique<accounts>(std::move(ours), how, std::move(weights));
        return {};
    }
    into.users = std::make_unique<accounts>(std::move(ours), how, into.chosen.rounds);
    if (!into.chosen.rounds) return {};
    into.load.tickets.limit(*into.chosen.rounds * into.users->size());
    program::plan_give_up(into.load, into.chosen);
    return {};
}

expected<void> find_servers(plan& into) {
    const bool implicit = into.chosen.tls.implicit();
    auto pop3 = program::find_servers(into.chosen.servers, "SERVER",
                                      implicit ? pop3s_port : pop3_port, into.chosen);
    if (!pop3) return pop3.error();
    into.pop3 = std::move(*pop3);
    const bool own = !into.chosen.imap_servers.empty();
    auto imap = program::find_servers(own ? into.chosen.imap_servers : into.chosen.servers,
                                      "--imap", implicit ? imaps_port : imap_port, into.chosen);
    if (!imap) return imap.error();
    into.imap = std::move(*imap);
    return {};
}

expected<void> prepare_profile(plan& into) {
    auto loaded = load_profile(into.chosen.profile);
    if (!loaded) return base::fail("--profile: {}", loaded.error().message);
    into.behaviour = std::move(*loaded);
    mail::message_options wanted;
    wanted.seed = into.load.seed;
    wanted.run = into.load.run;
    wanted.host = os::describe_host().name;
    wanted.version = base::release_version;
    auto sizes = mail::size_spec::uniform(0, 10 * 1024);
    if (!sizes) return sizes.error();
    wanted.sizes = *sizes;
    auto made = mail::message_plan::create(std::move(wanted));
    if (!made) return made.error();
    into.appends = std::move(*made);
    return {};
}

expected<void> plan_start(plan& into) {
    return program::plan_start(into.load, into.chosen);
}

}  // namespace

std::uint64_t now_us() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

expected<std::unique_ptr<plan>> make_plan(options given, const program::run_identity& who) {
    auto result = std::make_unique<plan>(std::move(given), who);
    result->started_us = now_us();
    for (auto* step : {prepare_load, load_accounts, find_servers, prepare_profile, plan_start}) {
        auto done = step(*result);
        if (!done) return done.error();
    }
    return result;
}

client::spoken spoken_in(const plan& plan) noexcept {
    const client::security& tls = plan.load.tls;
    return {client::dialect::mailbox, tls.percent > 0, tls.mode};
}

std::optional<std::uint64_t> plan::most_connections() const {
    if (populates) return accounts_of_all;
    if (chosen.rounds) return *chosen.rounds * accounts_of_all;
    return chosen.connections;
}

std::vector<std::string> remarks_on(const plan& plan) {
    const options& chosen = plan.chosen;
    const bool watches = chosen.watch.count() > 0;
    struct {
        std::string_view option;
        bool means_nothing;
        std::string_view why;
    } const rows[]{
        {"profile", chosen.imap_percent == 0,
         "is what IMAP sessions do, and this run has none; give --imap-percent, too"},
        {"profile", watches && chosen.imap_percent > 0,
         "means nothing with --watch: sessions wait for mail, and read it"},
        {"watch-by", !watches || chosen.imap_percent == 0,
         "is how IMAP sessions with --watch hear of mail, and this run has none"},
        {"watch-folders", chosen.imap_percent == 0,
         "is for IMAP sessions, and this run has none; give --imap-percent, too"},
        {"imap", chosen.imap_percent == 0,
         "is where IMAP sessions go, and this run has none; give --imap-percent, too"},
        {"compress", chosen.imap_percent == 0,
         "is for IMAP sessions, and this run has none; give --imap-percent, too"},
        {"apop", chosen.imap_percent == 100, "is for POP3 sessions, and this run has none"},
        {"pipelining", chosen.imap_percent == 100, "is for POP3 sessions, and this run has none"},
        {"store", chosen.ledger.empty(), "is what a ledger calls them; give --ledger, too"},
    };
    std::vector<std::string> remarks;
    for (const auto& row : rows)
        if (row.means_nothing && cli::is_given(chosen.effective, row.option))
            remarks.push_back(fmt::format("--{}: {}", row.option, row.why));
    return remarks;
}

stats::run_description describe(const plan& plan, int argc, char** argv) {
    const options& chosen = plan.chosen;
    stats::run_description result =
        program::describe({"rabid", chosen.run, chosen.effective, {argv, argv + argc}});
    program::describe(plan.load, chosen, result);
    result.greetings = [servers = plan.all_servers()] { return client::greetings_of(servers); };
    result.session_states = client::session_states(client::stages_of::readers);
    result.phases = phase_names();
    result.message_phase = static_cast<std::size_t>(phase::retrieve);
    result.service_phase = static_cast<std::size_t>(phase::service);
    if (chosen.open_loop) result.due_phase = static_cast<std::size_t>(phase::session);
    // The default is no rate that anybody has asked for.
    if (plan.load.rate && !chosen.search.in_trials() &&
        (cli::is_given(chosen.effective, "rate") || cli::is_given(chosen.effective, "stages"))) {
        result.asked = [curve = *plan.load.rate, most = plan.most_connections()](double seconds) {
            const double due = curve.due_until(seconds);
            return most ? std::min(static_cast<double>(*most), due) : due;
        };
    }
    if (chosen.imap_percent > 0) result.commands = command_kinds();
    if (chosen.imap_percent > 0 && chosen.watch.count() == 0 && !plan.populates)
        result.profile = wanted_of(plan.behaviour, chosen.profile);
    result.checks_integrity = true;
    result.reads_mail = true;
    if (chosen.watch.count() > 0) {
        result.options["delivery-clock"] =
            "delivery times compare this host's clock with the sender's: right on one host, or as "
            "far as the clocks agree";
    }
    if (plan.populates) {
        result.options["population"] = hex_of_run(plan.populates->run());
        result.options["population-seed"] = plan.populates->recipe().plan.seed;
    }
    result.options["accounts"] = plan.accounts_of_all;
    result.options["server"] = chosen.servers;
    return result;
}

}  // namespace postal::rabid
