// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/options.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/units.hpp"
#include "cli/binders.hpp"
#include "lmtp-deliver/agent_templates.hpp"
#include "lmtp-deliver/phases.hpp"
#include "os/host.hpp"
#include "program/origin_options.hpp"
#include "program/sample_options.hpp"
#include "program/shared_options.hpp"

namespace postal::lmtp_deliver {
namespace {

using base::expected;
using cli::setter;

constexpr unsigned least_default_deliveries = 12;
constexpr unsigned most_deliveries = 100'000;
constexpr std::uint32_t most_queued = 10'000'000;
constexpr auto patience_of_clients = std::chrono::seconds(580);
constexpr auto least_default_wait = std::chrono::seconds(30);

setter any_text(std::string& target) {
    return [&target](const std::string& given) -> expected<void> {
        target = given;
        return {};
    };
}

setter octal_mode(std::optional<mode_t>& target) {
    return [&target](const std::string& given) -> expected<void> {
        const bool octal = !given.empty() && given.size() <= 4 &&
                           given.find_first_not_of("01234567") == std::string::npos;
        const unsigned long mode = octal ? std::strtoul(given.c_str(), nullptr, 8) : 01000;
        if (mode > 0777) {
            return base::fail("\"{}\" is no file mode; give one in octal, such as 0660", given);
        }
        target = static_cast<mode_t>(mode);
        return {};
    };
}

setter environment_setting(std::vector<std::string>& target) {
    return [&target](const std::string& given) -> expected<void> {
        const std::size_t equals = given.find('=');
        if (equals == std::string::npos || equals == 0) {
            return base::fail("\"{}\" is not NAME=VALUE", given);
        }
        target.push_back(given);
        return {};
    };
}

setter header_name(added_headers& target) {
    return [&target](const std::string& given) -> expected<void> {
        if (given == "return-path") {
            target.return_path = true;
        } else if (given == "delivered-to") {
            target.delivered_to = true;
        } else if (given == "received") {
            target.received = true;
        } else {
            return cli::not_a_choice(given, {"return-path", "delivered-to", "received"});
        }
        return {};
    };
}

cli::group listen_options(options& o) {
    return {
        "Listening",
        {
            {"--listen", "ENDPOINT", "127.0.0.1:2003", "host:port, [IPv6]:port or unix:/path",
             cli::texts(o.listen), true},
            {"--socket-mode", "MODE", "",
             "who may connect to Unix sockets, in octal (0666; 0660 with --socket-owner)",
             octal_mode(o.socket_mode)},
            {"--socket-owner", "USER[:GROUP]", "", "who owns Unix sockets",
             cli::text(o.socket_owner)},
            program::proxy_trusted_option(o.proxies),
            program::sessions_option(o),
            {"--client-timeout", "DURATION", "5m",
             "end a session whose client is silent for so long", cli::duration(o.client_timeout)},
        }};
}

cli::option agent_option(options& o) {
    cli::option row{"--agent", "TEMPLATE|NAME", "",
                    "the agent's command, with placeholders such as %to%, or a named template",
                    cli::text(o.agent)};
    if (const auto named = built_in_agents())
        for (const agent& one : *named)
            row.known_values.push_back(one.name);
    return row;
}

cli::group agent_options(options& o) {
    return {
        "Agent",
        {
            agent_option(o),
            {"--agents", "FILE", "built in", "named templates, in place of the built-in ones",
             cli::text(o.agents)},
            {"--max-deliveries", "N", fmt::format("{}", o.max_deliveries), "most agents at once",
             cli::count(o.max_deliveries, 1, most_deliveries)},
            {"--max-queued", "N", fmt::format("{}", o.max_queued),
             "most deliveries that wait for an agent; more are answered 451",
             cli::count(o.max_queued, 0, most_queued)},
            {"--max-per-recipient", "N", "half of --max-deliveries",
             "most agents at once for one recipient", cli::count(o.max_per_recipient, 1)},
            {"--queue-timeout", "DURATION", "580s less --timeout",
             "defer a delivery that waits for an agent for longer", cli::duration(o.queue_timeout)},
            {"--timeout", "DURATION", base::format_duration(o.timeout),
             "end an agent that runs for longer", cli::duration(o.timeout)},
            {"--user", "NAME", "", "run agents as this user", cli::text(o.user)},
            {"--allow-root-agent", "", "", "let root run agents as root",
             cli::flag(o.allow_root_agent)},
            {"--directory", "PATH", o.directory, "the agents' working directory",
             cli::text(o.directory)},
            {"--env", "NAME=VALUE", "", "add to the agents' environment",
             environment_setting(o.environment), true},
            {"--env-file", "FILE", "",
             "the same from the lines of a file that nobody else may read",
             cli::text(o.environment_file)},
            {"--limit", "LIMITS", "core=0,file-size=64G",
             "an agent's limits, as in cpu=30s,memory=512M,files=64,processes=100,file-size=2G",
             cli::text(o.limits)},
            {"--exit-statuses", "FILE", "built in",
             "replies for exit statuses, in place of the built-in ones",
             cli::text(o.exit_statuses)},
        }};
}

cli::group message_options(options& o) {
    return {"Message",
            {
                program::max_size_option(o, "50M"),
                program::max_recipients_option(o),
                program::bare_newline_option(o),
                {"--line-ends", "crlf|lf", "lf", "how lines end for the agent",
                 cli::choice(o.line_ends,
                             {{"crlf", mail::line_ends::crlf}, {"lf", mail::line_ends::lf}})},
                {"--memory-limit", "SIZE", "1M", "keep longer messages in files",
                 cli::size(o.memory_limit)},
                {"--temporary", "DIRECTORY", o.temporary, "where those files are made",
                 cli::text(o.temporary)},
                {"--min-free", "SIZE", "100M",
                 "least free space where files are made; below it mail is answered 452",
                 cli::size(o.least_free)},
                {"--add-header", "return-path|delivered-to|received", "",
                 "put a header in front of the message", header_name(o.headers), true},
            }};
}

cli::group address_options(options& o) {
    return {
        "Addresses",
        {
            {"--detail-delimiter", "CHARACTERS", o.detail_delimiter,
             "what separates %to_user% from %to_detail%", any_text(o.detail_delimiter)},
            {"--null-sender", "TEXT", "", "what %from% is for the null reverse-path",
             any_text(o.null_sender)},
            {"--allow-leading-dash", "", "", "accept addresses that make an argument begin with -",
             cli::flag(o.allow_leading_dash)},
            {"--allow-slash", "", "", "accept local parts with / or ..", cli::flag(o.allow_slash)},
        }};
}

cli::group check_options(options& o) {
    return {"Check and log",
            {
                {"--check", "", "", "print the agent's arguments for --from and --to, and end",
                 cli::flag(o.check.wanted)},
                {"--from", "ADDRESS", "", "the sender, for --check; empty is the null sender",
                 any_text(o.check.from)},
                {"--to", "ADDRESS", "", "the recipient, for --check", cli::text(o.check.to)},
                {"--log", "stderr|syslog", "stderr", "where diagnostics go",
                 cli::choice(o.log, {{"stderr", log_target::standard_error},
                                     {"syslog", log_target::syslog}})},
            }};
}

// A folder that is not in memory, as /tmp often is.
std::string default_temporary() {
    const char* given = std::getenv("TMPDIR");
    return given != nullptr && *given != '\0' ? given : "/var/tmp";
}

}  // namespace

std::chrono::nanoseconds options::longest_wait() const noexcept {
    if (queue_timeout.count() != 0) return queue_timeout;
    return std::max<std::chrono::nanoseconds>(patience_of_clients - timeout, least_default_wait);
}

expected<cli::parse_result> parse_options(options& into, const std::vector<std::string>& words) {
    into.max_deliveries = std::max(least_default_deliveries, 2 * os::usable_cpus());
    into.temporary = default_temporary();
    cli::program program;
    program.name = "lmtp-deliver";
    program.tls = program::tls_libraries();
    program.summary = "An LMTP server that runs a local delivery agent for every recipient.";
    program.groups = {listen_options(into),
                      agent_options(into),
                      message_options(into),
                      program::limits_group(into),
                      address_options(into),
                      check_options(into),
                      program::server_tls_group(into.tls),
                      program::transcript_group(into.transcripts),
                      program::sample_group(into.samples),
                      cli::run_options_group(
                          into.run, program::known_threshold(
                                        phase_names(), static_cast<std::size_t>(phase::message),
                                        {stats::counted_by::servers}))};
    program.usual = {"--listen", "--agent", "--user", "--check", "--to", "--duration", "--record"};
    program.notes = program::server_notes;
    auto parsed = cli::parse(program, words, into.effective);
    if (!parsed || *parsed == cli::parse_result::done) return parsed;
    auto checked = program::check(static_cast<const program::server_options&>(into));
    if (!checked) return checked.error();
    if (into.agent.empty()) {
        return base::fail("--agent: is missing; give a command, or the name of a template");
    }
    if (into.check.wanted && into.check.to.empty()) {
        return base::fail("--check: needs a recipient; give --to too");
    }
    return parsed;
}

}  // namespace postal::lmtp_deliver
