// SPDX-License-Identifier: GPL-3.0-or-later
// Folders of experiments in a build without them.
#include <filesystem>
#include <system_error>

#include "base/text.hpp"
#include "postal-report/folder.hpp"
#include "postal-report/shown.hpp"

namespace postal::report {

bool is_experiment(const std::string& path) {
    std::error_code ignored;
    const std::filesystem::path folder = path;
    return std::filesystem::exists(folder / "experiment.json", ignored) ||
           std::filesystem::exists(folder / "audit.json", ignored);
}

namespace {

base::failure no_experiments(const std::string& what) {
    return base::fail("{}: this build has no experiments", base::printable(what, 300));
}

}  // namespace

base::expected<packed_files> pack_experiment(const std::string& path) {
    return no_experiments(path);
}

base::expected<recomputed> results_printed(const bundle::files&) {
    recomputed to;
    to.not_here.push_back(no_experiments("results").message);
    return to;
}

base::expected<recomputed> verify_experiment(const std::string& path) {
    return no_experiments(path);
}

cli::exit_status show_experiment(const options& wanted) {
    return refuse(no_experiments(wanted.records.front()), cli::exit_status::bad_parameters);
}

}  // namespace postal::report
