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

cli::exit_status show_experiment(const options& wanted) {
    return refuse(base::fail("{}: this build has no experiments",
                             base::printable(wanted.records.front(), 300)),
                  cli::exit_status::bad_parameters);
}

}  // namespace postal::report
