// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/options.hpp"

#include <utility>

#include "base/error_names.hpp"
#include "base/text.hpp"
#include "cli/binders.hpp"
#include "cluster/launcher.hpp"
#include "mail/given_fields.hpp"
#include "mail/user_list.hpp"
#include "postal/phases.hpp"
#include "postal/sample_file.hpp"
#include "program/auth_options.hpp"
#include "program/dry_run.hpp"
#include "program/run_ledger.hpp"
#include "program/sample_options.hpp"
#include "program/search_options.hpp"
#include "program/shared_options.hpp"
#include "program/tls_options.hpp"

namespace postal::sender {

namespace {

using base::expected;
using cli::setter;

constexpr unsigned most_sessions = 1'000'000;
constexpr unsigned most_in_flight = 256;
constexpr auto due_phase = static_cast<std::size_t>(phase::message);
constexpr unsigned most_recipients = 1000;

expected<recipient_range> parse_recipients(std::string_view text) {
    const auto dots = text.find("..");
    recipient_range range;
    auto least = cli::parse_count(std::string(text.substr(0, dots)), 1, most_recipients);
    if (!least) return least.error();
    range.least = range.most = static_cast<unsigned>(*least);
    if (dots == std::string_view::npos) return range;
    auto most = cli::parse_count(std::string(text.substr(dots + 2)), 1, most_recipients);
    if (!most) return most.error();
    if (*most < *least) return base::fail("{} goes down; give N..M with M above N", text);
    range.most = static_cast<unsigned>(*most);
    return range;
}

expected<std::optional<mail::size_spec>> parse_sizes(std::string_view text) {
    auto sizes = mail::size_spec::parse(text);
    if (!sizes) return sizes.error();
    return std::optional<mail::size_spec>(std::move(*sizes));
}

// One duration for every phase.
setter all_timeouts(client::timeouts& timeouts) {
    return [&timeouts](const std::string& given) -> expected<void> {
        std::chrono::nanoseconds all{};
        auto parsed = cli::duration(all)(given);
        if (!parsed) return parsed;
        timeouts = client::timeouts::all(all);
        return {};
    };
}

// As in a user list.
expected<std::string> parse_address(std::string_view text) {
    const auto fits = mail::check_address(text);
    if (!fits) return fits.error();
    return {boost::system::in_place_value, std::string(text)};
}

setter rate_option(std::optional<base::rate>& target) {
    return cli::rate(target, base::rate_unit::per_minute);
}

// The switch of the original: blanks in front of subjects, which Netscape's server took away.
setter breakage(mail::subject_blanks& target) {
    return cli::choice(target, {{"netscape", mail::subject_blanks::none},
                                {"nonetscape", mail::subject_blanks::leading}});
}

cli::group session_options(options& o) {
    return {"Sessions",
            {
                {"-t,--sessions", "N", "1", "sessions at once, for each server",
                 cli::count(o.sessions, 1, most_sessions)},
                program::sessions_total_option(o, "-t"),
                {"-c,--messages-per-connection", "N", "1",
                 "messages a connection: N > 1 is a random 1..N, -1 no end, 0 only connects",
                 cli::count(o.messages_a_connection, -1)},
                {"-L,--lmtp", "", "", "speak LMTP, which answers for each recipient",
                 cli::flag(o.lmtp)},
                {"-p,--port", "PORT", "",
                 "port of servers that name none (25; 24 with -L, 465 with --tls implicit)",
                 cli::count(o.port, 1)},
                {"-l,--local-address", "ADDRESS[,ADDRESS]", "",
                 "local addresses of connections, in turn", cli::text(o.local_addresses)},
                {"--recipients", "N|N..M", "1", "recipients a transaction",
                 cli::parsed(o.recipients, parse_recipients)},
                {"--to", "ADDRESS", "", "who mail goes to, in place of USER-LIST",
                 cli::appended(o.to, parse_address), true},
                {"--from", "ADDRESS", "", "who mail is from, in place of a list",
                 cli::parsed(o.from, parse_address)},
                {"-f,--sender-list", "FILE", "",
                 "who mail is from (those it goes to, if not given); - is standard input",
                 cli::text(o.sender_list)},
                program::account_weights_option(o.weights),
                {"--helo", "NAME", "", "name in EHLO and Message-ID (this host's, if not given)",
                 cli::text(o.helo)},
                {"--pipelining", "auto|overlap|off", "auto",
                 "PIPELINING when the server offers it; overlap: the next envelope behind the "
                 "final dot",
                 cli::choice(o.pipelining, {{"auto", pipelining::automatic},
                                            {"overlap", pipelining::overlap},
                                            {"off", pipelining::off}})},
                {"--chunking", "auto|off", "off", "BDAT when the server offers CHUNKING",
                 cli::choice(o.chunking, {{"auto", offer::automatic}, {"off", offer::off}})},
                {"--in-flight", "N", "1",
                 "transactions pipelined on one connection, with --chunking auto",
                 cli::count(o.in_flight, 1, most_in_flight)},
                program::target_is_mine_option(o.allowed),
                program::connect_rate_option(o.connect_rate),
                program::proxy_protocol_option(o.origin),
                {"--xclient", "", "", "say XCLIENT where a server offers it, as Postfix does",
                 cli::flag(o.origin.xclient)},
                program::client_addresses_option(o.origin),
            }};
}

cli::group envelope_options(options& o) {
    return {"Envelopes",
            {
                {"--dsn", "notify=EVENTS,ret=full|hdrs", "",
                 "ask for delivery status notifications: never, or some of success+failure+delay",
                 cli::parsed(o.dsn, parse_dsn)},
                {"--mail-parameter", "KEY[=VALUE]", "",
                 "add this ESMTP parameter to MAIL, whatever the server offers",
                 passed_parameter(o.mail_parameters), true},
                {"--rcpt-parameter", "KEY[=VALUE]", "", "the same for RCPT",
                 passed_parameter(o.rcpt_parameters), true},
            }};
}

cli::group auth_options(options& o) {
    cli::group rows{"Authentication", program::auth_option_rows(o.auth, "off")};
    rows.options.push_back({"--auth-users", "FILE", "",
                            "who logs in, with passwords (the senders, if not given); - is "
                            "standard input",
                            cli::text(o.auth_users)});
    return rows;
}

cli::group message_options(options& o) {
    return {"Messages",
            {
                {"-m,--max-size", "SIZE", "10", "largest message; a bare number is kilobytes",
                 cli::size(o.largest_octets, 1024)},
                {"-M,--min-size", "SIZE", "0", "smallest message; a bare number is kilobytes",
                 cli::size(o.smallest_octets, 1024)},
                {"--size", "SPEC", "",
                 "in place of -m and -M: fixed:5K, uniform:1K,10K, "
                 "lognormal:MEDIAN,SIGMA[,MAX] or histogram:FILE",
                 cli::parsed(o.sizes, parse_sizes)},
                {"--body", "KIND[=WEIGHT],...", "ascii",
                 "bodies: ascii, 8bit, dots, long-lines, crlf-edge, multipart, or a mix",
                 cli::parsed(o.bodies, mail::body_mix::parse)},
                {"--corpus", "PATH", "", "send real mail: a folder of .eml, a Maildir or an mbox",
                 cli::text(o.corpus)},
                {"--digest", "xxh3|md5|sha256", "xxh3", "checksum that readers verify",
                 cli::choice(o.digest, {{"xxh3", mail::digest_kind::xxh3},
                                        {"md5", mail::digest_kind::md5},
                                        {"sha256", mail::digest_kind::sha256}})},
                {"-b,--breakage", "[no]netscape", "netscape",
                 "no blanks, or extra blanks, at the start of subjects", breakage(o.subject)},
                {"--subject", "TEXT", "", "subject of every message, in place of random words",
                 cli::parsed(o.subject_text, mail::parse_subject)},
                {"--header", "NAME: VALUE", "", "add this field to the header of every message",
                 cli::appended(o.header_fields, mail::parse_header_field), true},
                program::ledger_option(o.ledger),
                samples_option(o.samples_file),
                {"--seed", "N", "", "the same seed gives the same mail (random, if not given)",
                 cli::count(o.seed, 0)},
            }};
}

cli::group pace_options(options& o) {
    return {"Pace and end",
            {
                {"-r,--rate", "RATE", "",
                 "messages over all sessions; a bare number is per minute (no limit, if not given)",
                 rate_option(o.rate)},
                {"--open-loop", "", "",
                 "messages are due on a schedule that never waits for the server; needs a rate",
                 cli::flag(o.open_loop)},
                {"--arrival", "constant|poisson", "constant", "how due times scatter",
                 cli::choice(o.arrival, {{"constant", load::arrival::constant},
                                         {"poisson", load::arrival::poisson}})},
                {"--stages", "RATE@TIME,...", "",
                 "ramp linearly from stage to stage; starts at --rate or 0, ends after the last",
                 cli::parsed(o.stages, load::parse_stages)},
                {"--messages", "N", "", "stop after N messages were started",
                 cli::count(o.messages, 1)},
                program::give_up_option(o.give_up, "--messages"),
                program::fail_fast_option(o.fail_fast),
                program::start_at_option(o),
            }};
}

cli::group preview_options(options& o) {
    return {"Checks without a run",
            {
                program::dry_run_option(o.dry_run),
                {"--dry-run-message", "", "", "print the first message, and connect to nothing",
                 cli::flag(o.dry_run_message)},
                program::resolve_option(o.resolve),
                program::explain_option(),
            }};
}

cli::group timeout_options(options& o) {
    const std::string value = "DURATION";
    return {
        "Timeouts",
        {
            {"--timeout", value, "60s", "all of the following", all_timeouts(o.timeouts)},
            {"--connect-timeout", value, "60s", "until connected",
             cli::duration(o.timeouts.connect)},
            {"--tls-timeout", value, "60s", "for a TLS handshake", cli::duration(o.timeouts.tls)},
            {"--greeting-timeout", value, "60s", "for the server's greeting",
             cli::duration(o.timeouts.greeting)},
            {"--command-timeout", value, "60s", "for the reply to a command",
             cli::duration(o.timeouts.command)},
            {"--data-timeout", value, "60s", "for the server to take a message",
             cli::duration(o.timeouts.data)},
            {"--final-timeout", value, "60s", "for the reply after a message",
             cli::duration(o.timeouts.final_reply)},
        }};
}

expected<void> check_users(const options& o) {
    if (o.to.empty() && o.user_list.empty())
        return base::fail("USER-LIST is missing; give a file of addresses, or --to ADDRESS");
    if (!o.to.empty() && !o.user_list.empty())
        return base::fail("--to: is in place of USER-LIST {}; leave one of the two out",
                          base::printable(o.user_list, 300));
    if (!o.from.empty() && !o.sender_list.empty())
        return base::fail("--from: is in place of --sender-list; leave one of the two out");
    return program::check_lists({{"USER-LIST", o.user_list},
                                 {"--sender-list", o.sender_list},
                                 {"--auth-users", o.auth_users}});
}

expected<void> check_given_fields(const options& o) {
    std::size_t octets = 0;
    for (const std::string& one : o.header_fields)
        octets += one.size() + 2;
    if (octets > mail::most_given_octets)
        return base::fail("--header: {} of fields; give at most {}", base::format_size(octets),
                          base::format_size(mail::most_given_octets));
    const bool eight_bit = o.bodies.has(mail::body_kind::eight_bit);
    const bool described = eight_bit || o.bodies.has(mail::body_kind::multipart);
    if ((described || !o.corpus.empty()) && mail::describes_body(o.header_fields))
        return base::fail("--header: {} what its body is; leave MIME-Version and Content-... out",
                          !o.corpus.empty() ? "mail of --corpus says"
                          : eight_bit       ? "--body 8bit says"
                                            : "--body multipart says");
    if (!o.subject_text.empty() && !o.corpus.empty())
        return base::fail("--subject: mail of --corpus has its own; leave one of the two out");
    return {};
}

// An option that something else makes void is no choice.
expected<void> check_sizes(const options& o) {
    if (!o.corpus.empty() && o.sizes)
        return base::fail("--size: a corpus has its own sizes; leave one of the two out");
    for (const std::string_view option : {"max-size", "min-size"}) {
        if (!cli::is_given(o.effective, option)) continue;
        if (o.sizes)
            return base::fail("--{}: --size is in place of it; leave one of the two out", option);
        if (!o.corpus.empty())
            return base::fail("--{}: a corpus has its own sizes; leave one of the two out", option);
    }
    return {};
}

// What only shows when all options are known.
expected<void> check(const options& o) {
    auto users = check_users(o);
    if (!users) return users;
    auto given = check_given_fields(o);
    if (!given) return given;
    if (o.smallest_octets > o.largest_octets && !o.sizes) {
        return base::fail("--min-size: {} is above --max-size {}; give a smaller one",
                          base::format_size(o.smallest_octets),
                          base::format_size(o.largest_octets));
    }
    if (o.open_loop && !o.rate && o.stages.empty() && !o.search.in_trials()) {
        return base::fail("--open-loop: needs a schedule; give --rate or --stages too");
    }
    if (o.open_loop && o.messages_a_connection == 0) {
        return base::fail(
            "--open-loop: it is messages that are due; give --messages-per-connection other than "
            "0");
    }
    if (o.arrival == load::arrival::poisson && !o.rate && o.stages.empty() &&
        !o.search.in_trials()) {
        return base::fail("--arrival: only a paced run has arrivals; give --rate or --stages too");
    }
    if (o.in_flight > 1 && o.chunking == offer::off) {
        return base::fail("--in-flight: needs --chunking auto");
    }
    if (o.in_flight > 1 && o.pipelining == pipelining::off) {
        return base::fail("--in-flight: needs --pipelining auto or overlap");
    }
    if (!o.auth_users.empty() && !o.auth.wanted()) {
        return base::fail("--auth-users: is of no use without --auth");
    }
    auto search =
        program::check(o.search, o.effective, {"stages", "messages", "warmup", "threshold"});
    if (!search) return search;
    if (o.search.in_trials()) {
        if (o.messages_a_connection == 0)
            return base::fail(
                "--find-rate: needs messages; give --messages-per-connection other than 0");
        const auto goals = program::goals_of(o.search, phase_names(), due_phase);
        if (!goals) return goals.error();
    }
    auto sizes = check_sizes(o);
    if (!sizes) return sizes;
    auto envelopes = check(o.dsn, o.mail_parameters, o.rcpt_parameters);
    if (!envelopes) return envelopes;
    return program::check(static_cast<const program::client_options&>(o));
}

}  // namespace

expected<cli::parse_result> parse_options(options& into, const std::vector<std::string>& words) {
    cli::program program;
    program.name = "postal";
    program.tls = program::tls_libraries();
    program.mpi = cluster::mpi_version();
    program.explain = base::explain_error;
    program.summary = "Delivers random, checkable mail over SMTP or LMTP and counts it.";
    program.groups = {session_options(into),
                      envelope_options(into),
                      auth_options(into),
                      message_options(into),
                      pace_options(into),
                      program::search_group(into.search, phase_names()[due_phase], true),
                      timeout_options(into),
                      program::client_tls_group(into.tls),
                      program::transcript_group(into.transcripts),
                      program::sample_group(into.samples),
                      preview_options(into),
                      cli::run_options_group(
                          into.run, program::known_threshold(
                                        phase_names(), static_cast<std::size_t>(phase::message),
                                        {stats::counted_by::open_loops}))};
    program.positionals = {
        {"SERVER[,SERVER...]", "host, host:port, [IPv6]:port, unix:/path; +host looks it up anew",
         cli::text(into.servers), true},
        {"USER-LIST", "file of addresses, one a line; - is standard input; or --to ADDRESS",
         cli::text(into.user_list), false}};
    program.usual = {"--sessions", "--messages-per-connection",
                     "--lmtp",     "--max-size",
                     "--tls",      "--rate",
                     "--duration", "--warmup",
                     "--record",   "--live",
                     "--dry-run"};
    program.notes =
        "Runs until interrupted, unless --duration, --messages or --stages ends it.\n"
        "Ends with 0 done, 1 bad parameters, 2 system error, 3 threshold missed, 4 nothing "
        "delivered.";
    program.check = [&into] { return check(into); };
    return cli::parse(program, words, into.effective);
}

}  // namespace postal::sender
