// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/options.hpp"

#include "cli/binders.hpp"
#include "postal-report/page.hpp"

namespace postal::report {

namespace {

constexpr cli::file_kind page{"page of postal-report", [](std::string_view beginning) {
                                  return beginning.starts_with("<!doctype html>") &&
                                         beginning.find("content=\"postal-report ") !=
                                             beginning.npos;
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
                  " misdelivered, out-of-order",
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
    return cli::program{
        .name = "postal-report",
        .summary =
            "Shows run records, or an experiment's folder of results, as text, Markdown, CSV or a "
            "page with charts; several records stand side by side, compared with the first.",
        .groups = {std::move(outputs), std::move(ledgers), std::move(relays)},
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
            "Ends with 0 done, 1 bad parameters or input, 2 system error,\n"
            "3 something acknowledged is lost, vanished, misplaced or corrupt (--ledger)."};
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
