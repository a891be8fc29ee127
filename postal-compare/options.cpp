// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-compare/options.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/binders.hpp"
#include "experiment/command_line.hpp"
#include "experiment/measurable.hpp"

#include <algorithm>
#include <array>

namespace postal::compare {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 5> verdicts{"faster", "slower", "equivalent", "undecided",
                                                   "none"};

base::expected<experiment::named_text> parse_expectation(std::string_view text) {
    auto parsed = experiment::parse_outcome(text, "VARIANT=VERDICT");
    if (!parsed || std::find(verdicts.begin(), verdicts.end(), parsed->second) != verdicts.end())
        return parsed;
    return base::fail("\"{}\" is no verdict; there are {}", base::printable(parsed->second, 40),
                      fmt::join(verdicts, ", "));
}

base::expected<double> parse_width(std::string_view text) {
    auto share = base::parse_share(text);
    if (share && *share > 0) return share;
    return base::fail("\"{}\" is no width; want more than 0% and at most 100%, such as 2%",
                      base::printable(text, 40));
}

base::expected<void> check(const options& given) {
    if (given.verify.empty() == given.experiment.empty()) {
        return given.verify.empty()
                   ? base::fail("EXPERIMENT is missing; give a file, or --verify DIR")
                   : base::fail(
                         "--verify: is for a folder of results; leave the "
                         "experiment out");
    }
    const int actions = static_cast<int>(given.check) + static_cast<int>(given.plan) +
                        static_cast<int>(given.resume) + static_cast<int>(!given.verify.empty());
    if (actions > 1)
        return base::fail(
            "--check, --plan, --resume and --verify exclude each other; give one of them");
    if (given.quick && given.classic)
        return base::fail("--quick and --classic exclude each other; give one of them");
    if (given.max_blocks && !given.until_width)
        return base::fail("--max-blocks: is for --until-width; the number of blocks is --blocks");
    if (given.gates.size() > experiment::most_gates)
        return base::fail("--gate: {} of them; {} are the most", given.gates.size(),
                          experiment::most_gates);
    if (!given.baseline.empty() && given.gates.empty())
        return base::fail("--baseline: is for gates; give --gate, such as rate>-5%");
    // Who goes on with an experiment has its gates in the record.
    if (!given.junit.empty() && given.gates.empty() && !given.resume)
        return base::fail("--junit: is for the answers of gates; give --gate, such as rate>-5%");
    return {};
}

// What no run could answer.
base::expected<void> check_measured(const options& given, const experiment::experiment& of) {
    const experiment::metric judged = of.verdict.about;
    if (const std::string why = why_unmeasured(judged, of); !why.empty())
        return base::fail("{}: [verdict] metric: {} {}", of.file, name_of(judged), why);
    for (const experiment::gate& one : given.gates) {
        const experiment::metric asked = one.of(of.verdict);
        if (const std::string why = why_unmeasured(asked, of); !why.empty())
            return base::fail("--gate: {} {}", name_of(asked), why);
    }
    const bool has_other = std::any_of(of.variants.begin() + 1, of.variants.end(),
                                       [](const auto& one) { return !one.same_as; });
    if (!given.gates.empty() && given.baseline.empty() && !has_other)
        return base::fail(
            "--gate: compares variants with the first one, and {} has no other, or only one that "
            "is the same (same_as); --baseline compares with results that were kept",
            of.file);
    return {};
}

cli::program describe_program(options& into) {
    cli::group what{
        "What to do",
        {experiment::check_option(into, "the experiment can run"),
         {.names = "--plan",
          .help = "only show the order of the runs, how long it takes and what the time buys",
          .set = cli::flag(into.plan)},
         experiment::resume_option(into, "experiment"),
         {.names = "--verify",
          .value = "DIR",
          .help = "in place of an experiment: recompute the verdicts in a folder of results, and "
                  "say whether anything was left out or changed",
          .set = cli::text(into.verify)},
         {.names = "--expect",
          .value = "VARIANT=VERDICT",
          .help = "end with status 3 when a verdict is another one: faster, slower, equivalent, "
                  "undecided or none",
          .set = cli::appended(into.expect, parse_expectation),
          .repeatable = true},
         {.names = "--gate",
          .value = "GATE",
          .help = "end with status 3 when a variant is surely worse than the first one by more "
                  "than that: "
                  "rate>-5%, p99<+20%; also p50, cpu, written, flushes",
          .set = cli::appended(into.gates, experiment::parse_gate),
          .repeatable = true},
         {.names = "--baseline",
          .value = "DIR",
          .help =
              "gates compare with the results of this experiment that are kept in this folder, in "
              "place of the first variant",
          .set = cli::text(into.baseline)},
         {.names = "--junit",
          .value = "FILE",
          .help = "write the answers of the gates as JUnit's XML",
          .set = cli::text(into.junit)}}};
    cli::group runs{
        "Runs",
        {{.names = "--out",
          .value = "DIR",
          .fallback = "NAME.results",
          .help = "the folder of the results, which must not exist, unless with --resume",
          .set = cli::text(into.out)},
         experiment::set_option(into),
         {.names = "--duration",
          .value = "DURATION",
          .help = "of each run, with its warm-up, in place of the experiment's",
          .set = cli::duration(into.duration)},
         {.names = "--warmup",
          .value = "DURATION",
          .help = "what is left out at the beginning of each run",
          .set = cli::parsed(into.warmup, base::parse_duration)},
         {.names = "--quick",
          .help = "runs of 30 s, of which 5 s are left out",
          .set = cli::flag(into.quick)},
         {.names = "--classic",
          .help = "runs of 20 minutes, of which the first is left out",
          .set = cli::flag(into.classic)},
         {.names = "--blocks",
          .value = "N",
          .help = "how often each variant runs",
          .set = cli::count(into.blocks, 1, stats::most_blocks)},
         experiment::seed_option(into, "of the order of the runs and of the mail"),
         {.names = "--until-width",
          .value = "SHARE",
          .help =
              "run as many blocks, 6 or more, as it takes for intervals that reach no farther than "
              "this to either side",
          .set = cli::parsed(into.until_width, parse_width)},
         {.names = "--max-blocks",
          .value = "N",
          .help = "with --until-width: the most blocks; the experiment's blocks without it",
          .set = cli::count(into.max_blocks, 1, stats::most_blocks)},
         {.names = "--overwrite",
          .help = "make file systems also on devices that hold one which this experiment did not "
                  "make; what is there is lost",
          .set = cli::flag(into.overwrite)},
         experiment::progress_option(into)}};
    return cli::program{
        .name = "postal-compare",
        .summary =
            "Runs the same load against several variants of a mail system, in random order "
            "and on fresh file systems, and says which is faster, by how much, and how sure "
            "that is.",
        .groups = {std::move(what), std::move(runs)},
        .positionals = {{.name = "EXPERIMENT",
                         .help = "a TOML file; conf/experiments/ has samples",
                         .set = cli::text(into.experiment),
                         .required = false}},
        .notes =
            "Examples:\n"
            "  postal-compare --plan ext4-mount-options.toml\n"
            "  postal-compare --quick --blocks 3 ext4-mount-options.toml\n"
            "  postal-compare --resume ext4-mount-options.toml\n"
            "  postal-report --html report.html ext4-mount-options.results\n"
            "Ends with 0 done, 1 bad parameters or experiment, 2 system error or something "
            "left behind,\n"
            "3 a verdict is not what --expect asked for, a gate is missed, or --verify found "
            "something,\n"
            "4 no run was complete, or a gate has no answer, 8 verdicts by another version's "
            "rules\n"
            "(--verify).",
        .check = [&into] { return check(into); }};
}

}  // namespace

