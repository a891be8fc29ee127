#include "base/text.hpp"
#include "postal-report/sections.hpp"
#include "report/table.hpp"

namespace postal::report {

namespace {

constexpr std::size_t longest_line = 400;
constexpr std::size_t most_interval_rows = 100;

std::string whose(const record& one, const std::vector<record>& records) {
    return records.size() > 1 ? one.label + ": " : std::string{};
}

}  // namespace

std::string render_text(const std::vector<record>& records) {
    std::string out;
    for (const record& one : records) {
        out += base::printable(whose(one, records) + describe(one), longest_line) + "\n";
    }
    for (const std::string& each : differences(records))
        out += base::printable(each, longest_line) + "\n";
    for (const remark& each : all_remarks(records)) {
        out += "! " + base::printable(each.text, longest_line) + ".\n";
    }
    for (const table& each : sections(records))
        out += "\n" + render_text(each);
    for (const table& each : details(records, most_interval_rows))
        out += "\n" + render_text(each);
    return out;
}

std::string render_markdown(const std::vector<record>& records) {
    std::string out = records.size() > 1 ? "# Runs compared\n\n" : "# Run\n\n";
    for (const record& one : records) {
        out += (records.size() > 1 ? "- " : "") +
               escape_markdown(whose(one, records) + describe(one)) + "\n";
    }
    for (const std::string& each : differences(records))
        out += "- " + escape_markdown(each) + "\n";
    for (const remark& each : all_remarks(records)) {
        out += "\n> **" + escape_markdown(each.text) + ".**\n";
    }
    for (const table& each : sections(records))
        out += "\n" + render_markdown(each);
    for (const table& each : details(records, most_interval_rows))
        out += "\n" + render_markdown(each);
    return out;
}

}  // namespace postal::report
