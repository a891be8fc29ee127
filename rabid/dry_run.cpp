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

std::string messages_text(const options& chosen) {
    const std::string most =
        chosen.most_messages < 0
            ? std::string("all messages")
            : "at most " +
                  base::format_amount(static_cast<std::uint64_t>(chosen.most_messages), "message");
    return fmt::format(
        "{} of a mailbox; reads {} % of them, and deletes {} % of those that it has "
        "read{}",
        most, chosen.download_percent, chosen.delete_percent,
        chosen.delete_foreign ? ", also foreign ones" : " and that are postal's");
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
        rows.emplace_back("messages", messages_text(chosen));
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
