// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/dry_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "program/dry_run.hpp"

namespace postal::rabid {

namespace {

constexpr std::size_t most_accounts_shown = 5;

std::string deletions_text(const options& chosen) {
    return fmt::format("deletes {} % of those that it has read{}", chosen.delete_percent,
                       chosen.delete_foreign ? ", also foreign ones" : " and that are postal's");
}

// As -c and -d say, for whom they are.
std::string bound_text(const options& chosen) {
    const std::string most =
        chosen.most_messages < 0
            ? std::string("all messages")
            : "at most " +
                  base::format_amount(static_cast<std::uint64_t>(chosen.most_messages), "message");
    return fmt::format("{} of a mailbox; reads {} % of them, and {}", most, chosen.download_percent,
                       deletions_text(chosen));
}

// What IMAP sessions do where -c and -d do not say it, or not all of it.
std::string imap_text(const plan& of) {
    if (of.chosen.watch.count() == 0)
        return "what the profile says, which has no verb read and deletes nothing";
    std::string where = "INBOX";
    for (const std::string& each : of.chosen.watch_folders)
        where += ", " + each;
    return fmt::format("what comes into {}; {}", where, deletions_text(of.chosen));
}

void add_messages(program::dry_run_rows& rows, const plan& of) {
    const bool pop3 = of.chosen.imap_percent < 100;
    const bool imap = of.chosen.imap_percent > 0;
    const bool reads = of.chosen.watch.count() == 0 && of.behaviour.may(verb::read);
    if (pop3 || reads) rows.emplace_back("messages", bound_text(of.chosen));
    if (imap && !reads) rows.emplace_back(pop3 ? "over IMAP" : "messages", imap_text(of));
}

}  // namespace

std::string describe_dry_run(const plan& of) {
    const options& chosen = of.chosen;
    program::dry_run_rows rows;
    if (chosen.imap_percent < 100) program::add_servers(rows, "POP3", of.pop3);
    if (chosen.imap_percent > 0) program::add_servers(rows, "IMAP", of.imap);
    rows.emplace_back("connections", fmt::format("{} % IMAP, {} % POP3", chosen.imap_percent,
                                                 100 - chosen.imap_percent));
    rows.emplace_back("sessions", std::to_string(of.load.sessions));
    program::add_load(rows, of.load, chosen,
                      {"connections",
                       of.populates    ? "--populate"
                       : chosen.rounds ? "--rounds"
                                       : "--connections",
                       of.most_connections()});
    if (of.populates) {
        const population_recipe& recipe = of.populates->recipe();
        rows.emplace_back("fills",
                          fmt::format("{} in all, in {} of each account, seed {}",
                                      base::format_amount(of.populates->wanted_of_all(), "message"),
                                      base::format_amount(recipe.plan.folders.size(), "folder"),
                                      recipe.plan.seed));
        for (std::size_t i = 0; i < std::min(recipe.plan.folders.size(), most_accounts_shown); ++i)
            rows.emplace_back("", recipe.plan.folders[i]);
    } else {
        add_messages(rows, of);
    }
    if (chosen.watch.count() > 0)
        rows.emplace_back("watches", "for new mail, with an interval of " +
                                         base::format_duration(chosen.watch) +
                                         (chosen.imap_percent == 0               ? ""
                                          : chosen.watch_by == notified_by::idle ? ", in IDLE"
                                          : chosen.watch_by == notified_by::noop ? ", with NOOP"
                                                                                 : ", by NOTIFY"));
    else if (chosen.imap_percent > 0 && !of.populates)
        rows.emplace_back("profile", base::printable(chosen.profile, 200));
    rows.emplace_back("accounts", std::to_string(of.accounts_of_all));
    const std::size_t shown = std::min(of.users->size(), most_accounts_shown);
    for (std::size_t i = 0; i < shown; ++i)
        rows.emplace_back("", base::printable(of.users->at(i).login, 80));
    if (of.users->size() > shown) rows.emplace_back("", "and others, in random order");
    return program::format_rows(rows);
}

}  // namespace postal::rabid