base::expected<cli::parse_result> parse_options(options& into,
                                                const std::vector<std::string>& words) {
    return cli::parse(describe_program(into), words);
}

base::expected<void> apply(const options& given, experiment::experiment& to) {
    experiment::load& load = to.offered;
    if (load.search && (given.quick || given.classic || given.warmup))
        return base::fail(
            "--{}: is for runs at one rate; {} searches, and its [capacity] and --duration say how "
            "long",
            given.quick     ? "quick"
            : given.classic ? "classic"
                            : "warmup",
            to.file);
    if (given.quick) {
        load.duration = 30s;
        load.warmup = 5s;
    }
    if (given.classic) {
        load.duration = 20min;
        load.warmup = 1min;
    }
    if (given.duration > 0ns) load.duration = given.duration;
    if (given.warmup) load.warmup = *given.warmup;
    if (given.blocks) load.blocks = *given.blocks;
    if (given.max_blocks) load.blocks = *given.max_blocks;
    if (given.seed) load.seed = given.seed;
    for (const auto& [name, verdict] : given.expect) {
        const bool known = std::any_of(to.variants.begin() + 1, to.variants.end(),
                                       [&](const auto& one) { return one.name == name; });
        if (!known)
            return base::fail(
                "--expect: there is no verdict on \"{}\"; there is one on each variant but the "
                "first",
                base::printable(name, 100));
    }
    if (load.blocks * to.variants.size() > experiment::most_runs)
        return base::fail("{} blocks of {} variants are more than {} runs: give fewer --blocks",
                          load.blocks, to.variants.size(),
                          base::format_count(experiment::most_runs));
    if (const auto checked = check_measured(given, to); !checked) return checked;
    if (load.warmup >= load.duration)
        return base::fail("--warmup: {} is no shorter than the run of {}, of which it is a part",
                          base::format_duration(load.warmup), base::format_duration(load.duration));
    return {};
}

}  // namespace postal::compare
