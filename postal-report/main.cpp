// SPDX-License-Identifier: GPL-3.0-or-later
// postal-report: run records, an experiment's folder or a ledger in, something to read out. The
// records are read first and all of them, so that a bad one leaves no half a report behind.
#include "cli/main.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "cli/parse.hpp"
#include "os/child.hpp"
#include "postal-report/bundle.hpp"
#include "postal-report/folder.hpp"
#include "postal-report/ledger.hpp"
#include "postal-report/options.hpp"
#include "postal-report/ranks.hpp"
#include "postal-report/relay.hpp"
#include "postal-report/run.hpp"
#include "postal-report/shown.hpp"
#include "postal-report/verified.hpp"

namespace {

using namespace postal;

using report::refuse;
using report::show;

cli::exit_status show_ledger(const report::options& wanted) {
    const auto read = report::read_ledger(wanted);
    if (!read) return refuse(base::at("--ledger", read.error()), cli::exit_status::bad_parameters);
    const cli::exit_status shown =
        show(wanted, {[&](report::medium kind) { return document_of(*read, kind); },
                      [&] { return sheet_of(*read); }});
    if (shown != cli::exit_status::done || !read->found.totals.broken_promise()) return shown;
    return cli::exit_status::threshold_not_met;
}

cli::exit_status list_of_ledger(const report::options& wanted) {
    const auto kept_word = report::print_list(wanted);
    if (!kept_word)
        return refuse(base::at("--ledger", kept_word.error()), cli::exit_status::bad_parameters);
    return *kept_word ? cli::exit_status::done : cli::exit_status::threshold_not_met;
}

base::expected<report::shown_relay> read_relay(const report::options& wanted) {
    auto here = wanted.ledger.empty() ? report::read_relay_records(wanted.records)
                                      : report::read_relay_ledger(wanted.ledgers());
    if (!here) {
        return wanted.ledger.empty() ? here.error() : base::at("--ledger", here.error());
    }
    report::shown_relay result{std::move(*here), std::nullopt};
    if (wanted.against.empty()) return result;
    auto there = report::read_relay_ledger({wanted.against}, result.here.domains);
    if (!there) return base::at("--against", there.error());
    result.against = std::move(*there);
    return result;
}

cli::exit_status show_relay(const report::options& wanted) {
    const auto read = read_relay(wanted);
    if (!read) return refuse(base::at("RECORD", read.error()), cli::exit_status::bad_parameters);
    const cli::exit_status shown =
        show(wanted, {[&](report::medium kind) { return document_of(*read, kind); },
                      [&] { return sheet_of(*read); }});
    if (shown != cli::exit_status::done || read->here.kept_word) return shown;
    return cli::exit_status::threshold_not_met;
}

cli::exit_status run(int argc, char** argv) {
    // Of ssh-keygen, for a bundle's signature.
    const auto prepared = os::prepare_for_children();
    if (!prepared) return refuse(prepared.error(), cli::exit_status::system_error);
    report::options wanted;
    const auto parsed = report::parse_options(wanted, {argv + 1, argv + argc});
    if (!parsed) return refuse(parsed.error(), cli::exit_status::bad_parameters);
    if (*parsed == cli::parse_result::done) return cli::exit_status::done;
    if (!wanted.bundle.empty()) return report::write_bundle(wanted);
    if (!wanted.verify.empty()) return report::verify_bundle(wanted);
    if (wanted.relay) return show_relay(wanted);
    if (wanted.list) return list_of_ledger(wanted);
    if (!wanted.ledger.empty()) return show_ledger(wanted);
    const auto folder =
        std::find_if(wanted.records.begin(), wanted.records.end(), report::is_experiment);
    if (folder != wanted.records.end() && wanted.records.size() > 1)
        return refuse(base::fail("{}: an experiment is shown by itself; leave the others out",
                                 base::printable(*folder, 300)),
                      cli::exit_status::bad_parameters);
    if (folder != wanted.records.end() && wanted.ranks)
        return refuse(base::fail("--ranks: is for run records, and {} is an experiment",
                                 base::printable(*folder, 300)),
                      cli::exit_status::bad_parameters);
    if (folder != wanted.records.end()) return report::show_experiment(wanted);
    std::vector<report::record> records;
    for (const std::string& file : wanted.records) {
        auto read = report::read_record(file);
        if (!read)
            return refuse(base::at("RECORD", read.error()), cli::exit_status::bad_parameters);
        records.push_back(std::move(*read));
    }
    report::label(records);
    return show(wanted, {[&](report::medium kind) { return report::document_of(records, kind); },
                         [&] {
                             return wanted.ranks ? report::sheet_of_ranks(records)
                                                 : report::sheet_of(records);
                         }});
}

}  // namespace

int main(int argc, char** argv) {
    return cli::run_main(report::program_name, [&] { return run(argc, argv); });
}
