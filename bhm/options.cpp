// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/options.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "behaviour/behaviour_file.hpp"
#include "bhm/phases.hpp"
#include "cli/binders.hpp"
#include "program/origin_options.hpp"
#include "program/run_ledger.hpp"
#include "program/sample_options.hpp"
#include "program/shared_options.hpp"

namespace postal::bhm {
namespace {

using base::expected;
using cli::setter;

constexpr std::string_view delay_stages = "connect, banner, ehlo, auth, mail, rcpt, data or end";

bool may_be_delayed(proto::server_stage stage) {
    using enum proto::server_stage;
    return stage != rset && stage != other && stage != quit && stage != tls;
}

setter delay_option(serve::stage_delays& delays) {
    return [&delays](const std::string& given) -> expected<void> {
        const std::size_t equals = given.find('=');
        const auto stage = proto::server_stage_of(std::string_view(given).substr(0, equals));
        if (equals == std::string::npos || !stage || !may_be_delayed(*stage)) {
            return base::fail("\"{}\" is not STAGE=DURATION; give {}, as in mail=20ms", given,
                              delay_stages);
        }
        const auto delay = base::parse_duration(std::string_view(given).substr(equals + 1));
        if (!delay) return delay.error();
        delays[static_cast<std::size_t>(*stage)] = *delay;
        return {};
    };
}

setter port_option(options& o) {
    return [&o](const std::string& given) -> expected<void> {
        o.port_given = true;
        return cli::count(o.port, 0)(given);
    };
}

// Every name must be one that we know, so that none is left out in silence.
expected<sasl::mechanism_set> parse_auth(std::string_view text) {
    const sasl::mechanism_set known = sasl::mechanism_set::all();
    sasl::mechanism_set found;
    for (const std::string_view part : base::split(text, ',')) {
        for (const std::string_view name : base::fields(part)) {
            const auto one = sasl::mechanism_of(name);
            if (!one) {
                return base::fail("\"{}\" is not known here; give some of {}",
                                  base::printable(name, 40), sasl::to_text(known));
            }
            found.add(*one);
        }
    }
    if (found.empty())
        return base::fail("names no mechanism; give some of {}", sasl::to_text(known));
    return found;
}

cli::group auth_options(options& o) {
    return {"Authentication",
            {
                {"--auth", "MECHANISM[,MECHANISM]", "",
                 "offer AUTH with these; users and passwords are those of USER-LIST",
                 cli::parsed(o.auth, parse_auth)},
                {"--require-auth", "", "", "take mail only from clients that have authenticated",
                 cli::flag(o.requires_auth)},
                {"--auth-insecure", "", "",
                 "offer mechanisms that show passwords or tokens without TLS, too",
                 cli::flag(o.auth_insecure)},
            }};
}

expected<void> check_auth(const options& o) {
    if (o.auth.empty() && o.requires_auth) {
        return base::fail("--require-auth: nobody could; give --auth too");
    }
    if (o.auth.empty() && o.auth_insecure) {
        return base::fail("--auth-insecure: is of no use without --auth");
    }
    sasl::mechanism_set by_name = o.auth;
    by_name.remove(sasl::mechanism::anonymous);
    if (!by_name.empty() && o.user_list.empty()) {
        return base::fail("--auth: {}: who that is stands in a USER-LIST; give one",
                          sasl::to_text(by_name));
    }
    if (o.auth.has(sasl::mechanism::external) && o.tls.settings.authorities.empty()) {
        return base::fail("--auth: EXTERNAL asks clients' certificates; give --tls-client-ca too");
    }
    return {};
}

cli::group listen_options(options& o) {
    return {
        "Listening",
        {
            {"-b,--bind", "ADDRESS", "all addresses", "address to listen on",
             cli::text(o.bind_address)},
            {"-p,--port", "PORT", "25", "port to listen on; 0 lets the kernel choose",
             port_option(o)},
            {"--listen", "ENDPOINT", "",
             "listen here too: host:port, [IPv6]:port or unix:/path; without -b and -p, only here",
             cli::texts(o.listen), true},
            program::sessions_option(o),
            program::proxy_trusted_option(o.proxies),
            {"--timeout", "DURATION", "5m", "end a session that is silent for so long",
             cli::duration(o.client_timeout)},
            {"-r,--reverse-dns", "FILE", "",
             "in the format of /etc/hosts: names for the banner, by local address",
             cli::text(o.host_names)},
        }};
}

cli::group mail_options(options& o) {
    return {"Mail",
            {
                {"--lmtp", "", "", "speak LMTP, with an answer for each recipient",
                 [&o](const std::string& given) -> expected<void> {
                     bool lmtp = false;
                     auto stored = cli::flag(lmtp)(given);
                     if (stored && lmtp) o.dialect = proto::dialect::lmtp;
                     return stored;
                 }},
                program::max_size_option(o, "10240"),
                program::max_recipients_option(o),
                program::bare_newline_option(o),
                {"--verify", "on|off", "on", "check the digests of postal's messages",
                 cli::choice(o.verify, {{"on", true}, {"off", false}})},
                program::ledger_option(o.ledger),
                {"--delay", "STAGE=DURATION", "",
                 "hold back the reply at connect, banner, ehlo, auth, mail, rcpt, data or end",
                 delay_option(o.delays), true},
            }};
}

// "10K..1M" octets a second, "20K" for all alike.
setter speed_option(options& o) {
    return [&o](const std::string& given) -> expected<void> {
        const auto range = behaviour::parse_number_range(given);
        if (!range) return range.error();
        if (range->least == 0) return base::fail("\"{}\": nothing would ever be read", given);
        if (range->step != 1) return base::fail("\"{}\" is no rate; give 20K or 10K..1M", given);
        o.speed = *range;
        return {};
    };
}

cli::group behaviour_options(options& o, std::string& explained) {
    return {"Behaviour",
            {
                {"--behaviour", "FILE", "",
                 "do to clients what the rules of this file say (see BEHAVIOUR FILE in the manual)",
                 cli::text(o.behaviour_file)},
                {"--speed", "RATE[..RATE]", "",
                 "read so many octets a second, drawn for each session: 10K..1M", speed_option(o)},
                {"--seed", "N", "",
                 "the same seed, and the same mail, meet the same behaviour (random, if not given)",
                 cli::count(o.seed, 0)},
                {"--check-behaviour", "FILE", "",
                 "say what the rules of this file do to --envelope at each stage, and end",
                 cli::text(explained)},
                {"--envelope", "TEXT", "",
                 "client=192.0.2.1 helo=NAME from=ADDRESS to=ADDRESS size=10K tls=yes session=1 "
                 "message=1 time=10s listener=ENDPOINT, or some of them",
                 cli::text(o.envelope)},
            }};
}

// The file to explain is the only one that is read then.
expected<void> check_behaviour_options(options& o, const std::string& explained) {
    o.check_behaviour = !explained.empty();
    if (o.check_behaviour) {
        if (!o.behaviour_file.empty())
            return base::fail("--check-behaviour: names its file itself; leave --behaviour away");
        o.behaviour_file = explained;
    }
    if (!o.envelope.empty() && !o.check_behaviour)
        return base::fail("--envelope: means nothing without --check-behaviour");
    if (o.seed && o.behaviour_file.empty() && !o.speed)
        return base::fail("--seed: nothing is drawn without --behaviour or --speed");
    return {};
}

}  // namespace

expected<cli::parse_result> parse_options(options& into, const std::vector<std::string>& words) {
    std::string explained;
    cli::program program;
    program.name = "bhm";
    program.tls = program::tls_libraries();
    program.summary = "Takes mail over SMTP or LMTP, checks and counts it, and throws it away.";
    program.groups = {listen_options(into),
                      auth_options(into),
                      mail_options(into),
                      program::limits_group(into),
                      behaviour_options(into, explained),
                      delivery_group(into.delivery),
                      program::server_tls_group(into.tls),
                      program::transcript_group(into.transcripts),
                      program::sample_group(into.samples),
                      cli::run_options_group(
                          into.run, program::known_threshold(
                                        phase_names(), static_cast<std::size_t>(phase::message),
                                        {stats::counted_by::servers, stats::counted_by::deferrers,
                                         stats::counted_by::checkers, stats::counted_by::sinks}))};
    program.positionals = {{"USER-LIST",
                            "file of valid recipients, one a line (without it all are valid); - is "
                            "standard input",
                            cli::text(into.user_list), false}};
    program.usual = {"--port",  "--listen",    "--lmtp",     "--max-size", "--delay",
                     "--speed", "--behaviour", "--duration", "--record",   "--live"};
    program.notes = program::server_notes;
    auto parsed = cli::parse(program, words, into.effective);
    if (!parsed || *parsed == cli::parse_result::done) return parsed;
    if (!into.ledger.empty() && !into.verify) {
        return base::fail("--ledger: knows messages by what --verify reads; leave --verify on");
    }
    auto behaviour = check_behaviour_options(into, explained);
    if (!behaviour) return behaviour.error();
    auto auth = check_auth(into);
    if (!auth) return auth.error();
    auto delivery = check(into.delivery, into.user_list);
    if (!delivery) return delivery.error();
    auto checked = program::check(static_cast<const program::server_options&>(into));
    if (!checked) return checked.error();
    return parsed;
}

}  // namespace postal::bhm
