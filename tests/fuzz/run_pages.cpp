// SPDX-License-Identifier: GPL-3.0-or-later
// stats/record_reader.hpp and all that postal-report prints of a run: a record may be anything;
// what is read and written is read again as the same, and every printer makes it harmless.
#include "postal-report/ranks.hpp"
#include "postal-report/run.hpp"
#include "stats/record_writer.hpp"

#include "printed.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    auto parsed = stats::parse_record(fuzz::text_of(data, size));
    if (!parsed) {
        fuzz::require(!parsed.error().message.empty());
        return 0;
    }
    // What says nothing beside the rest, such as percentiles of no message, is gone when it is read
    // again.
    const auto settled = stats::parse_record(stats::record_text(*parsed));
    fuzz::require(settled.has_value());
    const std::string text = stats::record_text(*settled);
    const auto again = stats::parse_record(text);
    fuzz::require(again && stats::record_text(*again) == text);

    std::vector<report::record> records(1, report::record{std::move(*parsed), {}, "fuzz.json"});
    for (int several = 0; several < 2; ++several) {
        report::label(records);
        fuzz::require_printable(
            [&](report::medium kind) { return report::document_of(records, kind); },
            report::sheet_of(records));
        fuzz::require_sheet(report::sheet_of_ranks(records));
        records.push_back(records.front());
    }
    return 0;
}
