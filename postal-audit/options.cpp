// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/options.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/binders.hpp"
#include "experiment/command_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace postal::audit {
namespace {

constexpr std::array<std::string_view, 2> outcomes{"kept", "lost"};

base::expected<experiment::named_text> parse_expectation(std::string_view text) {
    auto parsed = experiment::parse_outcome(text, "VARIANT=kept or VARIANT=lost");
    if (!parsed || std::find(outcomes.begin(), outcomes.end(), parsed->second) != outcomes.end())
        return parsed;
    return base::fail("\"{}\" is neither kept nor lost", base::printable(parsed->second, 40));
}

base::expected<void> check(const options& given) {
    const int actions = static_cast<int>(given.check) + static_cast<int>(given.plan) +
                        static_cast<int>(given.resume) + static_cast<int>(given.replay);
    if (actions > 1)
        return base::fail(
            "--check, --plan, --resume and --replay exclude each other; give one of them");
    if (given.draw && !given.cut_at) return base::fail("--draw: is for --cut-at, which is missing");
    if (given.replay && !given.cut_at)
        return base::fail("--replay: needs --cut-at: the place of the cut");
    if (given.cut_at && given.cuts) return base::fail("--cut-at: is one cut; leave --cuts out");
    if (!given.keep.empty() && !given.cut_at)
        return base::fail("--keep: a disk for each cut would fill this one; needs --cut-at");
    return {};
}

cli::program describe_program(options& into) {
    cli::group what{
        "What to do",
        {experiment::check_option(into, "the audit can run"),
         {.names = "--plan",
          .help = "only show what would be recorded and how many disks would be looked at",
          .set = cli::flag(into.plan)},
         experiment::resume_option(into, "audit"),
         {.names = "--replay",
          .help = "look again at cuts of the recordings that are in the folder of results; needs "
                  "--cut-at, and leaves the audit's record alone",
          .set = cli::flag(into.replay)},
         {.names = "--cut-at",
          .value = "ENTRIES",
          .help = "cut where so many entries of the log were written, and nowhere else",
          .set = cli::count(into.cut_at, 1)},
         {.names = "--draw",
          .value = "N",
          .help = "with --cut-at: this draw alone; 0 is none of the writes since the last flush, 1 "
                  "all of them",
          .set = cli::count(into.draw, 0)},
         {.names = "--keep",
          .value = "DIR",
          .help = "leave each disk there as the cut left it, before anything mounts it",
          .set = cli::text(into.keep)},
         {.names = "--expect",
          .value = "VARIANT=kept|lost",
          .help = "end with status 3 unless the variant lost no mail (kept), or some (lost)",
          .set = cli::appended(into.expect, parse_expectation),
          .repeatable = true}}};
    cli::group how{
        "Recordings and cuts",
        {{.names = "--out",
          .value = "DIR",
          .fallback = "NAME.results",
          .help = "the folder of the results; may hold what postal-compare found for the same file",
          .set = cli::text(into.out)},
         experiment::set_option(into),
         {.names = "--variant",
          .value = "NAME",
          .fallback = "all",
          .help = "audit this one",
          .set = cli::texts(into.variants),
          .repeatable = true},
         {.names = "--messages",
          .value = "N",
          .help = "messages that each load sends while the disk is recorded, in place of the "
                  "experiment's",
          .set = cli::count(into.messages, 1)},
         {.names = "--cuts",
          .value = "N",
          .help = "power cuts in each recording",
          .set = cli::count(into.cuts, 1)},
         {.names = "--draws",
          .value = "N",
          .help = "disks at each cut: none, all, and random subsets of the writes since the last "
                  "flush survive",
          .set = cli::count(into.draws, 1)},
         {.names = "--torn",
          .value = "N%",
          .help = "share of the surviving writes of a random draw of which only some sectors do",
          .set = cli::parsed(into.torn, base::parse_share)},
         experiment::seed_option(into, "of the mail, the cuts and the draws"),
         experiment::progress_option(into)}};
    return cli::program{
        .name = "postal-audit",
        .summary =
            "Records what a mail system writes to its disk, cuts the power at random places "
            "of that recording, lets file system and server recover, and says which "
            "acknowledged mail is missing.",
        .groups = {std::move(what), std::move(how)},
        .positionals = {{.name = "EXPERIMENT",
                         .help = "a TOML file with an [audit]; conf/experiments/ has samples",
                         .set = cli::text(into.experiment),
                         .required = true}},
        .notes =
            "Examples:\n"
            "  postal-audit --check power-cut-dovecot.toml\n"
            "  postal-audit --cuts 20 power-cut-dovecot.toml\n"
            "  postal-audit --replay --variant default --cut-at 4711 --keep /var/tmp/disks \\\n"
            "      power-cut-dovecot.toml\n"
            "Needs root. Never touches a disk: all happens on files in the folder of "
            "results.\n"
            "Ends with 0 done, 1 bad parameters or experiment, 2 system error or something "
            "left behind,\n"
            "3 a control or a result is not what it must be, 4 nothing was audited.",
        .check = [&into] { return check(into); }};
}

// Where it stands in the file.
base::failure at(const experiment::experiment& of, std::uint32_t line, std::string_view what) {
    return base::fail("{}:{}: {}", of.file, line, what);
}

base::expected<void> check_loads(const experiment::experiment& of) {
    for (const experiment::load_program& one : of.offered.programs) {
        if (one.run.words.front() != "postal")
            return at(of, one.run.line,
                      "an audit needs postal: rabid reads once the power is back");
        if (!one.launcher.words.empty())
            return at(of, one.launcher.line,
                      "an audit has one ledger and one clock; leave the launcher out");
        for (const std::string& word : one.run.words)
            for (const std::string_view taken : {"--messages", "--ledger"})
                if (std::string_view(word).substr(0, word.find('=')) == taken)
                    return at(of, one.run.line, fmt::format("{} is decided by the audit", taken));
    }
    return {};
}

}  // namespace

