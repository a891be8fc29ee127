// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/shared_options.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error_names.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "cli/binders.hpp"
#include "os/host.hpp"
#include "stats/threshold.hpp"

namespace postal::program {

using base::expected;

namespace {

constexpr cli::file_kind transcripts{"transcript", net::is_transcript, true};

std::vector<std::string> error_names() {
    std::vector<std::string> names;
    for (const auto rows : {base::error_stages(), base::error_reasons()})
        for (const auto& row : rows)
            names.emplace_back(row.name);
    names.erase(std::remove(names.begin(), names.end(), "alert_..."), names.end());
    return names;
}

}  // namespace

cli::option connect_rate_option(double& target) {
    return {"--connect-rate", "RATE", "2000/s", "pace at which sessions open at the start",
            [&target](const std::string& given) -> expected<void> {
                auto rate = base::parse_rate(given, base::rate_unit::per_second);
                if (!rate) return rate.error();
                if (!(rate->per_second > 0))
                    return base::fail("{} opens none; give more than 0, such as 2000/s", given);
                target = rate->per_second;
                return {};
            }};
}

cli::option target_is_mine_option(net::allowed_targets& target) {
    cli::option row{"--target-is-mine", "HOST", "",
                    "a server of your own that is not loopback or private: name, address or range",
                    [&target](const std::string& given) { return target.add(given); }};
    row.repeatable = true;
    row.file_key = "allow-targets";
    return row;
}

cli::option give_up_option(std::optional<std::chrono::nanoseconds>& target, std::string_view end) {
    return {"--give-up", "DURATION", fmt::format("60s if only {} ends it", end),
            "end when nothing has made progress for so long; 0s: never",
            cli::parsed(target, base::parse_duration)};
}

cli::option account_weights_option(mail::account_weights& target) {
    cli::option made{"--account-weights", "uniform|zipf:EXPONENT", "uniform",
                     "how often each account comes: all alike, or the first ones most, as with "
                     "zipf:1.1",
                     cli::parsed(target, mail::parse_account_weights)};
    made.known_values = {"uniform", "zipf:1.1"};
    return made;
}

cli::option fail_fast_option(bool& target) {
    return {"--fail-fast", "", "",
            "end at the first error, with status 3, or 4 if nothing has come through",
            cli::flag(target)};
}

cli::option explain_option() {
    cli::option row{"--explain", "[NAME]", "",
                    "say what an error's name means, such as \"timeout\" or \"rcpt\"; alone, all"};
    row.optional_value = true;
    row.known_values = error_names();
    return row;
}

cli::group transcript_group(net::transcript_options& target) {
    return {"Transcripts",
            {
                {"-z,--transcript", "BASE", "", "write each session's dialogue to BASE:SESSION",
                 cli::text(target.session_base), false, &transcripts},
                {"-Z,--connection-transcript", "BASE", "",
                 "the same, and each connection's to BASE:SESSION:CONNECTION",
                 cli::text(target.connection_base), false, &transcripts},
                {"-a,--all-log", "", "", "messages too; without -z or -Z, to standard error",
                 cli::flag(target.everything)},
            }};
}

cli::threshold_rule known_threshold(std::vector<std::string> phases, std::size_t message_phase,
                                    std::vector<stats::counted_by> counts) {
    counts.push_back(stats::counted_by::all);
    std::vector<stats::counter> own;
    for (const stats::counter& one : stats::all_counters())
        if (std::find(counts.begin(), counts.end(), one.by) != counts.end()) own.push_back(one);
    std::string example = fmt::format("p99({})<1s", phases[message_phase]);
    return {[phases = std::move(phases), own](const std::string& given) -> expected<void> {
                auto threshold = stats::threshold::parse(given, phases, own);
                if (!threshold) return threshold.error();
                return {};
            },
            std::move(example)};
}

stats::run_description describe(described_run what) {
    stats::run_description result;
    result.started = std::chrono::system_clock::now();
    result.program = std::move(what.program);
    result.version = base::build_version;
    result.argv = std::move(what.argv);
    result.labels = what.run.labels;
    result.interval = cli::interval_of(what.run);
    result.warmup = what.run.warmup;
    result.align_minutes = what.run.align_minutes;
    result.workers = what.run.workers;
    result.host = os::describe_host();
    for (const cli::effective_option& option : what.effective) {
        if (option.values.size() == 1) {
            result.options[option.name] = option.values.front();
        } else {
            result.options[option.name] = option.values;
        }
    }
    // Of a default that is a rule the record has what it came to.
    if (!what.run.interval) result.options["interval"] = base::format_duration(result.interval);
    return result;
}

}  // namespace postal::program
