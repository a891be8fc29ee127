// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/ledger.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_named = 3;  // runs, in a remark

// Names the runs that have not noted their end; empty when all have.
std::string open_runs(const std::vector<ledger::run_row>& runs) {
    std::string names;
    std::size_t count = 0;
    for (const ledger::run_row& run : runs) {
        if (!run.ended.empty()) continue;
        if (count++ < most_named) {
            names += fmt::format("{}{} ({}, written until {})", names.empty() ? "" : ", ", run.run,
                                 run.program, show_time(run.horizon));
        }
    }
    if (count == 0) return {};
    if (count > most_named) names += fmt::format(" and {} more", count - most_named);
    return fmt::format("{}: {}; it runs still, or was killed, and what it did last is not known",
                       plural(count, "run has no end", "runs have no end"), names);
}

// Names the readers that do not say what they looked at; empty when all do.
std::string untold_runs(const std::vector<ledger::run_row>& runs) {
    std::string names;
    std::size_t count = 0;
    for (const ledger::run_row& run : runs) {
        if (run.tells) continue;
        if (count++ < most_named)
            names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", run.run, run.program);
    }
    if (count == 0) return {};
    if (count > most_named) names += fmt::format(" and {} more", count - most_named);
    return fmt::format(
        "{} which mailboxes were read: {}; what is called lost may not have been looked for, and "
        "what has vanished does not show",
        plural(count, "run of an older version does not tell",
               "runs of an older version do not tell"),
        names);
}

}  // namespace

std::vector<std::string> ledger_remarks(const ledger::answers& found) {
    const ledger::summary& of = found.totals;
    std::vector<std::string> result;
    const auto looked = [](const auto& run) {
        return run.is != ledger::role::sender || run.seen > 0;
    };
    if (std::none_of(found.runs.begin(), found.runs.end(), looked)) {
        result.emplace_back("no run of this ledger has looked for messages yet");
    } else if (of.not_looked_for > 0) {
        result.push_back(fmt::format(
            "{} looked for: no reader has read all of {} since they were accepted; whether they "
            "are lost is not known",
            plural(of.not_looked_for, "message was not", "messages were not"),
            plural(found.unread_mailboxes, "mailbox", "mailboxes")));
    }
    const std::string untold = untold_runs(found.runs);
    if (!untold.empty()) result.push_back(untold);
    if (of.same_on_two_servers > 0) {
        std::vector<std::string> names;
        for (const std::string& name : found.servers)
            names.push_back(base::printable(name, 80));
        result.push_back(fmt::format(
            "{} duplicated with the same ids on two servers: if {} show the same mailboxes, say so "
            "with --one-store, and give rabid --store",
            plural(of.same_on_two_servers, "message is", "messages are"),
            base::join(names, " and ")));
    }
    const std::string open = open_runs(found.runs);
    if (!open.empty()) result.push_back(open);
    if (of.unwritten > 0) {
        result.push_back(fmt::format(
            "{} of messages whose sender has no end and has not written down what became of them",
            plural(of.unwritten, "copy was seen", "copies were seen")));
    }
    if (of.unknown > 0) {
        result.push_back(fmt::format("{} of messages that no run of this ledger has sent",
                                     plural(of.unknown, "copy was seen", "copies were seen")));
    }
    return result;
}

}  // namespace postal::report
