// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/server_options.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/units.hpp"
#include "cli/binders.hpp"
#include "net/endpoint.hpp"
#include "program/sample_options.hpp"
#include "sampling/sampler.hpp"
#include "serve/session.hpp"

namespace postal::program {

using base::expected;

namespace {

constexpr unsigned most_sessions = 1'000'000;
constexpr std::uint32_t most_recipients = 1'000'000;

}  // namespace

cli::option sessions_option(server_options& target) {
    return {"-t,--sessions", "N", "1000", "most sessions at once; more are answered 421",
            cli::count(target.sessions, 1, most_sessions)};
}

cli::option max_size_option(server_options& target, std::string usual) {
    const auto set = [&target](const std::string& given) -> expected<void> {
        auto size = base::parse_size(given, 1024);
        if (!size) return size.error();
        if (*size == 0)
            return base::fail("0 lets no message in; give a size such as 10240 (KiB) or 10M");
        target.max_message = *size;
        return {};
    };
    return {"-m,--max-size", "SIZE", std::move(usual),
            "largest message; a bare number is kilobytes", set};
}

cli::option max_recipients_option(server_options& target) {
    return {"--max-recipients", "N", "1000", "most recipients of a message",
            cli::count(target.max_recipients, 1, most_recipients)};
}

cli::option bare_newline_option(server_options& target) {
    using proto::bare_newlines;
    return {"--bare-newline", "reject|accept", "reject",
            "messages with a CR or LF alone: refuse with 550, or take as content",
            cli::choice(target.newlines,
                        {{"reject", bare_newlines::reject}, {"accept", bare_newlines::accept}})};
}

cli::group limits_group(server_options& o) {
    const unsigned usual = o.usual_sessions_per_address;
    return {
        "Limits on clients (0: none)",
        {
            {"--sessions-per-address", "N",
             usual == 0 ? "0" : fmt::format("{}, loopback not counted", usual),
             "most sessions at once from an address, or an IPv6 network of 64 bits",
             cli::count(o.sessions_per_address, 0)},
            {"--min-data-rate", "SIZE", "500",
             "least octets a second of content, beyond what silence may last",
             cli::size(o.min_data_rate)},
            {"--message-time", "DURATION", "1h",
             "longest time from MAIL to a message's end, and without a message",
             cli::duration(o.message_time, std::chrono::nanoseconds(0))},
            {"--max-errors", "N", "20",
             "most errors of a client, failed AUTH too, before a whole message",
             cli::count(o.max_errors, 0)},
            {"--max-idle-commands", "N", "100",
             "most NOOP, VRFY, EXPN, HELP, greetings and needless RSET before a whole message",
             cli::count(o.max_idle_commands, 0)},
            {"--max-held", "SIZE", "1G",
             "most octets of unfinished mail at once, in memory and files; more is answered 452",
             cli::size(o.max_held)},
        }};
}

expected<void> check(const server_options& chosen) {
    auto tls = check(chosen.tls);
    if (!tls) return tls.error();
    auto samples = check(chosen.samples, chosen.run.thresholds);
    if (!samples) return samples.error();
    return cli::check(chosen.run);
}

expected<void> prepare(serve::session_rules& into, const server_options& chosen) {
    into.timeout = chosen.client_timeout;
    into.proxies = chosen.proxies;
    into.sessions_per_address =
        chosen.sessions_per_address.value_or(chosen.usual_sessions_per_address);
    into.counts_loopback = chosen.sessions_per_address.has_value();
    into.min_data_rate = chosen.min_data_rate;
    into.message_time = chosen.message_time;
    if (chosen.max_held != 0) into.held = std::make_shared<serve::held_octets>(chosen.max_held);
    into.server.max_errors = chosen.max_errors;
    into.server.max_idle_commands = chosen.max_idle_commands;
    into.server.newlines = chosen.newlines;
    into.server.bare_users = proto::bare_local_part::allowed;
    into.server.max_message = chosen.max_message;
    into.server.max_recipients = chosen.max_recipients;
    into.server.offers_tls = chosen.tls.offered;
    into.server.requires_tls = chosen.tls.required;
    if (chosen.tls.wanted()) {
        auto made = net::make_tls_context(chosen.tls.settings);
        if (!made) return made.error();
        into.tls = std::move(*made);
    }
    return net::check_transcripts(chosen.transcripts);
}

expected<void> add_places(std::vector<serve::listening_endpoint>& into,
                          const server_options& chosen, std::uint16_t port, std::uint16_t tls_port,
                          std::optional<net::socket_rights> rights) {
    for (const bool tls : {false, true}) {
        for (const std::string& text : tls ? chosen.tls.listen : chosen.listen) {
            const std::string_view option = tls ? "--listen-tls" : "--listen";
            auto where = net::parse_endpoint(text, tls ? tls_port : port);
            if (!where) return base::at(option, where.error());
            // A name that is none is the user's mistake, as everywhere; that nobody may listen
            // there is the system's.
            const auto found = net::resolve(*where);
            if (!found) return base::at(option, found.error());
            into.push_back({.where = std::move(*where), .rights = rights, .tls = tls});
        }
    }
    return {};
}

void describe(const server_options& chosen, const serve::session_rules& rules,
              stats::run_description& into) {
    into.serves = true;
    into.limits = {"sessions",   "sessions-per-address", "min-data-rate",  "message-time",
                   "max-errors", "max-idle-commands",    "max-recipients", "max-size",
                   "max-held"};
    if (rules.held) {
        into.held = [held = rules.held] { return held->held(); };
        into.most_held = chosen.max_held;
    }
    into.session_states = serve::session_states();
    into.sampled = sampling::names_of(chosen.samples);
    into.transcript = chosen.transcripts.wanted();
    if (chosen.tls.wanted()) into.tls_library = net::tls_library(chosen.tls.settings.backend);
}

}  // namespace postal::program
