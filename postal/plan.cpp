// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/plan.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "os/host.hpp"
#include "postal/phases.hpp"
#include "program/shared_options.hpp"

namespace postal::sender {

namespace {

using base::expected;

constexpr std::uint16_t smtp_port = 25;
constexpr std::uint16_t submissions_port = 465;  // RFC 8314 3.3
constexpr std::uint16_t lmtp_port = 24;

mail::user user_of(const std::string& address) {
    return {address, {}, {}, 0};
}

expected<void> load_recipients(plan& into) {
    for (const std::string& address : into.chosen.to)
        into.recipients.push_back(user_of(address));
    if (into.recipients.empty()) {
        auto recipients = program::load_list(into.chosen.user_list, "USER-LIST");
        if (!recipients) return recipients.error();
        into.recipients = std::move(*recipients);
    }
    if (into.chosen.recipients.most == 1) return {};
    // A message to both would be two copies in one mailbox, and the server's fault for a ledger.
    const auto [one, again] = mail::same_mailbox(into.recipients);
    if (again == nullptr) return {};
    const std::string address = base::printable(again->address, 80);
    if (!into.chosen.to.empty())
        return base::fail("--to: {} is the mailbox of {}; give each recipient once", address,
                          base::printable(one->address, 80));
    return base::fail("{}:{}: {} is the mailbox of line {}; give each recipient once",
                      mail::list_name(into.chosen.user_list), again->line, address, one->line);
}

expected<void> load_users(plan& into) {
    auto recipients = load_recipients(into);
    if (!recipients) return recipients;
    into.senders = into.recipients;
    if (!into.chosen.from.empty()) into.senders = {user_of(into.chosen.from)};
    if (!into.chosen.sender_list.empty()) {
        auto senders = program::load_list(into.chosen.sender_list, "--sender-list");
        if (!senders) return senders.error();
        into.senders = std::move(*senders);
    }
    if (into.chosen.recipients.most > into.recipients.size()) {
        return base::fail("--recipients: {} are more than the {} of {}; give at most that",
                          into.chosen.recipients.most,
                          base::format_amount(into.recipients.size(), "user"),
                          into.chosen.to.empty() ? mail::list_name(into.chosen.user_list) : "--to");
    }
    return {};
}

expected<void> load_accounts(plan& into) {
    if (!into.chosen.auth_users.empty()) {
        auto users = program::load_list(into.chosen.auth_users, "--auth-users");
        if (!users) return users.error();
        into.auth_users = std::move(*users);
    }
    const auto draw_of = [&](const std::vector<mail::user>& list) {
        return mail::account_draw(list.size(), into.chosen.weights);
    };
    into.draw_recipient = draw_of(into.recipients);
    into.draw_sender = draw_of(into.senders);
    into.draw_login = draw_of(into.accounts());
    if (!into.load.auth.needs_passwords()) return {};
    const auto bare = std::find_if(into.accounts().begin(), into.accounts().end(),
                                   [](const mail::user& one) { return one.password.empty(); });
    if (bare == into.accounts().end()) return {};
    const options& chosen = into.chosen;
    if (bare->line == 0)
        return base::fail("--auth: {} of {} has no password; give --auth-users",
                          base::printable(bare->address, 80),
                          chosen.from.empty() ? "--to" : "--from");
    return base::fail("--auth: {}:{}: no password; give one behind the address",
                      mail::list_name(!chosen.auth_users.empty()    ? chosen.auth_users
                                      : !chosen.sender_list.empty() ? chosen.sender_list
                                                                    : chosen.user_list),
                      bare->line);
}

// One that nobody asks for would be an option without an effect.
expected<void> check_port(const options& chosen) {
    if (!chosen.port) return {};
    const auto servers = net::parse_endpoints(chosen.servers, 0);
    if (!servers) return base::at("SERVER", servers.error());
    const bool is_asked =
        std::any_of(servers->begin(), servers->end(),
                    [](const net::endpoint& one) { return !one.is_unix() && one.port == 0; });
    if (is_asked) return {};
    return base::fail("--port: {} is not used, each server of \"{}\" has its own; leave one out",
                      *chosen.port, chosen.servers);
}

expected<void> find_servers(plan& into) {
    auto port_fits = check_port(into.chosen);
    if (!port_fits) return port_fits;
    const std::uint16_t usual = into.chosen.lmtp             ? lmtp_port
                                : into.chosen.tls.implicit() ? submissions_port
                                                             : smtp_port;
    const std::uint16_t port = into.chosen.port.value_or(usual);
    auto servers = program::find_servers(into.chosen.servers, "SERVER", port, into.chosen);
    if (!servers) return servers.error();
    into.targets = std::move(*servers);
    return {};
}

expected<void> count_sessions(plan& into) {
    const auto servers = static_cast<unsigned>(into.targets.size());
    const auto total = into.chosen.sessions_total;
    if (total && *total < servers) {
        return base::fail("--sessions-total: {} are too few for {} servers; give at least {}",
                          *total, servers, servers);
    }
    auto sessions =
        program::own_sessions(into.chosen, into.load.share, into.chosen.sessions * servers);
    if (!sessions) return sessions.error();
    into.load.sessions = *sessions;
    return {};
}

expected<void> prepare_load(plan& into) {
    into.load.patience = into.chosen.timeouts;
    return program::prepare(into.load, into.chosen, into.identity);
}

expected<void> plan_start(plan& into) {
    return program::plan_start(into.load, into.chosen);
}

expected<mail::message_options> message_options_of(const plan& from) {
    mail::message_options result;
    result.seed = from.load.seed;
    result.run = from.load.run;
    result.host = from.helo;
    result.version = base::release_version;
    result.bodies = from.chosen.bodies;
    result.digest = from.chosen.digest;
    result.subject = from.chosen.subject;
    result.subject_text = from.chosen.subject_text;
    result.fields = from.chosen.header_fields;
    if (from.chosen.sizes) {
        result.sizes = *from.chosen.sizes;
        return result;
    }
    auto sizes = mail::size_spec::uniform(from.chosen.smallest_octets, from.chosen.largest_octets);
    if (!sizes) return sizes.error();
    result.sizes = *sizes;
    return result;
}

expected<void> prepare_messages(plan& into) {
    if (!mail::is_available(into.chosen.digest)) {
        return base::fail("--digest: {} is not available on this host; give another",
                          mail::name_of(into.chosen.digest));
    }
    auto wanted = message_options_of(into);
    if (!wanted) return wanted.error();
    if (into.chosen.corpus.empty()) {
        auto made = mail::message_plan::create(std::move(*wanted));
        if (!made) return made.error();
        into.generated = std::move(*made);
        return {};
    }
    auto mails = mail::load_corpus(into.chosen.corpus);
    if (!mails) return base::fail("--corpus: {}", mails.error().message);
    auto made = mail::corpus_plan::create(*wanted, std::move(*mails));
    if (!made) return base::fail("--corpus: {}", made.error().message);
    into.corpus = std::move(*made);
    return {};
}

}  // namespace

std::unique_ptr<mail::message_source> plan::make_source() const {
    if (corpus) return std::make_unique<mail::corpus_factory>(corpus);
    return std::make_unique<mail::message_factory>(generated);
}

expected<std::unique_ptr<plan>> make_plan(options given, const program::run_identity& who) {
    auto result = std::make_unique<plan>(std::move(given), who);
    result->helo = result->chosen.helo.empty() ? os::describe_host().name : result->chosen.helo;
    for (auto* step : {load_users, find_servers, count_sessions, prepare_load, load_accounts,
                       prepare_messages, plan_start}) {
        auto done = step(*result);
        if (!done) return done.error();
    }
    return result;
}

client::spoken spoken_in(const plan& plan) noexcept {
    using client::dialect;
    const client::security& tls = plan.load.tls;
    const bool overlaps =
        plan.chosen.pipelining == pipelining::overlap || plan.chosen.in_flight > 1;
    return {plan.chosen.lmtp ? dialect::lmtp : dialect::smtp, tls.percent > 0, tls.mode, overlaps};
}

stats::run_description describe(const plan& plan, int argc, char** argv) {
    const options& chosen = plan.chosen;
    stats::run_description result =
        program::describe({"postal", chosen.run, chosen.effective, {argv, argv + argc}});
    program::describe(plan.load, chosen, result);
    result.greetings = [servers = plan.targets] { return client::greetings_of(servers); };
    result.session_states = client::session_states(client::stages_of::senders);
    result.phases = phase_names();
    result.message_phase = static_cast<std::size_t>(phase::message);
    result.service_phase = static_cast<std::size_t>(phase::service);
    if (chosen.open_loop) result.due_phase = result.message_phase;
    if (plan.load.rate && !chosen.search.in_trials()) {
        result.asked = [curve = *plan.load.rate, most = chosen.messages](double seconds) {
            const double due = curve.due_until(seconds);
            return most ? std::min(static_cast<double>(*most), due) : due;
        };
        if (chosen.lmtp) result.together = static_cast<unsigned>(chosen.recipients.most);
    }
    result.options["protocol"] = chosen.lmtp ? "lmtp" : "smtp";
    result.options["server"] = chosen.servers;
    result.options["users"] = plan.recipients.size();
    if (plan.corpus) {
        result.options["size"] = result.options["body"] = "corpus";
        result.options["corpus-messages"] = plan.corpus->mails().size();
    } else {
        result.options.try_emplace("size", plan.generated->options().sizes.text());
    }
    result.options["loop"] = chosen.open_loop ? "open" : "closed";
    if (chosen.auth.wanted()) result.options["accounts"] = plan.accounts().size();
    return result;
}

}  // namespace postal::sender
