// postal-report: run records or a ledger in, something to read out. The records are read first and
// all of them, so that a bad one leaves no half a report behind.
#include "cli/main.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "base/random.hpp"
#include "base/write_file.hpp"
#include "cli/parse.hpp"
#include "postal-report/csv.hpp"
#include "postal-report/html.hpp"
#include "postal-report/ledger.hpp"
#include "postal-report/options.hpp"
#include "postal-report/sections.hpp"

namespace {

using namespace postal;

constexpr const char* name = "postal-report";

cli::exit_status refuse(const base::failure& reason, cli::exit_status status) {
    cli::complain(name, reason.message);
    return status;
}

std::string printed_text(report::output kind, const std::vector<report::record>& records) {
    switch (kind) {
        case report::output::text:
            return report::render_text(records);
        case report::output::markdown:
            return report::render_markdown(records);
        case report::output::csv:
            return report::render_csv(records);
        case report::output::none:
            break;
    }
    return {};
}

cli::exit_status write_page(const report::options& wanted,
                            const std::vector<report::record>& records) {
    const auto library = report::read_chart_library(wanted.chart_library);
    if (!library) return refuse(library.error(), cli::exit_status::bad_parameters);
    const std::string nonce =
        fmt::format("{:016x}{:016x}", base::fresh_entropy(), base::fresh_entropy());
    const auto written =
        base::write_file(wanted.html, report::render_page(records, {*library, nonce}));
    if (!written) return refuse(written.error(), cli::exit_status::system_error);
    return cli::exit_status::done;
}

cli::exit_status show_ledger(const report::options& wanted) {
    const auto kept_word = report::print_ledger(wanted);
    if (!kept_word) {
        return refuse(base::at("--ledger", kept_word.error()), cli::exit_status::bad_parameters);
    }
    return *kept_word ? cli::exit_status::done : cli::exit_status::threshold_not_met;
}

cli::exit_status run(int argc, char** argv) {
    report::options wanted;
    const auto parsed = report::parse_options(wanted, {argv + 1, argv + argc});
    if (!parsed) return refuse(parsed.error(), cli::exit_status::bad_parameters);
    if (*parsed == cli::parse_result::done) return cli::exit_status::done;
    if (!wanted.ledger.empty()) return show_ledger(wanted);
    std::vector<report::record> records;
    for (const std::string& file : wanted.records) {
        auto read = report::read_record(file);
        if (!read) return refuse(read.error(), cli::exit_status::bad_parameters);
        records.push_back(std::move(*read));
    }
    report::label(records);
    const std::string text = printed_text(wanted.printed(), records);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return wanted.html.empty() ? cli::exit_status::done : write_page(wanted, records);
}

}  // namespace

int main(int argc, char** argv) {
    return cli::run_main(name, [&] { return run(argc, argv); });
}
