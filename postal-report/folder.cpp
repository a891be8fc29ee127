// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/folder.hpp"

#include "experiment/findings.hpp"
#include "postal-report/experiment.hpp"
#include "postal-report/shown.hpp"

namespace postal::report {

namespace {

cli::exit_status show_results(const options& wanted) {
    const auto results = experiment::read_results(wanted.records.front());
    if (!results) return refuse(results.error(), cli::exit_status::bad_parameters);
    const experiment::analysis found = experiment::analyse(*results);
    const auto audited = find_audit(wanted.records.front());
    if (!audited) return refuse(audited.error(), cli::exit_status::bad_parameters);
    return show(wanted, {[&](medium kind) { return document_of(*results, found, *audited, kind); },
                         [&] { return sheet_of(*results); }});
}

// A folder that postal-audit alone has written to.
cli::exit_status show_audit(const options& wanted) {
    const auto read = find_audit(wanted.records.front());
    if (!read) return refuse(read.error(), cli::exit_status::bad_parameters);
    return show(wanted, {[&](medium kind) { return document_of(**read, kind); },
                         [&] { return sheet_of(**read); }});
}

}  // namespace

bool is_experiment(const std::string& path) {
    return experiment::is_results_folder(path) || audit::is_audited_folder(path);
}

cli::exit_status show_experiment(const options& wanted) {
    return experiment::is_results_folder(wanted.records.front()) ? show_results(wanted)
                                                                 : show_audit(wanted);
}

}  // namespace postal::report
