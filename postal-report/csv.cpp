#include "postal-report/csv.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"

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

}  // namespace postal::report
