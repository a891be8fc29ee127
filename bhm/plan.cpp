#include "bhm/plan.hpp"

#include <utility>

#include "base/random.hpp"
#include "bhm/phases.hpp"
#include "mail/identity.hpp"
#include "mail/user_list.hpp"
#include "net/transcript.hpp"
#include "program/shared_options.hpp"
#include "program/tls_options.hpp"

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
        into.places.push_back({std::move(*where)});
    }
    for (const std::string& text : chosen.listen) {
        auto where = net::parse_endpoint(text, chosen.port);
        if (!where) return base::fail("--listen: {}", where.error().message);
        into.places.push_back({std::move(*where)});
    }
    for (const std::string& text : chosen.tls.listen) {
        auto where = net::parse_endpoint(text, submissions_port);
        if (!where) return base::fail("--listen-tls: {}", where.error().message);
        into.places.push_back({.where = std::move(*where), .tls = true});
    }
    return {};
}

expected<void> prepare_tls(plan& into) {
    auto made = program::make_context(into.chosen.tls);
    if (!made) return made.error();
    into.rules.tls = std::move(*made);
    return {};
}

expected<void> load_files(plan& into) {
    if (!into.chosen.user_list.empty()) {
        auto users = mail::load_users(into.chosen.user_list);
        if (!users) return users.error();
        auto admitted = into.valid.admit(*users, into.chosen.user_list);
        if (!admitted) return admitted.error();
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
                          chosen.user_list);
    }
    into.rules.server.requires_auth = chosen.requires_auth;
    return {};
}

expected<void> configure_server(plan& into) {
    into.rules.timeout = into.chosen.timeout;
    into.rules.data_phase = static_cast<std::size_t>(phase::data);
    into.rules.message_phase = static_cast<std::size_t>(phase::message);
    into.rules.proxies = into.chosen.proxies;
    into.rules.tls_phase = static_cast<std::size_t>(phase::tls);
    into.rules.tls_resumed_phase = static_cast<std::size_t>(phase::tls_resumed);
    proto::server_config& server = into.rules.server;
    server.speaks = into.chosen.dialect;
    server.newlines = into.chosen.newlines;
    // Mail systems know local users by their bare names, and so did the original's user lists.
    server.bare_users = proto::bare_local_part::allowed;
    server.max_message = into.chosen.max_message;
    server.max_recipients = into.chosen.max_recipients;
    server.delivery_options = true;
    server.actions = into.chosen.actions;
    server.offers_tls = into.chosen.tls.offered;
    server.requires_tls = into.chosen.tls.required;
    return {};
}

// Found out now, not by the first client.
expected<void> check_transcripts(plan& into) {
    return net::check_transcripts(into.chosen.transcripts);
}

}  // namespace

expected<std::unique_ptr<plan>> make_plan(options given) {
    auto result = std::make_unique<plan>();
    result->chosen = std::move(given);
    result->run = base::fresh_entropy();
    for (auto* step : {find_places, load_files, announce_auth, configure_server, prepare_tls,
                       check_transcripts}) {
        auto done = step(*result);
        if (!done) return done.error();
    }
    return result;
}

stats::run_description describe(const plan& plan, int argc, char** argv) {
    const options& chosen = plan.chosen;
    stats::run_description result =
        program::describe({"bhm", chosen.run, chosen.effective, {argv, argv + argc}});
    result.phases = phase_names();
    result.message_phase = static_cast<std::size_t>(phase::message);
    result.transcript = chosen.transcripts.wanted();
    result.checks_integrity = chosen.verify;
    if (plan.rules.tls) result.tls_library = net::tls_library(chosen.tls.settings.backend);
    if (!chosen.ledger.empty()) {
        std::string run;
        mail::append_run(plan.run, run);
        result.options["run"] = run;
    }
    if (!chosen.auth.empty()) result.options["auth"] = sasl::to_text(chosen.auth);
    if (plan.valid.size() != 0) result.options["recipients"] = plan.valid.size();
    return result;
}

}  // namespace postal::bhm
