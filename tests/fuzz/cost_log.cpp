// SPDX-License-Identifier: GPL-3.0-or-later
// experiment/costs.hpp: a file of costs may be anything; what is read is written the same again.
#include "experiment/costs.hpp"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal::experiment;
    using namespace std::chrono_literals;
    const auto log = from_json({reinterpret_cast<const char*>(data), size});
    if (!log) return 0;
    static_cast<void>(log->between(500ms, 1500ms));
    const std::string text = to_json(*log);
    const auto again = from_json(text);
    // Moments that differ by less than the file's decimals are one there.
    if (again && to_json(*again) != text) std::abort();
    return 0;
}
