// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/shown.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "base/random.hpp"
#include "base/standard_output.hpp"
#include "base/write_file.hpp"
#include "os/terminal_size.hpp"
#include "postal-report/page.hpp"

namespace postal::report {

namespace {

std::string printed_text(output kind, const subject& of) {
    switch (kind) {
        case output::text:
            return render_text(of.made(medium::text), os::terminal_columns(STDOUT_FILENO));
        case output::markdown:
            return render_markdown(of.made(medium::markdown));
        case output::csv:
            return render_csv(of.figures());
        case output::none:
            break;
    }
    return {};
}

cli::exit_status write_page(const options& wanted, const subject& of) {
    const auto library = read_chart_library(wanted.chart_library);
    if (!library) return refuse(library.error(), cli::exit_status::bad_parameters);
    const auto writable = base::check_writable(wanted.html);
    if (!writable)
        return refuse(base::at("--html", writable.error()), cli::exit_status::bad_parameters);
    const std::string nonce =
        fmt::format("{:016x}{:016x}", base::fresh_entropy(), base::fresh_entropy());
    const auto written = base::write_file(
        wanted.html, render_page(of.made(medium::page), {*library, nonce, of.figures()}));
    if (!written) return refuse(written.error(), cli::exit_status::system_error);
    return cli::exit_status::done;
}

}  // namespace

cli::exit_status refuse(const base::failure& reason, cli::exit_status status) {
    return cli::refuse(program_name, reason, status);
}

cli::exit_status show(const options& wanted, const subject& of) {
    base::print(printed_text(wanted.printed(), of));
    return wanted.html.empty() ? cli::exit_status::done : write_page(wanted, of);
}

}  // namespace postal::report
