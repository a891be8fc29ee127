// SPDX-License-Identifier: GPL-3.0-or-later
// base/units.hpp and stats/threshold.hpp: what people write on a command line.
#include <cstdlib>
#include <string_view>

#include "base/units.hpp"
#include "stats/histogram.hpp"
#include "stats/threshold.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto duration = base::parse_duration(text);
    if (duration) {
        const auto again = base::parse_duration(base::format_duration(*duration));
        if (!again || *again != *duration) std::abort();
    }
    const auto rate = base::parse_rate(text, base::rate_unit::per_minute);
    if (rate && !(rate->per_second >= 0)) std::abort();
    static_cast<void>(base::parse_size(text, 1024));
    static_cast<void>(stats::threshold::parse(text, {"connect", "message"}));
    const auto histogram = stats::histogram::decode(text);
    if (histogram && !stats::histogram::decode(histogram->encode())) std::abort();
    return 0;
}
