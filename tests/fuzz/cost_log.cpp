// SPDX-License-Identifier: GPL-3.0-or-later
// experiment/costs.hpp and announced.hpp: a file of costs, or an account of what was announced, may
// be anything; what is read is written the same again.
#include "experiment/announced.hpp"
#include "experiment/costs.hpp"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal::experiment;
    using namespace std::chrono_literals;
    const std::string_view given{reinterpret_cast<const char*>(data), size};
    if (const auto account = announced_from_json(given)) {
        const auto within = account->within_us(0.99);
        if (within.has_value() != (account->accepted > 0) || (within && !(*within >= 0)))
            std::abort();
        if (!announced_from_json(to_json(*account))) std::abort();
    }
    const auto log = from_json(given);
    if (!log) return 0;
    static_cast<void>(log->between(500ms, 1500ms));
    const std::string text = to_json(*log);
    const auto again = from_json(text);
    // Moments that differ by less than the file's decimals are one there.
    if (again && to_json(*again) != text) std::abort();
    return 0;
}
