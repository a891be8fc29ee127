// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/options.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "bundle/archive.hpp"
#include "cli/binders.hpp"
#include "postal-report/page.hpp"

namespace postal::report {

namespace {

constexpr cli::file_kind page{"page of postal-report", [](std::string_view beginning) {
                                  return beginning.starts_with("<!doctype html>") &&
                                         beginning.find("content=\"postal-report ") !=
                                             beginning.npos;
                              }};

constexpr cli::file_kind archive{"bundle of postal-report", [](std::string_view beginning) {
                                     return bundle::looks_like_bundle(beginning);
                                 }};

cli::program describe_program(options& into) {
    into.chart_library = chart_library_path();
    cli::group outputs{
        "Output",
        {{.names = "--text",
          .help = "tables for a terminal; the default without --html",
          .set = cli::flag(into.text)},
         {.names = "--markdown",
          .help = "the same tables in Markdown",
          .set = cli::flag(into.markdown)},
         {.names = "--csv",
          .help = "one line of comma-separated values for each record or run, after a header",
          .set = cli::flag(into.csv)},
         {.names = "--ranks",
          .help =
              "with --csv: one line for each rank of runs on many machines, and none for a record",
          .set = cli::flag(into.ranks)},
         {.names = "--html",
          .value = "FILE",
          .help = "write a page with charts that needs no other file, and print nothing unless "
                  "asked to; \"-\" is standard output",
          .set = cli::text(into.html),
          .writes = &page},
         {.names = "--chart-library",
          .value = "FILE",
          .fallback = into.chart_library,
          .help = "the file of Chart.js to put into the page",
          .set = cli::text(into.chart_library)}}};
    cli::group ledgers{
        "Ledgers",
        {{.names = "--ledger",
          .value = "FILE",
          .help = "in place of records: what a ledger says was lost, duplicated or corrupted; "
                  "several, one behind the other, are read as one",
          .set = cli::text(into.ledger)},
         {.names = "--list",
          .value = "KIND",
          .help = "print these messages, one a line, and nothing else: all, lost, vanished, "
                  "not-looked-for,"
                  " misplaced, bounced, not-known, unacknowledged, duplicated, corrupt,"
                  " misdelivered, out-of-order, missed-notification",
          .set = cli::choice(into.list,
                             {{"all", wanted_list{}},
                              {"lost", wanted_list{ledger::discrepancy::lost}},
                              {"vanished", wanted_list{ledger::discrepancy::vanished}},
                              {"not-looked-for", wanted_list{ledger::discrepancy::not_looked_for}},
                              {"unacknowledged", wanted_list{ledger::discrepancy::unacknowledged}},
                              {"duplicated", wanted_list{ledger::discrepancy::duplicated}},
                              {"corrupt", wanted_list{ledger::discrepancy::corrupt}},
                              {"misdelivered", wanted_list{ledger::discrepancy::misdelivered}},
                              {"misplaced", wanted_list{ledger::discrepancy::misplaced}},
                              {"bounced", wanted_list{ledger::discrepancy::bounced}},
                              {"missed-notification", wanted_list{ledger::discrepancy::missed}},
                              {"not-known", wanted_list{ledger::discrepancy::not_known}},
                              {"out-of-order", wanted_list{ledger::discrepancy::out_of_order}}})},
         {.names = "--one-store",
          .help = "all servers that readers were given show the same mailboxes, such as two ports "
                  "of one server",
          .set = cli::flag(into.one_store)}}};
    cli::group relays{
        "Relays",
        {{.names = "--relay",
          .help = "what the relay between postal and bhm did: accepted, delivered, backlog and "
                  "transit; from --ledger, or from the records of both",
          .set = cli::flag(into.relay)},
         {.names = "--against",
          .value = "FILE",
          .help = "another ledger, whose mail, backlogs and transit stand beside these",
          .set = cli::text(into.against)}}};
    cli::group bundles{
        "Results that others can check",
        {{.names = "--bundle",
          .value = "FILE",
          .help =
              "write one archive of what is given, records, a folder of results or ledgers, with "
              "what is printed of them, and print nothing else",
          .set = cli::text(into.bundle),
          .writes = &archive},
         {.names = "--with-ledgers",
          .help = "the bundle has the ledgers themselves, and not only what is said of them",
          .set = cli::flag(into.with_ledgers)},
         {.names = "--sign",
          .value = "KEY",
          .help = "sign the bundle with this key of ssh's, by ssh-keygen",
          .set = cli::text(into.sign)},
         {.names = "--verify",
          .value = "FILE|DIR",
          .help = "recompute all that a bundle says, or a folder of results, and say what differs",
          .set = cli::text(into.verify)},
         {.names = "--allowed-signers",
          .value = "FILE",
          .help = "with --verify: without a good signature of one who stands in this file of "
                  "ssh-keygen's nothing is good",
          .set = cli::text(into.allowed_signers)},
         {.names = "--signer",
          .value = "IDENTITY",
          .help = "and of no other than this one",
          .set = cli::text(into.signer)}}};
    return cli::program{
        .name = "postal-report",
        .summary =
            "Shows run records, or an experiment's folder of results, as text, Markdown, CSV or a "
            "page with charts; several records stand side by side, compared with the first.",
        .groups = {std::move(outputs), std::move(ledgers), std::move(relays), std::move(bundles)},
        .positionals = {{.name = "RECORD",
                         .help = "a file that --record wrote, \"-\" is standard input; or a folder "
                                 "that postal-compare made",
                         .set = cli::texts(into.records),
                         .required = false,
                         .repeatable = true}},
        .notes =
            "Examples:\n"
            "  postal-report run.json\n"
            "  postal-report --html report.html ext4.json xfs.json\n"
            "  postal-report --csv runs/*.json > runs.csv\n"
            "  postal-report --html ext4.html ext4-mount-options.results\n"
            "  postal-report --ledger mail.ledger --list lost\n"
            "  postal-report --ledger mail.ledger --html mail.html\n"
            "  postal-report --ledger mail.rank-*.ledger\n"
            "  postal-report --relay --ledger mail.ledger --html relay.html\n"
            "  postal-report --relay postal.json bhm.json\n"
            "  postal-report --bundle ext4.tar.gz --sign ~/.ssh/id_ed25519 ext4.results\n"
            "  postal-report --verify ext4.tar.gz --allowed-signers signers\n"
            "Ends with 0 done, 1 bad parameters or input, 2 system error,\n"
            "3 something acknowledged is lost, vanished, misplaced or corrupt (--ledger), or\n"
            "what was printed does not follow from the bundle (--verify). Of a bundle:\n"
            "5 a file is not what it was, 6 one is missing, 7 one is not in the manifest,\n"
            "8 another version prints other words or figures, 9 no good signature\n"
            "(--allowed-signers), 10 for some of it there is nothing to compute from."};
}

// The first of these that is given; empty: none.
std::string_view first_given(std::initializer_list<std::pair<std::string_view, bool>> all) {
    for (const auto& [name, given] : all)
        if (given) return name;
    return {};
}

base::expected<void> check_bundle(const options& given) {
    const bool bundles = !given.bundle.empty();
    const bool verifies = !given.verify.empty();
    if (bundles && verifies)
        return base::fail("--bundle and --verify exclude each other; give one of them");
    if (!bundles && !given.sign.empty())
        return base::fail("--sign: signs what --bundle writes; give --bundle FILE too");
    if (!bundles && given.with_ledgers)
        return base::fail("--with-ledgers: is about what --bundle writes; give --bundle FILE too");
    if (!verifies && !given.allowed_signers.empty())
        return base::fail(
            "--allowed-signers: is about what --verify reads; give --verify FILE too");
    if (given.allowed_signers.empty() && !given.signer.empty())
        return base::fail("--signer: is one of the allowed; give --allowed-signers FILE too");
    if (!bundles && !verifies) return {};
    const std::string_view other = first_given({{"--text", given.text},
                                                {"--markdown", given.markdown},
                                                {"--csv", given.csv},
                                                {"--ranks", given.ranks},
                                                {"--html", !given.html.empty()},
                                                {"--list", given.list.has_value()},
                                                {"--relay", given.relay},
                                                {"--against", !given.against.empty()}});
    const std::string_view name = bundles ? "--bundle" : "--verify";
    if (!other.empty()) return base::fail("{}: is not for {}; leave one of them out", other, name);
    if (given.bundle == "-" || given.verify == "-")
        return base::fail("{}: is no stream; give the name of a file", name);
    const bool any = !given.records.empty() || !given.ledger.empty();
    if (verifies && (any || given.one_store))
        return base::fail("--verify: looks at one bundle or folder; leave the others out");
    if (bundles && !any) return base::fail("RECORD is missing; give what the bundle is to have");
    if (std::find(given.records.begin(), given.records.end(), "-") != given.records.end())
        return base::fail("--bundle: has files with names, and standard input has none");
    return {};
}

base::expected<void> check_relay(const options& given) {
    if (!given.relay && !given.against.empty()) {
        return base::fail("--against: holds one relay against another; give --relay too");
    }
    if (!given.relay) return {};
    if (given.list) return base::fail("--list: is not for --relay; leave one of them out");
    if (given.ledger.empty() && !given.against.empty()) {
        return base::fail("--against: compares ledgers; give --ledger FILE in place of records");
    }
    if (given.ledger.empty() && given.records.size() != 2) {
        return base::fail(
            "--relay: needs --ledger FILE, or two records, one of postal and one of bhm; there {} "
            "{}",
            given.records.size() == 1 ? "is" : "are", given.records.size());
    }
    return {};
}

base::expected<void> check(const options& given) {
    const auto bundle = check_bundle(given);
    if (!bundle) return bundle.error();
    if (!given.bundle.empty() || !given.verify.empty()) return {};
    const auto relay = check_relay(given);
    if (!relay) return relay.error();
    if (given.ledger == "-")
        return base::fail("--ledger: a ledger is no stream; give the name of its file");
    if (given.ledger.empty() && given.list) {
        return base::fail("--list: lists what a ledger says; give --ledger FILE too");
    }
    if (given.ledger.empty() && given.one_store) {
        return base::fail("--one-store: is about a ledger; give --ledger FILE too");
    }
    if (given.ledger.empty() && given.records.empty()) {
        return base::fail("RECORD is missing; give a run record, or --ledger FILE");
    }
    if (given.list && !given.html.empty())
        return base::fail("--html: is not for --list; leave one of them out");
    if (static_cast<int>(given.text) + static_cast<int>(given.markdown) +
            static_cast<int>(given.csv) >
        1) {
        return base::fail("--text, --markdown and --csv exclude each other; give one of them");
    }
    if (given.ranks && (!given.csv || !given.ledger.empty() || given.relay))
        return base::fail("--ranks: is for --csv of run records; give --csv and RECORD");
    if (given.html == "-" && given.printed() != output::none) {
        return base::fail(
            "--html - and another output both want standard output; give --html a file");
    }
    std::size_t from_input = 0;
    for (const std::string& file : given.records)
        from_input += file == "-" ? 1 : 0;
    if (from_input > 1) return base::fail("standard input can be read only once; give \"-\" once");
    return {};
}

}  // namespace

std::vector<std::string> options::ledgers() const {
    std::vector<std::string> all{ledger};
    all.insert(all.end(), records.begin(), records.end());
    return all;
}

output options::printed() const noexcept {
    if (markdown) return output::markdown;
    if (csv) return output::csv;
    return text || html.empty() ? output::text : output::none;
}

base::expected<cli::parse_result> parse_options(options& into,
                                                const std::vector<std::string>& words) {
    auto parsed = cli::parse(describe_program(into), words);
    if (!parsed || *parsed == cli::parse_result::done) return parsed;
    const auto checked = check(into);
    if (!checked) return checked.error();
    return parsed;
}

}  // namespace postal::report
