// SPDX-License-Identifier: GPL-3.0-or-later
// mail/delivery_report.hpp: what is read keeps its bounds, and says so with any line ends.
#include "mail/delivery_report.hpp"

#include <cstdlib>
#include <string_view>

#include "base/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const auto report = mail::read_delivery_report(input);
    if (!report) return 0;
    if (!mail::may_be_delivery_report(input)) std::abort();
    if (report->recipients.empty() || report->of.run == 0) std::abort();
    if (report->recipients.size() > mail::delivery_report::most_recipients) std::abort();
    for (const mail::reported_recipient& one : report->recipients) {
        if (one.address.empty() || !base::is_valid_utf8(one.address)) std::abort();
        if (one.status.size() > 9) std::abort();
        if (one.diagnostic != base::printable(one.diagnostic, 1000)) std::abort();
    }
    return 0;
}
