// SPDX-License-Identifier: GPL-3.0-or-later
// audit/record.hpp and all that is printed of an audit: a record may be anything; what is read and
// written is read again as the same, and every printer makes it harmless.
#include "audit/findings.hpp"
#include "postal-report/audit.hpp"

#include "printed.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    auto read = audit::parse_audit_record(fuzz::text_of(data, size));
    if (!read) {
        fuzz::require(!read.error().message.empty());
        return 0;
    }
    const std::string text = audit::audit_text(*read);
    const auto again = audit::parse_audit_record(text);
    fuzz::require(again && audit::audit_text(*again) == text);

    auto found = audit::analyse(*read);
    const report::shown_audit shown{std::move(*read), std::move(found)};
    fuzz::require_printable([&](report::medium kind) { return report::document_of(shown, kind); },
                            report::sheet_of(shown));
    return 0;
}