base::expected<cli::parse_result> parse_options(options& into,
                                                const std::vector<std::string>& words) {
    return cli::parse(describe_program(into), words);
}

base::expected<void> apply(const options& given, experiment::experiment& to) {
    experiment::audit& audit = to.audited;
    if (!audit.wanted)
        return base::fail("{}: has no [audit], which says how mail is found after a cut",
                          base::printable(to.file, 300));
    if (given.messages) audit.messages = *given.messages;
    if (given.cuts) audit.cuts = *given.cuts;
    if (given.draws) audit.draws = *given.draws;
    if (given.torn) audit.torn = *given.torn;
    if (given.seed) to.offered.seed = given.seed;
    const auto is_there = [&](const std::string& name) {
        return std::any_of(to.variants.begin(), to.variants.end(),
                           [&](const auto& one) { return one.name == name; });
    };
    for (const std::string& name : given.variants)
        if (!is_there(name))
            return base::fail("--variant: no variant is called \"{}\"", base::printable(name, 100));
    for (const auto& [name, outcome] : given.expect)
        if (!is_there(name) || !is_wanted(given, name))
            return base::fail("--expect: no variant that is audited is called \"{}\"",
                              base::printable(name, 100));
    for (experiment::variant& each : to.variants) {
        if (!each.on.wanted)
            return at(to, each.line, "an audit needs a [storage]: the disk whose power is cut");
        each.on.device.clear();  // never one of the user's
    }
    return check_loads(to);
}

const char* action_of(const options& given) noexcept {
    return given.replay ? "--replay" : "--resume";
}

unsigned torn_percent(const experiment::audit& of) {
    return static_cast<unsigned>(std::lround(of.torn * 100));
}

bool is_wanted(const options& given, const std::string& variant) {
    return given.variants.empty() ||
           std::find(given.variants.begin(), given.variants.end(), variant) != given.variants.end();
}

}  // namespace postal::audit
