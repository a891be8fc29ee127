// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a list of discrepancies; the summary stands in ledger.cpp.
#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "postal-report/csv.hpp"
#include "postal-report/ledger.hpp"
#include "report/table.hpp"

namespace postal::report {

namespace {

using ledger::discrepancy_row;

struct list_column {
    const char* name;
    std::string discrepancy_row::*cell;
};

constexpr std::array<list_column, 15> listed_columns{{
    {"run", &discrepancy_row::run},
    {"session", &discrepancy_row::session},
    {"sequence", &discrepancy_row::sequence},
    {"sender", &discrepancy_row::sender},
    {"recipient", &discrepancy_row::recipient},
    {"outcome", &discrepancy_row::outcome},
    {"code", &discrepancy_row::code},
    {"enhanced", &discrepancy_row::enhanced},
    {"ended", &discrepancy_row::ended},
    {"mailbox", &discrepancy_row::mailbox},
    {"seen", &discrepancy_row::seen},
    {"way", &discrepancy_row::way},
    {"condition", &discrepancy_row::condition},
    {"detail", &discrepancy_row::detail},
    {"octets", &discrepancy_row::octets},
}};

constexpr std::size_t longest_cell = 400;
constexpr std::size_t longest_sentence = 4000;

std::string or_dash(const std::string& text) {
    return text.empty() ? "-" : base::printable(text, longest_cell);
}

// "0123456789abcdef/3/17 a@example.com -> b@example.com (5120 octets) accepted 250 2.0.0 at TIME,
// then what was seen.
std::string sentence(const discrepancy_row& row) {
    std::string out =
        row.run.empty() ? "unknown" : fmt::format("{}/{}/{}", row.run, row.session, row.sequence);
    if (!row.outcome.empty()) {
        out += fmt::format(" {} -> {} {}{}", row.sender.empty() ? "<>" : or_dash(row.sender),
                           or_dash(row.recipient),
                           row.octets.empty() ? "" : fmt::format("({} octets) ", row.octets),
                           row.outcome);
        if (!row.code.empty()) out += " " + row.code;
        if (!row.enhanced.empty()) out += " " + or_dash(row.enhanced);
        out += " at " + row.ended;
    }
    if (row.mailbox.empty()) return out;
    out += fmt::format("{} in {} {} over {} at {}", row.outcome.empty() ? "" : ";",
                       or_dash(row.mailbox), row.condition, row.way, row.seen);
    if (!row.detail.empty()) out += ": " + base::printable(row.detail, longest_cell);
    return out;
}

}  // namespace

std::string discrepancy_header(output kind) {
    std::string out;
    std::string rule = "|";
    for (const list_column& each : listed_columns) {
        if (kind == output::markdown) {
            out += std::string(out.empty() ? "|" : "") + " " + each.name + " |";
            rule += " --- |";
        } else if (kind == output::csv) {
            out += std::string(out.empty() ? "" : ",") + each.name;
        }
    }
    if (kind == output::markdown) return out + "\n" + rule + "\n";
    return kind == output::csv ? out + "\n" : out;
}

std::string render_discrepancy(const discrepancy_row& row, output kind) {
    // Numbers and words of a ledger that somebody made may be any text.
    if (kind == output::text) return base::printable(sentence(row), longest_sentence) + "\n";
    std::string out = kind == output::markdown ? "|" : "";
    for (const list_column& each : listed_columns) {
        const std::string& cell = row.*each.cell;
        if (kind == output::markdown) {
            out += " " + escape_markdown(cell) + " |";
        } else {
            if (&each != &listed_columns.front()) out += ',';
            out += csv_cell(cell);
        }
    }
    return out + "\n";
}

}  // namespace postal::report
