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
    const auto behind = [&](std::string text, auto render) {
        return *audited ? text + "\n" + render((*audited)->record, (*audited)->found) : text;
    };
    return show(wanted, {[&] {
                             return behind(experiment::render_text(*results, found),
                                           [](const auto& of, const auto& analysis) {
                                               return experiment::render_text(of, analysis);
                                           });
                         },
                         [&] {
                             return behind(experiment::render_markdown(*results, found),
                                           [](const auto& of, const auto& analysis) {
                                               return experiment::render_markdown(of, analysis, 2);
                                           });
                         },
                         [&] { return render_csv(*results); },
                         [&](const page_parts& parts) {
                             return render_page(*results, found, *audited, parts);
                         }});
}

// A folder that postal-audit alone has written to.
cli::exit_status show_audit(const options& wanted) {
    const auto read = find_audit(wanted.records.front());
    if (!read) return refuse(read.error(), cli::exit_status::bad_parameters);
    const shown_audit& of = **read;
    return show(wanted, {[&] { return experiment::render_text(of.record, of.found); },
                         [&] { return experiment::render_markdown(of.record, of.found); },
                         [&] { return render_csv(of); },
                         [&](const page_parts& parts) { return render_page(of, parts); }});
}

}  // namespace

bool is_experiment(const std::string& path) {
    return experiment::is_results_folder(path) || experiment::is_audited_folder(path);
}

cli::exit_status show_experiment(const options& wanted) {
    return experiment::is_results_folder(wanted.records.front()) ? show_results(wanted)
                                                                 : show_audit(wanted);
}

}  // namespace postal::report
