#include "postal-report/shown.hpp"

#include <fmt/format.h>

#include "base/random.hpp"
#include "base/standard_output.hpp"
#include "base/write_file.hpp"

namespace postal::report {

namespace {

std::string printed_text(output kind, const forms& of) {
    switch (kind) {
        case output::text:
            return of.text();
        case output::markdown:
            return of.markdown();
        case output::csv:
            return of.csv();
        case output::none:
            break;
    }
    return {};
}

cli::exit_status write_page(const options& wanted, const forms& of) {
    const auto library = read_chart_library(wanted.chart_library);
    if (!library) return refuse(library.error(), cli::exit_status::bad_parameters);
    const std::string nonce =
        fmt::format("{:016x}{:016x}", base::fresh_entropy(), base::fresh_entropy());
    const auto written = base::write_file(wanted.html, of.page({*library, nonce}));
    if (!written) return refuse(written.error(), cli::exit_status::system_error);
    return cli::exit_status::done;
}

}  // namespace

cli::exit_status refuse(const base::failure& reason, cli::exit_status status) {
    return cli::refuse(program_name, reason, status);
}

cli::exit_status show(const options& wanted, const forms& of) {
    const std::string text = printed_text(wanted.printed(), of);
    base::print(text);
    return wanted.html.empty() ? cli::exit_status::done : write_page(wanted, of);
}

}  // namespace postal::report
