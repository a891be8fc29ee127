// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/csv.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "postal-report/chart_data.hpp"

namespace postal::report {

std::string csv_decimal(std::optional<double> value, int places) {
    if (!value || !std::isfinite(*value)) return {};
    if (*value == std::floor(*value) && std::abs(*value) < 1e15)
        return fmt::format("{:.0f}", *value);
    return fmt::format("{:.{}f}", *value, places);
}

std::string csv_cell(const std::string& text) {
    std::string harmless = base::printable(text, 2000);
    if (!harmless.empty() && std::string_view{"=+-@"}.find(harmless.front()) != std::string::npos) {
        harmless.insert(0, 1, '\'');
    }
    if (harmless.find_first_of(",\" ") == harmless.npos) return harmless;
    std::string out = "\"";
    for (const char c : harmless) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

std::string render_csv(const sheet& of) {
    std::string out = base::join(of.columns, ",") + "\n";
    for (const std::vector<std::string>& row : of.rows)
        out += base::join(row, ",") + "\n";
    return out;
}

namespace {

// A cell of csv_cell() as the text that it holds.
std::string unquoted(const std::string& cell) {
    if (!cell.starts_with('"')) return cell;
    std::string out;
    for (std::size_t at = 1; at + 1 < cell.size(); ++at) {
        if (cell[at] == '"') ++at;  // the first of two
        out += cell[at];
    }
    return out;
}

// As JSON writes it (RFC 8259 6), without an exponent: "-0.5", and not "007".
bool is_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    const auto digits = [&text] {
        std::size_t count = 0;
        while (count < text.size() && base::is_digit(text[count]))
            ++count;
        text.remove_prefix(count);
        return count;
    };
    const bool zero = text.starts_with('0');
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (text.empty()) return true;
    if (!text.starts_with('.')) return false;
    text.remove_prefix(1);
    return digits() > 0 && text.empty();
}

std::string json_value(const std::string& cell) {
    if (cell.empty()) return "null";
    return is_number(cell) ? cell : script_string(unquoted(cell));
}

}  // namespace

std::string render_json(const sheet& of) {
    std::vector<std::string> rows;
    for (const std::vector<std::string>& row : of.rows) {
        json_members members;
        for (std::size_t at = 0; at < row.size() && at < of.columns.size(); ++at)
            members.emplace_back(unquoted(of.columns[at]), json_value(row[at]));
        rows.push_back(object_of(members));
    }
    return "[" + base::join(rows, ",\n") + "]\n";
}

}  // namespace postal::report
