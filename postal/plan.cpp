#include "postal/plan.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "mail/identity.hpp"
#include "net/transcript.hpp"
#include "os/host.hpp"
#include "os/limits.hpp"
#include "postal/phases.hpp"
#include "program/shared_options.hpp"

namespace postal {

namespace {

using base::expected;

constexpr std::uint16_t smtp_port = 25;
constexpr std::uint16_t submissions_port = 465;  // RFC 8314 3.3
constexpr std::uint16_t lmtp_port = 24;
// What a process opens besides its sessions: loops, timers, lists, logs.
constexpr std::uint64_t descriptors_beside_sessions = 64;

expected<std::vector<mail::user>> load_list(const std::string& path, const char* option) {
    auto users = mail::load_users(path);
    if (!users) return base::fail("{}: {}", option, users.error().message);
    return users;
}

bool any_needs_smtputf8(const std::vector<mail::user>& users) {
    return std::any_of(users.begin(), users.end(), [](const mail::user& one) {
        return std::any_of(one.address.begin(), one.address.end(),
                           [](char octet) { return static_cast<unsigned char>(octet) > 127; });
    });
}

expected<void> load_users(plan& into) {
    auto recipients = load_list(into.chosen.user_list, "USER-LIST");
    if (!recipients) return recipients.error();
    into.recipients = std::move(*recipients);
    into.senders = into.recipients;
    if (!into.chosen.sender_list.empty()) {
        auto senders = load_list(into.chosen.sender_list, "--sender-list");
        if (!senders) return senders.error();
        into.senders = std::move(*senders);
    }
    if (into.chosen.recipients.most > into.recipients.size()) {
        return base::fail("--recipients: {} are more than the {} users of {}; give at most that",
                          into.chosen.recipients.most, into.recipients.size(),
                          into.chosen.user_list);
    }
    into.needs_smtputf8 = any_needs_smtputf8(into.recipients) || any_needs_smtputf8(into.senders);
    return {};
}

expected<void> plan_auth(plan& into) {
    auto made = client::auth_plan::make(into.chosen.auth);
    if (!made) return made.error();
    into.auth = std::move(*made);
    into.auth.client_certificate = !into.chosen.tls.settings.certificate.empty();
    if (!into.chosen.auth_users.empty()) {
        auto users = load_list(into.chosen.auth_users, "--auth-users");
        if (!users) return users.error();
        into.auth_users = std::move(*users);
    }
    if (!into.auth.needs_passwords()) return {};
    const auto bare = std::find_if(into.accounts().begin(), into.accounts().end(),
                                   [](const mail::user& one) { return one.password.empty(); });
    if (bare == into.accounts().end()) return {};
    const options& chosen = into.chosen;
    return base::fail("--auth: {}:{}: no password; give one behind the address",
                      !chosen.auth_users.empty()    ? chosen.auth_users
                      : !chosen.sender_list.empty() ? chosen.sender_list
                                                    : chosen.user_list,
                      bare->line);
}

expected<void> find_servers(plan& into) {
    const std::uint16_t port = into.chosen.lmtp             ? lmtp_port
                               : into.chosen.tls.implicit() ? submissions_port
                                                            : smtp_port;
    auto servers = client::find_targets(into.chosen.servers, port);
    if (!servers) return base::fail("SERVER: {}", servers.error().message);
    into.targets = std::move(*servers);
    auto named = program::check_names(into.chosen.tls, into.targets);
    if (!named) return named.error();
    if (into.chosen.local_addresses.empty()) return {};
    auto locals = net::parse_local_addresses(into.chosen.local_addresses);
    if (!locals) return base::fail("--local-address: {}", locals.error().message);
    into.local_addresses = std::move(*locals);
    return {};
}

expected<mail::message_options> message_options_of(const plan& from) {
    mail::message_options result;
    result.seed = from.seed;
    result.run = from.run;
    result.host = from.helo;
    result.version = POSTAL_VERSION;
    result.bodies = from.chosen.bodies;
    result.digest = from.chosen.digest;
    result.subject = from.chosen.subject;
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
        into.needs_8bit_mime = into.chosen.bodies.has(mail::body_kind::eight_bit);
        return {};
    }
    auto mails = mail::load_corpus(into.chosen.corpus);
    if (!mails) return base::fail("--corpus: {}", mails.error().message);
    into.needs_8bit_mime =
        std::any_of(mails->begin(), mails->end(), [](const auto& one) { return one.needs_8bit; });
    auto made = mail::corpus_plan::create(*wanted, std::move(*mails));
    if (!made) return base::fail("--corpus: {}", made.error().message);
    into.corpus = std::move(*made);
    return {};
}

void plan_pace(plan& into) {
    options& chosen = into.chosen;
    if (!chosen.stages.empty()) {
        into.rate = load::rate_curve::ramp(chosen.rate.value_or(base::rate{}), chosen.stages);
        if (chosen.run.duration.count() == 0) chosen.run.duration = into.rate->length();
    } else if (chosen.rate) {
        into.rate = load::rate_curve::constant(*chosen.rate);
    }
}

expected<void> count_sessions(plan& into) {
    const std::uint64_t sessions =
        static_cast<std::uint64_t>(into.chosen.sessions) * into.targets.size();
    into.sessions = static_cast<unsigned>(sessions);
    into.workers = std::clamp(into.chosen.run.workers, 1U, into.sessions);
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

std::unique_ptr<mail::message_source> plan::make_source() const {
    if (corpus) return std::make_unique<mail::corpus_factory>(corpus);
    return std::make_unique<mail::message_factory>(generated);
}

expected<std::unique_ptr<plan>> make_plan(options given) {
    auto result = std::make_unique<plan>(std::move(given));
    result->seed = result->chosen.seed.value_or(base::fresh_entropy() >> 11U);
    result->run = base::fresh_entropy();
    result->helo = result->chosen.helo.empty() ? os::describe_host().name : result->chosen.helo;
    for (auto* step : {load_users, plan_auth, find_servers, prepare_messages, prepare_tls,
                       count_sessions, check_transcripts}) {
        auto done = step(*result);
        if (!done) return done.error();
    }
    plan_pace(*result);
    return result;
}

expected<void> claim_descriptors(const plan& plan) {
    const net::transcript_options& wanted = plan.chosen.transcripts;
    const bool transcripts = !wanted.session_base.empty() || !wanted.connection_base.empty();
    const std::uint64_t each = transcripts ? 3 : 1;
    return os::raise_descriptor_limit(plan.sessions * each + descriptors_beside_sessions);
}

stats::run_description describe(const plan& plan, int argc, char** argv) {
    const options& chosen = plan.chosen;
    const std::vector<cli::effective_option> no_rows;  // they are described below
    stats::run_description result =
        program::describe({"postal", chosen.run, no_rows, {argv, argv + argc}});
    result.seed = plan.seed;
    result.phases = phase_names();
    result.message_phase = static_cast<std::size_t>(phase::message);
    result.workers = plan.workers;
    result.transcript = chosen.transcripts.wanted();
    if (plan.tls.context) result.tls_library = net::tls_library(chosen.tls.settings.backend);
    result.options = {
        {"protocol", chosen.lmtp ? "lmtp" : "smtp"},
        {"server", chosen.servers},
        {"sessions", plan.sessions},
        {"messages-per-connection", chosen.messages_a_connection},
        {"users", plan.recipients.size()},
        {"recipients", {chosen.recipients.least, chosen.recipients.most}},
        {"size", plan.corpus ? "corpus" : plan.generated->options().sizes.text()},
        {"body", plan.corpus ? "corpus" : chosen.bodies.text()},
        {"digest", mail::name_of(chosen.digest)},
        {"pipelining", chosen.pipelining == offer::automatic ? "auto" : "off"},
        {"chunking", chosen.chunking == offer::automatic ? "auto" : "off"},
        {"in-flight", chosen.in_flight},
        {"loop", chosen.open_loop ? "open" : "closed"},
    };
    if (chosen.auth.wanted()) {
        result.options["auth"] = chosen.auth.way == client::auth_way::strongest
                                     ? "auto"
                                     : std::string(sasl::name_of(chosen.auth.named));
        result.options["accounts"] = plan.accounts().size();
    }
    if (plan.corpus) {
        result.options["corpus"] = chosen.corpus;
        result.options["corpus-messages"] = plan.corpus->mails().size();
    }
    if (!chosen.ledger.empty()) {
        std::string run;
        mail::append_run(plan.run, run);
        result.options["ledger"] = chosen.ledger;
        result.options["run"] = run;
    }
    if (plan.tls.context) program::describe_tls(chosen.tls, result.options);
    if (chosen.dsn.wanted) {
        result.options["dsn"] = {{"notify", chosen.dsn.notify}, {"ret", chosen.dsn.ret}};
    }
    if (!chosen.mail_parameters.given.empty()) {
        result.options["mail-parameters"] = chosen.mail_parameters.given;
    }
    if (!chosen.rcpt_parameters.given.empty()) {
        result.options["rcpt-parameters"] = chosen.rcpt_parameters.given;
    }
    if (chosen.rate) result.options["rate"] = base::format_rate(*chosen.rate);
    if (plan.rate) {
        result.options["arrival"] =
            chosen.arrival == load::arrival::poisson ? "poisson" : "constant";
    }
    if (chosen.messages) result.options["messages"] = *chosen.messages;
    return result;
}

}  // namespace postal
