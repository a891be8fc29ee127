// SPDX-License-Identifier: GPL-3.0-or-later
// Everything in an entry is printable already (error_table does that), so nothing from a server can
// move the cursor or forge a line.
#include "stats/diagnostics.hpp"

#include "base/units.hpp"

namespace postal::stats {

std::string describe_error(const error_entry& entry) {
    std::string text = entry.stage;
    if (entry.code != 0) text += fmt::format(" {}", entry.code);
    if (!entry.detail.empty() && entry.detail != entry.stage) text += " " + entry.detail;
    if (!entry.sample.empty()) text += ": " + entry.sample;
    return text;
}

std::vector<std::string> interval_diagnostics(const std::vector<error_entry>& kinds,
                                              std::size_t max_lines) {
    std::vector<std::string> lines;
    if (max_lines == 0) return lines;
    // The last line is for the rest, unless the rest is a single kind.
    const std::size_t shown = kinds.size() <= max_lines ? kinds.size() : max_lines - 1;
    std::uint64_t rest = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (i >= shown)
            rest += kinds[i].count;
        else
            lines.push_back(fmt::format("{} x {}", base::format_count(kinds[i].count),
                                        describe_error(kinds[i])));
    }
    if (shown < kinds.size()) {
        lines.push_back(fmt::format("{} x errors of {} other kinds", base::format_count(rest),
                                    kinds.size() - shown));
    }
    return lines;
}

}  // namespace postal::stats
