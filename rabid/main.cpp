// SPDX-License-Identifier: GPL-3.0-or-later
// rabid: reads mail back over POP3 and IMAP and checks every message.
//
// Options become a plan; workers run the plan's sessions; the console prints and records what they
// counted. Where to read on:
//   session.cpp     a session's life: accounts, connections, pauses
//   pop3_visit.cpp  a POP3 connection, imap_visit.cpp an IMAP one
//   profile.cpp     what IMAP sessions do
//   examiner.cpp    what a message turns out to be
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "base/units.hpp"
#include "cli/main.hpp"
#include "program/dry_run.hpp"
#include "program/ranks.hpp"
#include "program/run.hpp"
#include "program/worker_sessions.hpp"
#include "rabid/dry_run.hpp"
#include "rabid/options.hpp"
#include "rabid/phases.hpp"
#include "rabid/plan.hpp"
#include "rabid/session.hpp"
#include "rabid/worker_context.hpp"

namespace {

using namespace postal;
using cli::exit_status;
using worker_sessions =
    program::worker_sessions<rabid::plan, rabid::worker_context, rabid::session>;

// Mailboxes may be empty: what counts is that somebody let us in.
bool let_in(const stats::tally& all) {
    return !all.latency[static_cast<std::size_t>(rabid::phase::login)].empty() ||
           !all.latency[static_cast<std::size_t>(rabid::phase::list)].empty();
}

// Each message that was wanted is there, once, as it was made, and none was lost on the way.
program::client_run::fulfilment judge_mailboxes(const rabid::plan& of, const stats::tally& all) {
    const std::uint64_t wanted = of.populates->wanted_of_all();
    const bool whole = all.confirmed == wanted && all.missing + all.append_lost == 0 &&
                       all.duplicate + all.misplaced + all.changed == 0;
    const auto count = [](std::uint64_t number) { return base::format_count(number); };
    std::string said =
        fmt::format("mailboxes are known to hold {} of {} messages: {} appended, {} found there",
                    count(all.confirmed), count(wanted), count(all.appended), count(all.present));
    const std::uint64_t settled = std::min(wanted, all.confirmed + all.missing + all.changed);
    for (const auto& [number, what] :
         {std::pair{all.missing, "missing"}, std::pair{all.append_lost, "acknowledged and gone"},
          std::pair{all.duplicate, "more than once"}, std::pair{all.misplaced, "in a wrong folder"},
          std::pair{all.changed, "changed"}, std::pair{wanted - settled, "not confirmed yet"}})
        if (number > 0) said += fmt::format(", {} {}", count(number), what);
    if (of.populates->recipe().verify < 1)
        said += fmt::format("; {:g} % of them were read back whole, of the others the identity",
                            100 * of.populates->recipe().verify);
    if (all.others > 0)
        said +=
            fmt::format("; {} of others {} there, too", base::format_amount(all.others, "message"),
                        all.others == 1 ? "lies" : "lie");
    return {whole, said + (whole ? "" : "; run it again to go on from there")};
}

exit_status run(int argc, char** argv) {
    const auto others = program::ranks::join("rabid");
    if (const auto& joined = others->joined(); !joined)
        return others->refuse(joined.error(), exit_status::system_error);
    rabid::options chosen;
    const auto asked = rabid::parse_options(chosen, {argv + 1, argv + argc});
    if (!asked) return others->refuse(asked.error(), exit_status::bad_parameters);
    if (*asked == cli::parse_result::done) return others->leave(exit_status::done);
    auto made = rabid::make_plan(std::move(chosen), others->identity());
    if (!made) return others->refuse(made.error(), exit_status::bad_parameters);
    rabid::plan& of = **made;
    if (of.chosen.dry_run) {
        auto fit = program::check_reports(of.chosen);
        if (fit && others->alone()) fit = program::check_metrics(of.chosen);
        if (!fit) return others->refuse(fit.error(), exit_status::bad_parameters);
        for (const std::string& one : rabid::remarks_on(of))
            if (others->leads()) cli::complain("rabid", one);
        if (others->leads()) fmt::print("{}", rabid::describe_dry_run(of));
        return others->leave(exit_status::done);
    }
    return program::run_clients(
        {.others = *others,
         .plan = of.load,
         .chosen = of.chosen,
         .description = rabid::describe(of, argc, argv),
         .ledger_role = ledger::role::reader,
         .hint = [by_us = rabid::spoken_in(of)](
                     const auto& error) { return client::hint_for(error, by_us); },
         .remarks = rabid::remarks_on(of),
         .begin =
             [&of](load::worker& own, ledger::writer* book) {
                 return std::make_shared<worker_sessions>(of, own, book);
             },
         .achieved = let_in,
         .fulfilled = of.populates
                          ? [&of](const stats::tally& all) { return judge_mailboxes(of, all); }
                          : decltype(program::client_run::fulfilled){}});
}

}  // namespace

int main(int argc, char** argv) {
    return cli::run_main("rabid", [&] { return run(argc, argv); });
}
