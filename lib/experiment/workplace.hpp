// SPDX-License-Identifier: GPL-3.0-or-later
// What a program of experiments works with: the folder of its results, the journal in it, whoever
// starts other programs, and the console. postal-compare and postal-audit open and leave it alike.
//
// Flow: workplace at(name, options); at.open() once the folder is there; at.clear_up() before
// anything that an earlier program left could be taken for somebody else's; the work;
// tables_hint(), tell_leftovers(). What cannot begin is a refusal.
#pragma once

#include "base/result.hpp"
#include "cli/main.hpp"
#include "experiment/command_line.hpp"
#include "experiment/journal.hpp"
#include "experiment/live_console.hpp"
#include "experiment/supervisor.hpp"
#include "experiment/undo.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace postal::experiment {

// Why it does not begin, with the exit status.
struct refusal {
    base::failure why;
    cli::exit_status status = cli::exit_status::bad_parameters;
};

class workplace {
  public:
    // `program` outlives it.
    workplace(std::string_view program, const shared_options& given);

    [[nodiscard]] std::optional<refusal> open();
    // What an earlier program left behind is undone.
    [[nodiscard]] std::optional<refusal> clear_up();

    // Absolute, without a slash at its end.
    [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
    // The folder, or a part of it, cannot be made.
    [[nodiscard]] refusal no_folder(std::error_code why, std::string_view part = {}) const;

    // Once it is open.
    [[nodiscard]] journal& book() noexcept { return *journal_; }
    [[nodiscard]] supervisor& by() noexcept { return *supervisor_; }

    [[nodiscard]] live_console& console() noexcept { return console_; }
    void say(const std::string& line) { console_.say(line); }

    // "All tables: ...", for people.
    [[nodiscard]] std::string tables_hint() const;
    // A line for each thing that must be removed by hand; whether there was any.
    [[nodiscard]] bool tell_leftovers(const std::vector<leftover>& left);

  private:
    std::string shown_folder_;
    std::string folder_;
    live_console console_;
    std::optional<journal> journal_;
    std::unique_ptr<supervisor> supervisor_;
};

}  // namespace postal::experiment
