// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/workplace.hpp"

#include "base/text.hpp"

#include <filesystem>
#include <utility>

namespace postal::experiment {

using cli::exit_status;

workplace::workplace(std::string_view program, const shared_options& given)
    : shown_folder_(base::printable(results_folder(given), 300)),
      folder_(std::filesystem::absolute(results_folder(given)).lexically_normal().string()),
      console_(program, given.progress) {
    if (folder_.ends_with('/')) folder_.pop_back();
}

std::optional<refusal> workplace::open() {
    auto opened = journal::open(folder_);
    if (!opened) return refusal{opened.error(), exit_status::system_error};
    journal_.emplace(std::move(*opened));
    auto made = supervisor::create();
    if (!made) return refusal{made.error(), exit_status::system_error};
    supervisor_ = std::move(*made);
    supervisor_->on_interruption([this](const std::string& line) { say(line); });
    return std::nullopt;
}

std::optional<refusal> workplace::clear_up() {
    if (undo_leftovers(*journal_, *supervisor_, [this](const std::string& line) { say(line); }))
        return std::nullopt;
    return refusal{base::fail("something is left behind that must be removed by hand"),
                   exit_status::system_error};
}

refusal workplace::no_folder(std::error_code why, std::string_view part) const {
    return {base::fail("{}{}: {}", base::printable(folder_, 300), part, why.message()),
            exit_status::system_error};
}

std::string workplace::tables_hint() const {
    return fmt::format("\nAll tables: postal-report {0}; a page: postal-report --html FILE {0}\n",
                       shown_folder_);
}

bool workplace::tell_leftovers(const std::vector<leftover>& left) {
    for (const leftover& one : left)
        say(line_of(one));
    return !left.empty();
}

}  // namespace postal::experiment
