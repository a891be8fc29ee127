// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-compare/junit.hpp"

#include "experiment/findings.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::compare {
namespace {

using report::escape_html;  // XML knows these entities, too
using stats::gate_verdict;

struct outcome {
    const char* element;  // nullptr: passed
    std::string message;
};

outcome outcome_of(const experiment::gate_finding& one, const experiment::results& of,
                   const experiment::analysis& found) {
    if (of.record.ended.empty()) return {"error", "the experiment has not ended"};
    if (!is_whole(of.record))
        return {"error", "the experiment did not come to its end: " + of.record.end};
    const std::string said = gate_sentence(one, of.record, found);
    switch (one.result.verdict) {
        case gate_verdict::kept:
            return {nullptr, said};
        case gate_verdict::missed:
            return {"failure", said};
        case gate_verdict::open:
            return {"skipped", said};
        case gate_verdict::none:
            break;
    }
    return {"error", said};
}

}  // namespace

std::string junit_text(const experiment::results& of, const experiment::analysis& found) {
    const experiment::experiment_record& record = of.record;
    const std::string title = escape_html(record.title.empty() ? record.file : record.title);
    std::string cases;
    std::size_t failures = 0;
    std::size_t errors = 0;
    std::size_t skipped = 0;
    for (const experiment::gate_finding& one : found.gates) {
        const outcome made = outcome_of(one, of, found);
        const std::string_view element = made.element != nullptr ? made.element : "";
        failures += element == "failure" ? 1 : 0;
        errors += element == "error" ? 1 : 0;
        skipped += element == "skipped" ? 1 : 0;
        const std::string message = escape_html(made.message);
        cases += fmt::format(
            "    <testcase classname=\"{}\" name=\"{}\">\n", title,
            escape_html(fmt::format("{} of {}", one.text, record.variants[one.variant].name)));
        cases += element.empty() ? fmt::format("      <system-out>{}</system-out>\n", message)
                                 : fmt::format("      <{} message=\"{}\"/>\n", element, message);
        cases += "    </testcase>\n";
    }
    double seconds = 0;
    for (const experiment::recorded_run& one : record.runs)
        seconds += one.seconds;
    const std::string figures =
        fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                    found.gates.size(), failures, errors, skipped, seconds);
    // Without the time zone, as JUnit's schema has it; it is UTC.
    const std::string started =
        record.started.substr(0, std::min<std::size_t>(19, record.started.size()));
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n"
        "  <testsuite name=\"{1}\" {0} timestamp=\"{2}\" hostname=\"{3}\">\n{4}  </testsuite>\n"
        "</testsuites>\n",
        figures, title, escape_html(started), escape_html(record.host.name), cases);
}

}  // namespace postal::compare
