// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/options.hpp"

#include <fmt/format.h>

#include "base/error_names.hpp"
#include "base/text.hpp"
#include "cli/binders.hpp"
#include "cluster/launcher.hpp"
#include "program/auth_options.hpp"
#include "program/dry_run.hpp"
#include "program/run_ledger.hpp"
#include "program/sample_options.hpp"
#include "program/search_options.hpp"
#include "program/shared_options.hpp"
#include "program/tls_options.hpp"
#include "rabid/folder_names.hpp"
#include "rabid/phases.hpp"
#include "rabid/profile.hpp"

namespace postal::rabid {
namespace {

using base::expected;
using cli::setter;

constexpr unsigned most_sessions = 1'000'000;
constexpr auto due_phase = static_cast<std::size_t>(phase::session);
constexpr std::uint64_t most_rounds = 1'000'000;

// DOWNLOAD% or DOWNLOAD%:DELETE%, with or without the signs.
setter shares(options& o) {
    return [&o](const std::string& given) -> expected<void> {
        const std::size_t colon = given.find(':');
        auto downloads = cli::percent(o.download_percent)(given.substr(0, colon));
        if (!downloads || colon == std::string::npos) return downloads;
        return cli::percent(o.delete_percent)(given.substr(colon + 1));
    };
}

cli::group login_options(options& o) {
    cli::group rows{"Logging in", program::auth_option_rows(o.auth, "login")};
    rows.options.push_back({"--apop", "auto|off", "off",
                            "log in to POP3 with APOP where it is offered",
                            cli::choice(o.apop, {{"auto", true}, {"off", false}})});
    rows.options.push_back({"-u,--strip-domain", "", "", "log in with the part before the @",
                            cli::flag(o.strip_domain)});
    return rows;
}

cli::group session_options(options& o) {
    return {
        "Sessions",
        {
            {"-p,--sessions", "N", "1", "sessions at once",
             cli::count(o.sessions, 1, most_sessions)},
            program::sessions_total_option(o, "-p"),
            {"-i,--imap-percent", "PERCENT", "0", "share of IMAP connections; the others are POP3",
             cli::percent(o.imap_percent)},
            {"--imap", "ENDPOINT", "SERVER at port 143 or 993", "where IMAP connections go",
             cli::text(o.imap_servers)},
            {"-l,--local-address", "ADDRESS[,ADDRESS...]", "",
             "local addresses of connections, in turn", cli::text(o.local_addresses)},
            {"--shared-accounts", "", "", "let sessions use the same account at once",
             cli::flag(o.shared_accounts)},
            program::account_weights_option(o.weights),
            {"--compress", "auto|off", "off", "use COMPRESS=DEFLATE where an IMAP server offers it",
             cli::choice(o.compress, {{"auto", true}, {"off", false}})},
            {"--pipelining", "auto|off", "auto", "send POP3 commands without waiting",
             cli::choice(o.pipelining, {{"auto", true}, {"off", false}})},
            program::proxy_protocol_option(o.origin),
            program::client_addresses_option(o.origin),
            {"--timeout", "DURATION", "1m", "give up on a server that is silent for so long",
             cli::duration(o.timeout)},
        }};
}

cli::option profile_option(options& o) {
    cli::option row{"--profile", "NAME|FILE", o.profile, {}, cli::text(o.profile)};
    for (const named_text& one : built_in_profiles())
        row.known_values.emplace_back(one.name);
    row.help =
        fmt::format("what IMAP sessions do: {}, or a file", base::join(row.known_values, ", "));
    return row;
}

cli::group message_options(options& o) {
    return {
        "Messages",
        {
            {"-c,--messages-per-connection", "N", "-1",
             "most messages that a session reads; -1 reads all", cli::count(o.most_messages, -1)},
            {"-d,--download", "PERCENT[:PERCENT]", "100:100",
             "share of messages that are read, and of those that are then deleted", shares(o)},
            {"--max-message", "SIZE", "256M", "give up on a server that sends a larger message",
             cli::size(o.max_message)},
            profile_option(o),
            {"--populate", "WORDS|FILE", "",
             "fill the accounts' mailboxes over IMAP, such as messages=10000,folders=8,years=5, "
             "and end",
             cli::text(o.populate)},
            {"--watch", "INTERVAL", "",
             "stay, and read what comes in: IMAP sessions use IDLE, others look so often",
             cli::duration(o.watch)},
            {"--watch-by", "idle|notify|noop", "idle",
             "how IMAP sessions that watch hear of mail: in IDLE, by NOTIFY, or with NOOP every "
             "INTERVAL",
             cli::choice(o.watch_by, {{"idle", notified_by::idle},
                                      {"notify", notified_by::notify},
                                      {"noop", notified_by::noop}})},
            {"--watch-folders", "FOLDER[,FOLDER...]", "",
             "watch these folders in the same session, by NOTIFY; each has the mail of "
             "user+FOLDER@domain",
             cli::parsed(o.watch_folders, parse_watched_folders)},
            {"--delete-foreign", "", "", "delete mail that is not postal's, too",
             cli::flag(o.delete_foreign)},
            {"-b,--breakage", "qmail-pop", "",
             "an empty line that the server adds to each message is no error",
             cli::choice(o.qmail_pop, {{"qmail-pop", true}})},
            program::ledger_option(o.ledger),
            {"--store", "NAME", "the servers as given",
             "what the ledger calls the mailboxes that the servers show; the same name, one store",
             cli::text(o.store)},
        }};
}

cli::group pace_options(options& o) {
    return {"Pace",
            {
                {"-r,--rate", "RATE", "24000/min",
                 "connections; a bare number is per minute, as in 600/min or 10/s; with --stages "
                 "the rate at the start, 0 unless given",
                 cli::rate(o.rate, base::rate_unit::per_minute)},
                {"--connections", "N", "", "end after so many connections",
                 cli::count(o.connections, 1)},
                {"--rounds", "N", "", "end after so many visits to each account",
                 cli::count(o.rounds, 1, most_rounds)},
                program::give_up_option(o.give_up, "--connections or --rounds"),
                program::fail_fast_option(o.fail_fast),
                program::start_at_option(o),
                {"--open-loop", "", "",
                 "connections are due on a schedule that never waits for the server",
                 cli::flag(o.open_loop)},
                {"--arrival", "constant|poisson", "constant", "how connections are spread",
                 cli::choice(o.arrival, {{"constant", load::arrival::constant},
                                         {"poisson", load::arrival::poisson}})},
                {"--stages", "RATE@DURATION,...", "", "rates that are reached one after the other",
                 cli::parsed(o.stages, load::parse_stages)},
                program::target_is_mine_option(o.allowed),
                program::connect_rate_option(o.connect_rate),
                {"--seed", "N", "random", "make the same choices again", cli::count(o.seed, 0)},
            }};
}

// Of filling mailboxes: what says how they are read, or how much, means nothing.
expected<void> check_populate(options& o) {
    if (o.populate.empty()) return {};
    constexpr std::string_view others[] = {"messages-per-connection",
                                           "download",
                                           "profile",
                                           "watch",
                                           "watch-by",
                                           "watch-folders",
                                           "delete-foreign",
                                           "breakage",
                                           "shared-accounts",
                                           "account-weights",
                                           "apop",
                                           "pipelining",
                                           "connections",
                                           "rounds",
                                           "rate",
                                           "open-loop",
                                           "arrival",
                                           "stages",
                                           "find-rate",
                                           "warmup"};
    for (const std::string_view one : others)
        if (cli::is_given(o.effective, one))
            return base::fail(
                "--{}: means nothing beside --populate, which fills mailboxes once; "
                "leave one of the two out",
                one);
    if (cli::is_given(o.effective, "imap-percent") && o.imap_percent != 100)
        return base::fail("--imap-percent: --populate is IMAP alone; leave it out, or give 100");
    o.imap_percent = 100;
    o.delete_percent = 0;
    return {};
}

expected<void> check_folders(const options& o) {
    if (o.watch_folders.empty()) return {};
    if (o.watch.count() > 0 && o.watch_by == notified_by::notify) return {};
    return base::fail("--watch-folders: needs --watch INTERVAL and --watch-by notify");
}

expected<void> check_search(const options& o) {
    auto fits = program::check(o.search, o.effective,
                               {"stages", "connections", "rounds", "warmup", "threshold", "watch"});
    if (!fits || !o.search.in_trials()) return fits;
    const auto goals = program::goals_of(o.search, phase_names(), due_phase);
    if (!goals) return goals.error();
    return {};
}

}  // namespace

expected<cli::parse_result> parse_options(options& into, const std::vector<std::string>& words) {
    cli::program program;
    program.name = "rabid";
    program.tls = program::tls_libraries();
    program.mpi = cluster::mpi_version();
    program.explain = base::explain_error;
    program.summary = "Reads mail back over POP3 and IMAP and checks every message.";
    program.groups = {session_options(into),
                      login_options(into),
                      message_options(into),
                      pace_options(into),
                      program::search_group(into.search, phase_names()[due_phase], false),
                      program::client_tls_group(into.tls),
                      program::transcript_group(into.transcripts),
                      program::sample_group(into.samples),
                      {"Checks without a run",
                       {program::dry_run_option(into.dry_run),
                        program::resolve_option(into.resolve), program::explain_option()}},
                      cli::run_options_group(
                          into.run, program::known_threshold(
                                        phase_names(), static_cast<std::size_t>(phase::retrieve),
                                        {stats::counted_by::open_loops, stats::counted_by::readers,
                                         stats::counted_by::checkers}))};
    program.positionals = {
        {"SERVER[,SERVER...]", "host, host:port, [IPv6]:port, unix:/path; +host looks it up anew",
         cli::text(into.servers), true},
        {"USER-LIST", "file of addresses and passwords, one a line; - is standard input",
         cli::text(into.user_list), true}};
    program.usual = {"--sessions", "--imap",        "--imap-percent", "--download", "--tls",
                     "--dry-run",  "--connections", "--duration",     "--record",   "--live"};
    program.notes =
        "Deletes what it has read and found to be postal's; -d 100:0 deletes nothing.\n"
        "Runs until interrupted, unless --duration, --connections, --rounds, --stages or "
        "--populate ends it.\n"
        "Ends with 0 done, 1 bad parameters, 2 system error, 3 threshold missed, 4 nothing read.";
    program.check = [&into] {
        auto list = program::check_lists({{"USER-LIST", into.user_list}});
        if (list && into.connections && into.rounds)
            return base::expected<void>(base::fail(
                "--rounds: is another end than --connections; leave one of the two out"));
        if (list && into.rounds && !into.weights.alike())
            return base::expected<void>(
                base::fail("--rounds: visits each account alike; leave it or --account-weights "
                           "out"));
        if (!list) return list;
        if (auto fits = check_populate(into); !fits) return fits;
        if (auto fits = check_folders(into); !fits) return fits;
        const auto search = check_search(into);
        return search ? program::check(into) : search;
    };
    return cli::parse(program, words, into.effective);
}

}  // namespace postal::rabid
