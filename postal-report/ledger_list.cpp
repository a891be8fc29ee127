// The lines of a list of findings; the summary stands in ledger.cpp.
#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "postal-report/csv.hpp"
#include "postal-report/ledger.hpp"
#include "postal-report/table.hpp"

namespace postal::report {

namespace {

using ledger::finding_row;

struct list_column {
    const char* name;
    std::string finding_row::*cell;
};

constexpr std::array<list_column, 14> columns{{
    {"run", &finding_row::run},
    {"session", &finding_row::session},
    {"sequence", &finding_row::sequence},
    {"sender", &finding_row::sender},
    {"recipient", &finding_row::recipient},
    {"outcome", &finding_row::outcome},
    {"code", &finding_row::code},
    {"enhanced", &finding_row::enhanced},
    {"ended", &finding_row::ended},
    {"mailbox", &finding_row::mailbox},
    {"seen", &finding_row::seen},
    {"way", &finding_row::way},
    {"condition", &finding_row::condition},
    {"detail", &finding_row::detail},
}};

constexpr std::size_t longest_cell = 400;

std::string or_dash(const std::string& text) {
    return text.empty() ? "-" : base::printable(text, longest_cell);
}

// "0123456789abcdef/3/17 a@example.com -> b@example.com accepted 250 2.0.0 at TIME, then what was
// seen.
std::string sentence(const finding_row& row) {
    std::string out =
        row.run.empty() ? "unknown" : fmt::format("{}/{}/{}", row.run, row.session, row.sequence);
    if (!row.outcome.empty()) {
        out += fmt::format(" {} -> {} {}", row.sender.empty() ? "<>" : or_dash(row.sender),
                           or_dash(row.recipient), row.outcome);
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

std::string finding_header(output kind) {
    std::string out;
    std::string rule = "|";
    for (const list_column& each : columns) {
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

std::string render_finding(const finding_row& row, output kind) {
    if (kind == output::text) return sentence(row) + "\n";
    std::string out = kind == output::markdown ? "|" : "";
    for (const list_column& each : columns) {
        const std::string& cell = row.*each.cell;
        if (kind == output::markdown) {
            out += " " + escape_markdown(cell) + " |";
        } else {
            if (&each != &columns.front()) out += ',';
            out += csv_cell(cell);
        }
    }
    return out + "\n";
}

}  // namespace postal::report
