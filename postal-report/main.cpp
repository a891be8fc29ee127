// postal-report: run records, an experiment's folder or a ledger in, something to read out. The
// records are read first and all of them, so that a bad one leaves no half a report behind.
#include "cli/main.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <utility>

#include "base/random.hpp"
#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "base/write_file.hpp"
#include "cli/parse.hpp"
#include "experiment/findings.hpp"
#include "postal-report/csv.hpp"
#include "postal-report/experiment.hpp"
#include "postal-report/html.hpp"
#include "postal-report/ledger.hpp"
#include "postal-report/options.hpp"
#include "postal-report/ranks.hpp"
#include "postal-report/relay.hpp"
#include "postal-report/sections.hpp"

namespace {

using namespace postal;

constexpr const char* name = "postal-report";

// What is shown, in every form.
struct forms {
    std::function<std::string()> text;
    std::function<std::string()> markdown;
    std::function<std::string()> csv;
    std::function<std::string(const report::page_parts&)> page;
};

std::string printed_text(report::output kind, const forms& of) {
    switch (kind) {
        case report::output::text:
            return of.text();
        case report::output::markdown:
            return of.markdown();
        case report::output::csv:
            return of.csv();
        case report::output::none:
            break;
    }
    return {};
}

cli::exit_status write_page(const report::options& wanted, const forms& of) {
    const auto library = report::read_chart_library(wanted.chart_library);
    if (!library) return cli::refuse(name, library.error(), cli::exit_status::bad_parameters);
    const std::string nonce =
        fmt::format("{:016x}{:016x}", base::fresh_entropy(), base::fresh_entropy());
    const auto written = base::write_file(wanted.html, of.page({*library, nonce}));
    if (!written) return cli::refuse(name, written.error(), cli::exit_status::system_error);
    return cli::exit_status::done;
}

cli::exit_status show(const report::options& wanted, const forms& of) {
    const std::string text = printed_text(wanted.printed(), of);
    base::print(text);
    return wanted.html.empty() ? cli::exit_status::done : write_page(wanted, of);
}

cli::exit_status show_experiment(const report::options& wanted) {
    const auto results = experiment::read_results(wanted.records.front());
    if (!results) return cli::refuse(name, results.error(), cli::exit_status::bad_parameters);
    const experiment::analysis found = experiment::analyse(*results);
    const auto audited = report::find_audit(wanted.records.front());
    if (!audited) return cli::refuse(name, audited.error(), cli::exit_status::bad_parameters);
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
                         [&] { return report::render_csv(*results); },
                         [&](const report::page_parts& parts) {
                             return report::render_page(*results, found, *audited, parts);
                         }});
}

// A folder that postal-audit alone has written to.
cli::exit_status show_audit(const report::options& wanted) {
    const auto read = report::find_audit(wanted.records.front());
    if (!read) return cli::refuse(name, read.error(), cli::exit_status::bad_parameters);
    const report::shown_audit& of = **read;
    return show(wanted,
                {[&] { return experiment::render_text(of.record, of.found); },
                 [&] { return experiment::render_markdown(of.record, of.found); },
                 [&] { return report::render_csv(of); },
                 [&](const report::page_parts& parts) { return report::render_page(of, parts); }});
}

cli::exit_status show_ledger(const report::options& wanted) {
    const auto kept_word = report::print_ledger(wanted);
    if (!kept_word) {
        return cli::refuse(name, base::at("--ledger", kept_word.error()),
                           cli::exit_status::bad_parameters);
    }
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
    if (!read) return cli::refuse(name, read.error(), cli::exit_status::bad_parameters);
    const cli::exit_status shown = show(
        wanted,
        {[&] { return report::render_text(*read); }, [&] { return report::render_markdown(*read); },
         [&] { return report::render_csv(*read); },
         [&](const report::page_parts& parts) { return report::render_page(*read, parts); }});
    if (shown != cli::exit_status::done || read->here.kept_word) return shown;
    return cli::exit_status::threshold_not_met;
}

cli::exit_status run(int argc, char** argv) {
    report::options wanted;
    const auto parsed = report::parse_options(wanted, {argv + 1, argv + argc});
    if (!parsed) return cli::refuse(name, parsed.error(), cli::exit_status::bad_parameters);
    if (*parsed == cli::parse_result::done) return cli::exit_status::done;
    if (wanted.relay) return show_relay(wanted);
    if (!wanted.ledger.empty()) return show_ledger(wanted);
    const auto is_folder = [](const std::string& path) {
        return experiment::is_results_folder(path) || experiment::is_audited_folder(path);
    };
    const auto folder = std::find_if(wanted.records.begin(), wanted.records.end(), is_folder);
    if (folder != wanted.records.end() && wanted.records.size() > 1)
        return cli::refuse(name,
                           base::fail("{}: an experiment is shown by itself; leave the others out",
                                      base::printable(*folder, 300)),
                           cli::exit_status::bad_parameters);
    if (folder != wanted.records.end() && wanted.ranks)
        return cli::refuse(name,
                           base::fail("--ranks: is for run records, and {} is an experiment",
                                      base::printable(*folder, 300)),
                           cli::exit_status::bad_parameters);
    if (folder != wanted.records.end())
        return experiment::is_results_folder(*folder) ? show_experiment(wanted)
                                                      : show_audit(wanted);
    std::vector<report::record> records;
    for (const std::string& file : wanted.records) {
        auto read = report::read_record(file);
        if (!read) return cli::refuse(name, read.error(), cli::exit_status::bad_parameters);
        records.push_back(std::move(*read));
    }
    report::label(records);
    return show(
        wanted,
        {[&] { return report::render_text(records); },
         [&] { return report::render_markdown(records); },
         [&] {
             return wanted.ranks ? report::render_ranks_csv(records) : report::render_csv(records);
         },
         [&](const report::page_parts& parts) { return report::render_page(records, parts); }});
}

}  // namespace

int main(int argc, char** argv) {
    return cli::run_main(name, [&] { return run(argc, argv); });
}
